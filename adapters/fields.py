"""Which fields of `extra_body` and `provider_options` may pass. Pure.

The adapter lists its fields (adapters/kit/upstream_fields.py). What it does not list is the operator's, so that no
field passes that nobody has judged; an installed adapter without a list has such fields only.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from adapters.base import Adapter, Target, TaskRequest, Unsupported
from adapters.kit import checks, replaced_inputs
from adapters.kit.field_table import FieldTable, Steps, above, form_steps, is_same, kind_of, of, steps_of
from adapters.kit.fixed_fields import fixed_leaves
from adapters.kit.replaced_inputs import InputRules
from adapters.kit.upstream_fields import FieldKind, UpstreamField
from common import strict_json

OPTIONS = ("extra_body", "provider_options")
MOST_NAMED = 20  # a refusal is read by people
NO_RULES = InputRules()
REASONS = {
    FieldKind.OPERATOR: "is not allowed here: it can change the cost in ways that have no price",
    FieldKind.FORBIDDEN: "cannot be set by the caller",
}
FIXED = "has another value here, which the operator has fixed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A field that a caller gives: where (`params.extra_body.…`), its path in the request, and its value. `field` is
    what the list says of it; `is_respelled` where it is written otherwise than there: as a form's key (`svg[model]`),
    or in other letters."""

    shown: str
    steps: Steps
    value: Any
    field: UpstreamField | None
    is_respelled: bool

    @property
    def replaces(self) -> str:
        """The portable input for which it stands."""
        return self.field.replaces if self.field else ""

    @property
    def kind(self) -> FieldKind:
        kind = kind_of(self.field, self.value)
        if not self.is_respelled:
            return kind
        # What is billed or checked is read from the plain spelling only.
        is_read = kind in (FieldKind.PRICED, FieldKind.FORBIDDEN) or self.replaces
        return FieldKind.FORBIDDEN if is_read else FieldKind.OPERATOR


def given(table: FieldTable, request: TaskRequest, target: Target) -> Iterator[Given]:
    """What the caller gives, field by field: no further down than somebody distinguishes."""
    fixed = fixed_leaves(table, target)
    opened = dict.fromkeys(table.canonical(steps_of(path)) for path in target.extra_fields)
    inner = {*table.above, *above(opened), *above(fixed)} - fixed.keys()

    def walk(shown: str, steps: Steps, value: Any, is_form: bool) -> Iterator[Given]:
        # An empty object or list of a listed field is a value of its own.
        is_open = steps in inner and (bool(value) or steps not in table.at)
        if is_open and isinstance(value, Mapping):
            for name, item in value.items():
                more = form_steps(name)
                yield from walk(strict_json.field(shown, name), (*steps, *more), item, is_form or more != (name,))
        elif is_open and isinstance(value, list):
            for index, item in enumerate(value):
                yield from walk(f"{shown}[{index}]", steps, item, is_form)
        else:
            twin = table.twin(steps)
            field, is_respelled = twin or table.nearest(steps), is_form or twin is not None
            yield Given(shown=shown, steps=steps, value=value, field=field, is_respelled=is_respelled)

    for place in OPTIONS:
        for name, value in getattr(request, place).items():
            more = form_steps(name)
            yield from walk(strict_json.field(f"params.{place}", name), table.canonical(more), value, more != (name,))


def problems(adapter: Adapter, request: TaskRequest, target: Target, rules: InputRules = NO_RULES) -> list[Unsupported]:
    """The fields that may not pass, each named by its path, and a prompt that commands what the fields should say. No
    further field is looked at once there is enough to say."""
    has_options = any(getattr(request, place) for place in OPTIONS)
    found = _found(adapter, request, target, rules) if has_options else _commands(adapter, (), request, target)
    return list(checks.once(*islice(found, MOST_NAMED)))


def _found(adapter: Adapter, request: TaskRequest, target: Target, rules: InputRules) -> Iterator[Unsupported]:
    table = of(adapter, target)
    prompts: list[Given] = []
    yield from _refused(table, _noting_prompts(given(table, request, target), prompts), target)
    yield from _prompts(prompts, target)
    yield from _images(table, request, target, rules)
    yield from _commands(adapter, prompts, request, target)


def _noting_prompts(fields: Iterable[Given], prompts: list[Given]) -> Iterator[Given]:
    """The fields one by one; those that stand for the prompt are added to `prompts`."""
    for field in fields:
        if field.replaces == "prompt":
            prompts.append(field)
        yield field


def _refused(table: FieldTable, fields: Iterable[Given], target: Target) -> Iterator[Unsupported]:
    fixed = fixed_leaves(table, target)
    opened = [table.canonical(steps_of(path)) for path in target.extra_fields]
    for field in fields:
        touched = {steps: value for steps, value in fixed.items() if _is_along(steps, field.steps)}
        if touched:
            if field.steps not in touched or not is_same(touched[field.steps], field.value):
                yield Unsupported(field=field.shown, reason=FIXED)
        elif field.kind is FieldKind.FORBIDDEN or (
            field.kind is FieldKind.OPERATOR and not any(field.steps[: len(path)] == path for path in opened)
        ):
            yield Unsupported(field=field.shown, reason=REASONS[field.kind])


def _is_along(one: Steps, other: Steps) -> bool:
    """Whether one of two paths leads to or through the other."""
    length = min(len(one), len(other))
    return one[:length] == other[:length]


def _prompts(prompts: Iterable[Given], target: Target) -> Iterator[Unsupported]:
    for field in prompts:
        yield from replaced_inputs.prompt(field.shown, field.value, target.capabilities)


def _images(table: FieldTable, request: TaskRequest, target: Target, rules: InputRules) -> Iterator[Unsupported]:
    """The fields that stand for reference images. They lie at the root of a request, and are looked at as a whole."""
    listed = [field for field in table.at.values() if field.replaces == "images" and field.path in request.extra_body]
    values = {f"params.extra_body.{field.path}": request.extra_body[field.path] for field in listed}
    most = max((field.most for field in listed), default=0)
    # Judged above, where the list knows of them; elsewhere nobody would.
    takes_files = any(steps[-1] == replaced_inputs.FILE for steps in table.at)
    yield from replaced_inputs.images(values, target.capabilities, most=most, rules=rules, takes_files=takes_files)


def _commands(
    adapter: Adapter, prompts: Iterable[Given], request: TaskRequest, target: Target
) -> Iterator[Unsupported]:
    """Read from the prompt that goes out, whoever gives it."""
    replacing = {field.shown: field.value for field in prompts}
    for shown, prompt in (replacing or {"params.prompt": request.prompt}).items():
        if isinstance(prompt, str) and (command := command_in(prompt, adapter, target)):
            yield Unsupported(field=shown, reason=f"holds {command}, which the model would obey as a command")


def command_in(prompt: str, adapter: Adapter | None, target: Target) -> str | None:
    """What of a prompt the model would obey as a command."""
    find: Callable[[str, Target], str | None] | None = getattr(adapter, "prompt_command", None)
    return find(prompt, target) if find else None
