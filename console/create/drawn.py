"""Form fields with their values and problems, for the template."""

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
    """Tile or list entry; `value` is what the browser posts."""

    value: str
    label: str
    shape: tuple[int, int] | None
    is_chosen: bool

    @property
    def half(self) -> tuple[float, float] | None:
        """Compute half the shape, which centres it in the drawing."""
        return (self.shape[0] / 2, self.shape[1] / 2) if self.shape else None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnInput:
    """Own result of the key in a slot; without `picture`, only its name is shown."""

    place: str
    picture: Exhibit | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnSlot:
    """Slot with its URLs, own results and problem."""

    slot: Slot
    urls: str
    own: tuple[OwnInput, ...]
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnField:
    """Field with its value and problem; `other` is the text beside the tiles of a free field."""

    widget: Widget
    text: str
    other: str
    options: tuple[Option, ...]
    slots: tuple[DrawnSlot, ...]
    problem: str

    @property
    def first_slots(self) -> tuple[DrawnSlot, ...]:
        """List the visible slots: the frames of a video, else all."""
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
    """Build all fields in order; `problems` are by name of field or slot."""
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
        yield Option(value="", label="Model default", shape=None, is_chosen=text == "")
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
    """Yield the results that exist and belong to the key."""
    for place in places:
        try:
            yield OwnInput(place=place, picture=_picture(own_results.find(key_id, place)))
        except (TaskNotFound, AssetExpired):
            continue


def _picture(asset: Asset) -> Exhibit | None:
    (shown,) = exhibits.exhibits([asset])
    return shown if shown.shown_as == "picture" else None
