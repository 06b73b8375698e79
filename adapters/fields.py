"""Which fields of `extra_body` and `provider_options` may pass. Pure.

The adapter lists its fields (adapters/kit/upstream_fields.py). What it does not list is the operator's, so that no
field passes that nobody has judged; an installed adapter without a list has such fields only.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from adapters.base import Adapter, Target, TaskRequest, Unsupported
from adapters.given_fields import Given, KnownFields, given, known_fields
from adapters.kit import checks, replaced_inputs
from adapters.kit.field_table import FieldTable, Steps, is_same
from adapters.kit.replaced_inputs import InputRules, Odd
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
    found = (
        _found(adapter, request, target, rules)
        if request.extra_body or request.provider_options
        else _commands(adapter, {"params.prompt": [request.prompt]}, target)
    )
    return list(checks.once(*islice(found, MOST_NAMED)))


def _found(adapter: Adapter, request: TaskRequest, target: Target, rules: InputRules) -> Iterator[Unsupported]:
    known, worded = known_fields(adapter, target), list[Given]()
    yield from _refused(known, _noting_words(given(known, request), worded), rules)
    prompts = dict[str, list[str]]()
    for each in worded:
        yield from (
            _prompt(each, prompts, target) if each.replaces == "prompt" else _messages(each, prompts, target, rules)
        )
    yield from _images(known.table, request, target, rules)
    yield from _commands(adapter, prompts or {"params.prompt": [request.prompt]}, target)


def _noting_words(fields: Iterable[Given], worded: list[Given]) -> Iterator[Given]:
    """The fields one by one; those that stand for the prompt, alone or in messages, are added to `worded`."""
    for field in fields:
        if field.replaces in ("prompt", "messages"):
            worded.append(field)
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


def _prompt(given: Given, prompts: dict[str, list[str]], target: Target) -> Iterator[Unsupported]:
    """A text that stands for the prompt; it is added to `prompts`, by where it is given."""
    prompts[given.shown] = [given.value] if isinstance(given.value, str) else []
    yield from replaced_inputs.prompt(given.shown, given.value, target.capabilities)


def _messages(given: Given, prompts: dict[str, list[str]], target: Target, rules: InputRules) -> Iterator[Unsupported]:
    """Whole messages; their texts are added to `prompts`, apart and joined, as nobody knows how a model reads them."""
    field, prompts[given.shown] = given.field, []
    try:
        parts = list(field.parts(given.shown, given.value)) if field and field.parts else []
    except Odd as odd:
        yield Unsupported(field=odd.field, reason=odd.reason)
        return
    texts = [part.text for part in parts if part.picture is None]
    prompts[given.shown] = ["\n".join(texts), "".join(texts)]
    most = field.most if field else 0
    yield from replaced_inputs.messages(given.shown, parts, target.capabilities, most=most, rules=rules)


def _images(table: FieldTable, request: TaskRequest, target: Target, rules: InputRules) -> Iterator[Unsupported]:
    """The fields that stand for reference images. They lie at the root of a request, and are looked at as a whole."""
    listed = [field for field in table.at.values() if field.replaces == "images" and field.path in request.extra_body]
    values = {f"params.extra_body.{field.path}": request.extra_body[field.path] for field in listed}
    most = max((field.most for field in listed), default=0)
    # Judged above, where the list knows of them; elsewhere nobody would.
    takes_files = any(steps[-1] == replaced_inputs.FILE for steps in table.at)
    yield from replaced_inputs.images(values, target.capabilities, most=most, rules=rules, takes_files=takes_files)


def _commands(adapter: Adapter, prompts: Mapping[str, list[str]], target: Target) -> Iterator[Unsupported]:
    """Read from the prompts that go out, whoever gives them."""
    for shown, texts in prompts.items():
        if command := next(filter(None, (_command_in(text, adapter, target) for text in texts)), None):
            yield Unsupported(field=shown, reason=f"holds {command}, which the model would obey as a command")


def _command_in(prompt: str, adapter: Adapter, target: Target) -> str | None:
    """What of a prompt the model would obey as a command."""
    find: Callable[[str, Target], str | None] | None = getattr(adapter, "prompt_command", None)
    return find(prompt, target) if find else None
