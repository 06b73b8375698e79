"""The fields of a form with what stands in them and what is wrong with them, as the template draws them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from common.errors import AssetExpired, TaskNotFound
from console.create import own_results
from console.create.fields import ModelForm
from console.create.widgets import OTHER, Slot, Widget
from tasks.models import Asset
from tasks.shown import exhibits
from tasks.shown.exhibits import Exhibit

Texts = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One tile, or one entry of a list; `value` is what the browser posts."""

    value: str
    label: str
    shape: tuple[int, int] | None
    is_chosen: bool

    @property
    def half(self) -> tuple[float, float] | None:
        """Half of the shape, by which its middle is moved to the middle of the drawing."""
        return (self.shape[0] / 2, self.shape[1] / 2) if self.shape else None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnInput:
    """A result of the key's own that is in a slot; without `picture` a page can show only its name."""

    place: str
    picture: Exhibit | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnSlot:
    slot: Slot
    urls: str
    own: tuple[OwnInput, ...]
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnField:
    """`other` is the text beside the tiles of a free field."""

    widget: Widget
    text: str
    other: str
    options: tuple[Option, ...]
    slots: tuple[DrawnSlot, ...]
    problem: str

    @property
    def first_slots(self) -> tuple[DrawnSlot, ...]:
        """Those that stand open: the frames of a film, else the only one."""
        frames = tuple(slot for slot in self.slots if slot.slot.most == 1)
        return frames or self.slots

    @property
    def other_slots(self) -> tuple[DrawnSlot, ...]:
        return tuple(slot for slot in self.slots if slot not in self.first_slots)

    @property
    def is_other_used(self) -> bool:
        return any(slot.urls or slot.own or slot.problem for slot in self.other_slots)

    @property
    def is_troubled(self) -> bool:
        return bool(self.problem or any(slot.problem for slot in self.slots))


def fields(form: ModelForm, texts: Texts, key_id: int, problems: Mapping[str, str]) -> list[DrawnField]:
    """All of them, in order; `problems` are by the name of a field or of a slot."""
    return [_field(widget, texts, key_id, problems) for widget in form.widgets]


def _field(widget: Widget, texts: Texts, key_id: int, problems: Mapping[str, str]) -> DrawnField:
    text = first(texts, widget.path)
    return DrawnField(
        widget=widget,
        text=text,
        other=first(texts, f"{widget.path}.{OTHER}"),
        options=tuple(_options(widget, text)),
        slots=tuple(_slot(slot, texts, key_id, problems) for slot in widget.slots),
        problem=problems.get(widget.path, ""),
    )


def first(texts: Texts, name: str) -> str:
    return next(iter(texts.get(name, ())), "")


def _options(widget: Widget, text: str) -> Iterator[Option]:
    if widget.choices and widget.has_blank:
        yield Option(value="", label="As the model likes", shape=None, is_chosen=text == "")
    for index, choice in enumerate(widget.choices):
        yield Option(value=str(index), label=choice.label, shape=choice.shape, is_chosen=text == str(index))
    if widget.is_free:
        yield Option(value=OTHER, label="Other", shape=None, is_chosen=text == OTHER)


def _slot(slot: Slot, texts: Texts, key_id: int, problems: Mapping[str, str]) -> DrawnSlot:
    return DrawnSlot(
        slot=slot,
        urls=first(texts, f"{slot.name}.url"),
        own=tuple(_own(texts.get(f"{slot.name}.own", ())[: slot.most], key_id)),
        problem=problems.get(slot.name, ""),
    )


def _own(places: Sequence[str], key_id: int) -> Iterator[OwnInput]:
    """Those that are there, and the key's."""
    for place in places:
        try:
            yield OwnInput(place=place, picture=_picture(own_results.find(key_id, place)))
        except (TaskNotFound, AssetExpired):
            continue


def _picture(asset: Asset) -> Exhibit | None:
    (shown,) = exhibits.exhibits([asset])
    return shown if shown.shown_as == "picture" else None
