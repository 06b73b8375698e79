"""Which fields of `extra_body` and `provider_options` may pass. Pure.

The adapter lists its fields (adapters/kit/upstream_fields.py). What it does not list is the operator's, so that no
field passes that nobody has judged; an installed adapter without a list has such fields only.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from adapters.base import Adapter, Target, TaskRequest, Unsupported
from adapters.given_fields import OPTIONS, Given, KnownFields, given, known_fields
from adapters.kit import checks, replaced_inputs
from adapters.kit.field_table import FieldTable, Steps, is_same
from adapters.kit.replaced_inputs import InputRules
from adapters.kit.upstream_fields import FieldKind

MOST_NAMED = 20  # a refusal is read by people
NO_RULES = InputRules()
REASONS = {
    FieldKind.OPERATOR: "is not allowed here: it can change the cost in ways that have no price",
    FieldKind.FORBIDDEN: "cannot be set by the caller",
}
FIXED = "has another value here, which the operator has fixed"


def problems(adapter: Adapter, request: TaskRequest, target: Target, rules: InputRules = NO_RULES) -> list[Unsupported]:
    """The fields that may not pass, each named by its path, and a prompt that commands what the fields should say. No
    further field is looked at once there is enough to say."""
    has_options = any(getattr(request, place) for place in OPTIONS)
    found = _found(adapter, request, target, rules) if has_options else _commands(adapter, (), request, target)
    return list(checks.once(*islice(found, MOST_NAMED)))


def _found(adapter: Adapter, request: TaskRequest, target: Target, rules: InputRules) -> Iterator[Unsupported]:
    known, prompts = known_fields(adapter, target), list[Given]()
    yield from _refused(known, _noting_prompts(given(known, request), prompts), rules)
    yield from _prompts(prompts, target)
    yield from _images(known.table, request, target, rules)
    yield from _commands(adapter, prompts, request, target)


def _noting_prompts(fields: Iterable[Given], prompts: list[Given]) -> Iterator[Given]:
    """The fields one by one; those that stand for the prompt are added to `prompts`."""
    for field in fields:
        if field.replaces == "prompt":
            prompts.append(field)
        yield field


def _refused(known: KnownFields, fields: Iterable[Given], rules: InputRules) -> Iterator[Unsupported]:
    for field in fields:
        touched = {steps: value for steps, value in known.fixed.items() if _is_along(steps, field.steps)}
        if touched:
            if field.steps not in touched or not is_same(touched[field.steps], field.value):
                yield Unsupported(field=field.shown, reason=FIXED)
        elif field.kind is FieldKind.FORBIDDEN or (
            field.kind is FieldKind.OPERATOR and not any(field.steps[: len(path)] == path for path in known.opened)
        ):
            yield Unsupported(field=field.shown, reason=REASONS[field.kind])
        else:
            yield from _illegal(field, rules)


def _illegal(given: Given, rules: InputRules) -> Iterator[Unsupported]:
    """A value that is none of its field. Of one that decides about count or size it is illegal wherever that field is
    known; another setting may have more values elsewhere."""
    field = given.field
    wanted = field.legal(given.value) if field and field.legal else None
    if field is None or wanted is None:
        return
    if not field.replaces or not replaced_inputs.is_offered(field.replaces, given.value, rules):
        yield Unsupported(field=given.shown, reason=f"must be {wanted}", is_illegal=field.derived)


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
