"""Prefilled forms: an own result as an input, or the request of an earlier task."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from common import ids
from common.documents import elements, shown
from common.errors import AssetExpired, TaskNotFound
from console.create import own_results
from console.create.fields import ModelForm
from console.create.widgets import OTHER, Slot, Widget
from pages import words
from tasks.assets import signed_urls
from tasks.models import Task, TaskPayload
from tasks.origins import LISTED
from tasks.request import references


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefill:
    """Initial values of a form, as a browser posts them; `notes` say what could not be copied."""

    texts: Mapping[str, Sequence[str]]
    notes: tuple[str, ...] = field(default=())


def with_input(form: ModelForm, key_id: int, place: str) -> Prefill:
    """Prefill the first slot that accepts this result. Raises like `own_results.find`."""
    medium = own_results.find(key_id, place).content_type.partition("/")[0]
    slots = [slot for widget in form.widgets for slot in widget.slots if slot.medium == medium]
    if not slots:
        return Prefill(texts=form.first, notes=(f"{form.model} does not accept this kind of file as an input.",))
    return Prefill(texts={**form.first, f"{slots[0].name}.own": [place]})


def again(form: ModelForm, key_id: int, task_id: str) -> Prefill:
    """Prefill the request of an earlier task of this key. Raises TaskNotFound."""
    task = (
        Task.objects.filter(pk=task_id, key_id=key_id, origin__in=LISTED).first() if ids.is_task_id(task_id) else None
    )
    if task is None:
        raise TaskNotFound()
    stored = TaskPayload.objects.filter(task_id=task_id).values_list("params", flat=True).first()
    if stored is None:
        return Prefill(texts=form.first, notes=("The request of that task has been deleted.",))
    values = shown(stored)
    texts: dict[str, list[str]] = {}
    lost = 0
    for widget in form.widgets:
        value = _stored(widget, values, task)
        if widget.kind == "media":
            lost += _fill_slots(widget, elements(value), key_id, texts)
        elif value not in (None, "", {}):
            texts |= _texts(widget, value)
    note = f"{words.counted(lost, 'input')} of that task no longer available: choose your files again."
    return Prefill(texts=_with_first(form, texts), notes=(note,) if lost else ())


def _with_first(form: ModelForm, texts: Mapping[str, list[str]]) -> Mapping[str, list[str]]:
    """Add the initial values of choices that the task left to the model."""
    return {**{path: given for path, given in form.first.items() if path not in texts}, **texts}


def _stored(widget: Widget, values: Mapping[str, Any], task: Task) -> Any:
    known = {"callback_url": task.callback_url, "metadata": task.metadata}
    return known[widget.path] if widget.path in known else values.get(widget.path.removeprefix("params."))


def _texts(widget: Widget, value: Any) -> dict[str, list[str]]:
    if widget.choices:
        for index, choice in enumerate(widget.choices):
            if type(choice.value) is type(value) and choice.value == value:
                return {widget.path: [str(index)]}
        return {widget.path: [OTHER], f"{widget.path}.{OTHER}": [str(value)]} if widget.is_free else {}
    if widget.kind == "json":
        return {widget.path: [json.dumps(value, indent=2, ensure_ascii=False)]}
    return {widget.path: ["\n".join(map(str, value)) if isinstance(value, list) else str(value)]}


def _fill_slots(widget: Widget, listed: list[Any], key_id: int, texts: dict[str, list[str]]) -> int:
    """Fill slots with own results and URLs; return the number of unavailable elements."""
    lost = 0
    for element in map(shown, listed):
        slot = next((each for each in widget.slots if _is_for(each, element)), None)
        url = element.get("image_url") or element.get("url")
        own = _own(element, url)
        if own and slot and _is_there(key_id, place := f"{own[0]}/{own[1]}"):
            texts.setdefault(f"{slot.name}.own", []).append(place)
        elif url and slot and not own:
            before = texts.get(f"{slot.name}.url", [""])[0]
            texts[f"{slot.name}.url"] = [f"{before}\n{url}".strip()]
        else:
            lost += 1
    return lost


def _own(element: Mapping[str, Any], url: Any) -> tuple[str, int] | None:
    """Find the own result that an element refers to."""
    if reference := shown(element.get("stored")).get("reference"):
        return references.place_of(str(reference))
    return signed_urls.parse_own(url, expired_too=True) if url else None


def _is_there(key_id: int, place: str) -> bool:
    try:
        own_results.find(key_id, place)
    except (TaskNotFound, AssetExpired):
        return False
    return True


def _is_for(slot: Slot, element: Mapping[str, Any]) -> bool:
    return not slot.role or (slot.medium, slot.role) == (element.get("type"), element.get("role"))
