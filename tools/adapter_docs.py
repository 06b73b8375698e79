"""Writes docs/adapters.md from the adapters themselves: their `check` tells what each can express.

Run by `make docs`; a test keeps the file up to date.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, assert_never

from adapters import expression, registry
from adapters.base import Adapter, ImageRef, MediaInput, StoredFile, Target, TaskRequest
from adapters.kit.rules import Rules
from adapters.kit.shapes import Provider
from adapters.kit.upstream_fields import FieldKind, UpstreamField
from common.params import tables
from common.params.row import Param, ParamKind

PAGE = Path(__file__).resolve().parent.parent / "docs" / "adapters.md"
HEAD = """# Adapters

Written by `make docs` from the code: do not edit it. Without `capabilities`, an adapter is asked what it can express;
a channel model's capabilities only narrow that. A route that cannot express a request is skipped, and the task's trace
names the field and the reason. How to write an adapter: [adding-an-adapter.md](adding-an-adapter.md); how to describe a
provider without code: [templates.md](templates.md).
"""
ON_KINDS = """The code in the body of a provider's answer counts first, then its HTTP status. For a paid call, 408, 409,
425, 499 and every 5xx but 501 are ambiguous unless the code says more; a redirect (3xx) always is. A 503 or 529 means
overloaded only if its body is an error in the protocol's own shape, or if it has a `Retry-After`: a proxy also answers
503 when it has passed on the request and lost the answer. A 429 was not accepted."""
ON_FIELDS = """The fields of a caller's `extra_body` or `provider_options` are judged one by one. *Neutral* fields
cannot change the cost, and pass. *Priced* ones change count, size, duration or tier: they pass, and their final value
is billed. *The operator's* fields change the cost without a price, weaken the provider's safety checks, or name
objects of the operator's account: they pass only if the channel model names them in `extra_fields`, as does every field
that is not listed. *Forbidden* ones never pass. A field covers everything below it. `fixed` of a channel model sets
fields that are not priced, forbidden or derived from portable ones; a caller's different value rules out the route. So
does a value that *must be* something else; if the field decides about count, size or ratio, such a value makes the
request invalid, unless another route accepts it."""
ON_EXTRA_BODY = """`extra_body` is merged last, and shallowly, into the root of the upstream request: its fields win,
and its objects replace ours whole. If a protocol keeps its settings in one object of the request, the adapter's section
below names them: such a setting may be given by its own name, and goes into that object. If it is also inside a given
object with another value, the route is ruled out. Billing reads the final request. Each adapter's section lists the
fields that may be given."""
KINDS = {
    "kind": ("this route", "other routes", "the task", "the channel"),
    "invalid_request: the request's fault": ("no", "no", "fails: TASK_UPSTREAM_REJECTED", "alive"),
    "content_policy: the request's": ("no", "no", "fails: TASK_CONTENT_REJECTED", "alive"),
    "asset_unreachable: the request's": ("once more", "no", "fails: TASK_INPUT_UNREACHABLE", "alive"),
    "model_unavailable: the model's": (
        "no",
        "yes",
        "fails if there is no other: TASK_UPSTREAM_REJECTED",
        "the model rests there: for an account after two refusals in a row, for all after refusals of two accounts "
        "or tasks; for an hour, then up to a day",
    ),
    "auth: the credential's": (
        "with another credential",
        "yes",
        "stays queued for five rounds; fails if every credential is disabled",
        "a probe is made; if it is refused too, the credential is disabled, and probed repeatedly",
    ),
    "quota_exhausted: the account's": (
        "with another credential",
        "yes",
        "stays queued",
        "the credential rests: for an account after refusals of two of its tasks, for all after refusals of two "
        "accounts within ten minutes; for a minute, then up to an hour",
    ),
    "forbidden: without a reason, such as a bare 403": (
        "with another credential",
        "yes",
        "fails if there is no other: TASK_UPSTREAM_REJECTED",
        "alive",
    ),
    "rate_limited": (
        "with another credential, else after its rest",
        "yes",
        "stays queued",
        "the model rests with this credential, at most five minutes; with two models the credential",
    ),
    "overloaded": ("after the cool-down", "yes", "stays queued", "cools down"),
    "transient: certainly not accepted": (
        "after a while",
        "yes",
        "stays queued, a bounded number of times",
        "cools down after the first error",
    ),
    "ambiguous: may have been accepted": (
        "never, unless the operator opted in",
        "never",
        "fails: TASK_OUTCOME_UNKNOWN, listed for the operator",
        "alert",
    ),
    "empty_result": ("the result is requested once more", "no", "fails: TASK_UPSTREAM_ERROR", "alive"),
    "provider_failed": ("no", "no", "fails: TASK_UPSTREAM_ERROR", "alive"),
}
STORED = StoredFile(key="one", content_type="image/png", size_bytes=1, sha256="0" * 64)
IMAGE = TaskRequest(modality="image", prompt="a fox", image_size="1K", aspect_ratio="1:1")
VIDEO = TaskRequest(modality="video", prompt="a fox", duration=5, resolution="720p", aspect_ratio="16:9")
BASES = {
    "image": (IMAGE, replace(IMAGE, aspect_ratio=None), replace(IMAGE, image_size=None, aspect_ratio=None)),
    "video": (
        VIDEO,
        replace(VIDEO, resolution="768p"),
        replace(VIDEO, aspect_ratio=None),
        replace(VIDEO, resolution=None),
        replace(VIDEO, resolution=None, aspect_ratio=None),
        replace(VIDEO, duration=6, resolution=None, aspect_ratio=None),
    ),
}
URL = "https://example.com/file"
FRAME = MediaInput(type="image", role="first_frame", url=URL)
LAST = MediaInput(type="image", role="last_frame", url=URL)
PICTURE = MediaInput(type="image", role="reference", url=URL)
CLIP = MediaInput(type="video", role="reference", url=URL)
SOUND = MediaInput(type="audio", role="reference", url=URL)
Changes = Mapping[str, Mapping[str, Any]]
OF_IMAGES: Changes = {
    "images by URL": {"images": (ImageRef(url=URL),)},
    "images by Data URL": {"images": (ImageRef(stored=STORED),)},
    "several images": {"images": (ImageRef(url=URL), ImageRef(url=URL))},
    "a mask beside an image": {"images": (ImageRef(stored=STORED),), "mask": ImageRef(stored=STORED)},
}
OF_INPUTS: Changes = {
    "first_frame": {"inputs": (FRAME,)},
    "last_frame": {"inputs": (FRAME, LAST)},
    "reference image": {"inputs": (PICTURE,)},
    "reference video": {"inputs": (CLIP,)},
    "reference audio": {"inputs": (PICTURE, SOUND)},
    "frame beside references": {"inputs": (FRAME, PICTURE)},
}


def changes_of(row: Param) -> Changes:
    """Returns the requests that test a field, by its row of the matrix."""
    if not row.in_matrix:
        return {}
    match row.kind:
        case ParamKind.IMAGES:
            return OF_IMAGES
        case ParamKind.INPUTS:
            return OF_INPUTS
        case ParamKind.FLAG:
            return {f"{row.name} {json.dumps(value)}": {row.name: value} for value in (True, False)}
        case ParamKind.TEXT | ParamKind.WHOLE | ParamKind.CHOICE:
            return {row.name: {row.name: row.example}}
        case ParamKind.OPTIONS:
            return {}
        case _:
            assert_never(row.kind)


CHANGES: Mapping[str, Changes] = {
    modality: {name: change for row in tables.TABLES[modality].rows for name, change in changes_of(row).items()}
    for modality in BASES
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterColumn:
    """One adapter with one set of options, asked for one modality."""

    adapter: Adapter
    target: Target
    base: TaskRequest

    @property
    def name(self) -> str:
        words = " ".join(str(value) for value in self.target.options.values())
        return f"{self.adapter.protocol} {words}".strip()

    def takes(self, changes: Mapping[str, Any]) -> bool:
        return not expression.check(self.adapter, replace(self.base, **changes), self.target)

    def word(self, changes: Mapping[str, Any]) -> str:
        """Tells whether a change can be expressed; some adapters accept frames only where the picture decides the
        ratio."""
        if self.takes(changes):
            return "yes"
        return "with ratio adaptive" if self.takes({"aspect_ratio": "adaptive", **changes}) else "–"

    def count(self) -> str:
        """Tells how several results are bought."""
        if not self.takes({"n": 2}):
            return "–"
        calls = self.adapter.build(replace(self.base, n=2), self.target).calls
        return "n" if calls == 1 else "a call each"


def columns(modality: str) -> Iterator[AdapterColumn]:
    for adapter in registry.ADAPTERS.values():
        if modality not in adapter.modalities:
            continue
        for options in adapter.variants if isinstance(adapter, Provider) else ():
            target = Target(
                adapter=adapter.protocol, base_url="https://example.com", upstream_model="a/model", options=options
            )
            base = next((base for base in BASES[modality] if not expression.check(adapter, base, target)), None)
            if base is not None:
                yield AdapterColumn(adapter=adapter, target=target, base=base)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def matrix(modality: str) -> str:
    """Builds the matrix: a row for each field of a request, a column for each protocol."""
    every = list(columns(modality))
    rows = [[f"`{name}`", *(column.word(changes) for column in every)] for name, changes in CHANGES[modality].items()]
    if modality == "image":
        rows.append(["`n` above 1", *(column.count() for column in every)])
    rows.append(["jobs asked for at once", *(str(column.adapter.poll_batch) for column in every)])
    return table(["", *(column.name for column in every)], rows)


def section(adapter: Provider) -> str:
    """Describes an adapter's settings and its provider's errors."""
    serves = f"Serves {' and '.join(sorted(adapter.modalities))}; a lost answer {SAFETY[adapter.submit_safety]}."
    parts = [
        f"### {adapter.protocol}\n\n{adapter.summary}. {serves if adapter.modalities else FOR_GROUPS}\n",
        settings("capabilities", adapter.capabilities),
        settings("options", adapter.options),
    ]
    if adapter.settings:
        place, refused = adapter.settings.place, quoted(adapter.settings.refused)
        names = quoted(adapter.settings.names - adapter.settings.refused)
        parts.append(
            f"`extra_body`: at the root of the request, but into `{place}` go {names}."
            f"{f' {refused} are refused in both places.' if refused else ''}\n"
        )
    parts += field_tables(adapter)
    codes = ", ".join(f"`{code}` {kind}" for code, kind in adapter.error_codes.items())
    if codes:
        parts.append(f"Error codes: {codes}.\n")
    return "\n".join(filter(None, parts))


def field_tables(adapter: Provider) -> Iterator[str]:
    """Describes the upstream fields, once for all dialects that share them."""
    shown: dict[tuple[UpstreamField, ...], list[str]] = {}
    for options in adapter.variants:
        target = Target(adapter=adapter.protocol, base_url="", upstream_model="", options=options)
        words = " ".join(str(value) for value in options.values())
        if listed := adapter.fields(target):
            shown.setdefault(tuple(listed), []).append(words)
    for listed, dialects in shown.items():
        of = f" ({' and '.join(word or 'default' for word in dialects)})" if len(shown) > 1 else ""
        rows = [
            [f"`{field.path}`", meaning(field), field.source] for field in sorted(listed, key=lambda each: each.path)
        ]
        yield f"Upstream fields{of}:\n\n{table(('field', 'kind', 'source'), rows)}"


def meaning(field: UpstreamField) -> str:
    """Describes a field's kind, what it depends on, and how a caller's value is checked."""
    values = ", ".join(f"`{json.dumps(value)}`" for value in field.values)
    kind = (
        f"{KIND_WORDS[field.kind]}: {values}; else {KIND_WORDS[field.otherwise]}" if values else KIND_WORDS[field.kind]
    )
    stands_for = ("prompt", "images") if field.replaces == "messages" else (field.replaces,)
    checked = f"checked as {' and '.join(f'`params.{name}`' for name in stands_for)}" if field.replaces else ""
    wanted = field.legal(object()) if field.legal and not field.replaces else None
    return "; ".join(filter(None, (kind, checked, wanted and f"must be {wanted}")))


KIND_WORDS = {
    FieldKind.NEUTRAL: "neutral",
    FieldKind.PRICED: "priced",
    FieldKind.OPERATOR: "the operator's",
    FieldKind.FORBIDDEN: "forbidden",
}
FOR_GROUPS = "Serves groups of general keys, and runs no tasks."
SAFETY = {
    "none": "leaves the outcome unknown",
    "lookup": "is looked up by our reference",
    "idempotency_key": "is requested again with the same key",
}


def quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def settings(name: str, rules: Rules) -> str:
    listed = ", ".join(f"`{key}` ({rule(object())})" for key, rule in sorted(rules.items()))
    return f"{name}: {listed}.\n" if listed else ""


def kinds() -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Returns the head and rows of the table of error kinds."""
    head, *rows = ([kind, *consequences] for kind, consequences in KINDS.items())
    return head, rows


def page() -> str:
    ours = [adapter for _, adapter in sorted(registry.ADAPTERS.items()) if isinstance(adapter, Provider)]
    sections = [section(adapter) for adapter in ours]
    return "\n".join(
        [
            HEAD,
            "## Images\n",
            matrix("image"),
            f"{ON_EXTRA_BODY}\n",
            "## Video\n",
            matrix("video"),
            f"## What an error means\n\n{ON_KINDS}\n",
            table(*kinds()),
            "## Each adapter\n",
            f"{ON_FIELDS}\n",
            *sections,
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.name}")
