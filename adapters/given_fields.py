"""What a caller gives in `extra_body` and `provider_options`, field by field, as a target's list knows it. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.base import Adapter, Target, TaskRequest
from adapters.kit.field_table import FieldTable, Steps, above, form_steps, kind_of, of, steps_of
from adapters.kit.fixed_fields import fixed_leaves
from adapters.kit.upstream_fields import FieldKind, UpstreamField
from common import strict_json
from common.bounded_cache import by_identity

OPTIONS = ("extra_body", "provider_options")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFields:
    """What there is to know of a target's fields before a request: the list, what the operator has fixed and what
    `extra_fields` open, each by its path; `inner` are the paths that are looked into."""

    table: FieldTable
    fixed: Mapping[Steps, Any]
    opened: Sequence[Steps]
    inner: Collection[Steps]


@by_identity  # every submission asks it of the same few targets
def known_fields(adapter: Adapter, target: Target) -> KnownFields:
    table = of(adapter, target)
    fixed = fixed_leaves(table, target)
    opened = [table.canonical(steps_of(path)) for path in target.extra_fields]
    inner = {*table.above, *above([*opened, *fixed])} - fixed.keys()
    return KnownFields(table=table, fixed=fixed, opened=opened, inner=inner)


def given(known: KnownFields, request: TaskRequest) -> Iterator[Given]:
    """What the caller gives, field by field: no further down than somebody distinguishes."""
    table, inner = known.table, known.inner

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
