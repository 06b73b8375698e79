"""Whatever `extra_body` holds, an accepted request asks the provider for what is billed, and for nothing unknown.

What a body asks for is read here once more, from the providers' documentation and not from the adapters.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters import expression
from adapters.ark import images_request as ark
from adapters.base import FieldKind, Target, TaskRequest, UpstreamField, UpstreamRequest
from adapters.dashscope import images_request as dashscope
from adapters.openai import images_request as openai
from adapters.openrouter import images_request as openrouter
from tools.adapter_docs import AdapterColumn, columns

COLUMNS = [column for column in columns("image") if column.adapter.fields(column.target)]  # type: ignore[attr-defined]
IDS = [column.name.replace(" ", "-") for column in COLUMNS]
VALUES: list[Any] = [
    *(None, True, False, 0, 1, 2, 3, 12, 10**6, 0.5, -1, "", "1", "x", "auto", "high", "low", "medium", "disabled"),
    *(
        "512",
        "1K",
        "2K",
        "4K",
        "1k",
        "2k",
        "1024x1024",
        "1024*1024",
        "2048x2048",
        "9000x9000",
        "1280x720",
        "png",
        "gif",
    ),
    *("svg", "an owl", "https://x.example.com/a.png", [], {}, ["IMAGE"], ["TEXT", "IMAGE"], [{"type": "web_search"}]),
    *({"model": "dearer"}, {"n": 4}, {"size": "4K"}, {"url": "https://x.example.com/a.png"}, {"imageSize": "4K"}),
    *(
        [{"type": "image_url", "image_url": {"url": "https://x.example.com/a.png"}}],
        ["https://x.example.com/a.png"] * 9,
    ),
]
# What is likely to be taken, beside some that is not.
IMAGES: list[Any] = ["https://x.example.com/a.png", {"url": "https://x.example.com/a.png"}, [], 1]
NAMED: list[Any] = ["1k", "2k", "512", "1K", "2K", "4K", "8K", ["1K"], 1]
VALUES_OF: dict[str, list[Any]] = {
    "n": [1, 2, 3, 4, 6, 12, True, "2", 0],
    "size": ["1K", "2K", "1024x1024", "1024*1024", "2048x2048", "1280x720", "9000x9000", "auto", 7],
    "resolution": NAMED,
    "imageSize": NAMED,
    "enable_sequential": [True, False, 1, "true"],
    "layer_decomposition": [False, True, 0],
    "prompt": ["an owl", "", " ", ["an owl"], 7],
    "contents": [[{"parts": [{"text": "an owl"}]}], [{"parts": [{"text": " "}]}], [], "an owl"],
    "input": [{"messages": [{"role": "user", "content": [{"text": "an owl"}]}]}, {"prompt": "an owl"}, {"n": 4}],
    "image": IMAGES,
    "images": IMAGES,
    "sequential_image_generation": ["disabled", "auto", True],
    "responseModalities": [["IMAGE"], ["TEXT", "IMAGE"], "IMAGE"],
    "output_format": ["png", "webp", "gif", "svg"],
}
UNKNOWN = ["num_images", "batch_size", "samples", "numberOfImages", "image_size", "width", "steps", "extra_fields"]
ENVELOPES = [
    "metadata",
    "extra_body",
    "parameters",
    "generationConfig",
    "generation_config",
    "input",
    "provider",
    "svg",
]
SPELLINGS: list[Callable[[str], str]] = [
    *(lambda name: name,) * 3,
    str.upper,
    str.capitalize,
    lambda name: f"{name}[]",
    lambda name: f"{name} ",
    lambda name: "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the provider is asked for: pictures, and the tier or the area of each."""

    count: Any
    size: Any


def of_openai(upstream: UpstreamRequest) -> Asked:
    size = upstream.body.get("size")  # in pixels: it knows no names of tiers
    return Asked(count=upstream.body["n"], size=size if isinstance(size, str) and "x" in size else None)


def of_xai(upstream: UpstreamRequest) -> Asked:
    sizes = {"1k": "1K", "2k": "2K"}
    resolution = upstream.body.get("resolution")
    return Asked(count=upstream.body["n"], size=sizes.get(resolution) if isinstance(resolution, str) else None)


def of_ark(upstream: UpstreamRequest) -> Asked:
    body = upstream.body
    assert body["sequential_image_generation"] == "disabled"
    assert not body.get("layer_decomposition")
    assert not {"n", "max_images", "sequential_image_generation_options"} & body.keys()
    return Asked(count=upstream.calls, size=body.get("size"))


def of_gemini(upstream: UpstreamRequest) -> Asked:
    config = upstream.body["generationConfig"]
    assert not {"candidateCount", "responseFormat"} & config.keys()
    sizes = {"512": "0.5K", "1K": "1K", "2K": "2K", "4K": "4K"}
    size = config.get("imageConfig", {}).get("imageSize", "1K")  # the default that Google documents
    return Asked(count=upstream.calls, size=sizes.get(size) if isinstance(size, str) else None)


def of_dashscope(upstream: UpstreamRequest) -> Asked:
    parameters = upstream.body["parameters"]
    size = parameters.get("size")
    story = parameters.get("enable_sequential") is True
    return Asked(
        count=parameters.get("n", 12 if story else 1), size=size.replace("*", "x") if isinstance(size, str) else None
    )


def of_openrouter(upstream: UpstreamRequest) -> Asked:
    size = upstream.body.get("size", upstream.body.get("resolution"))
    return Asked(count=upstream.body["n"], size={"512": "0.5K"}.get(size, size) if isinstance(size, str) else None)


def of_fal(upstream: UpstreamRequest) -> Asked:
    return Asked(count=upstream.body["num_images"] * upstream.calls, size=None)  # no model without a table has a size


def of_replicate(upstream: UpstreamRequest) -> Asked:
    return Asked(count=upstream.body["input"]["num_outputs"] * upstream.calls, size=None)


SIZES: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "openai_images": openai.SIZES,
    "openai_images xai": {"1K": {}, "2K": {}},
    "ark_images": ark.SIZES,
    "gemini_generate_content": {"0.5K": {}, "1K": {}, "2K": {}, "4K": {}},
    "dashscope_image": dashscope.SIZES,
    "dashscope_image async": dashscope.SIZES,
    "openrouter_images": openrouter.SIZES,
    "http_template fal_image": {},
    "http_template replicate_image": {},
}
READERS = {
    "openai_images": of_openai,
    "openai_images xai": of_xai,
    "ark_images": of_ark,
    "gemini_generate_content": of_gemini,
    "dashscope_image": of_dashscope,
    "dashscope_image async": of_dashscope,
    "openrouter_images": of_openrouter,
    "http_template fal_image": of_fal,
    "http_template replicate_image": of_replicate,
}


def listed(column: AdapterColumn) -> list[UpstreamField]:
    return list(column.adapter.fields(column.target))  # type: ignore[attr-defined]


def target(column: AdapterColumn) -> Target:
    """A model whose count without `n` is known."""
    return replace(column.target, upstream_model="qwen-image-3" if "dashscope" in column.name else "a-model")


def put(extra_body: dict[str, Any], names: list[str], value: Any) -> None:
    """The value at a place, as far as what stands there already leaves room for it."""
    at: Any = extra_body
    for name in names[:-1]:
        at = at.setdefault(name, {})
        if not isinstance(at, dict):
            return
    at[names[-1]] = value


@st.composite
def bodies(draw: st.DrawFn, column: AdapterColumn) -> dict[str, Any]:
    """Mostly fields that may pass, with any values; else some of all that documents and gateways know, in other
    spellings and inside envelopes."""
    passing = [field.path for field in listed(column) if field.kind in (FieldKind.NEUTRAL, FieldKind.PRICED)]
    extra_body: dict[str, Any] = {}
    for path in draw(st.lists(st.sampled_from(passing), max_size=3)):
        names = path.split(".")
        own = VALUES_OF.get(names[-1], VALUES)
        put(extra_body, names[1:] if len(names) > 1 and draw(st.booleans()) else names, draw(st.sampled_from(own)))
    for path in draw(st.lists(st.sampled_from([field.path for field in listed(column)] + UNKNOWN), max_size=1)):
        names = [draw(st.sampled_from(SPELLINGS))(name) for name in path.replace("[]", "").split(".")]
        if len(names) > 1 and draw(st.booleans()):
            names = [names[0] + "".join(f"[{name}]" for name in names[1:])]
        elif draw(st.booleans()):
            names = [draw(st.sampled_from(ENVELOPES)), *names]
        put(extra_body, names, draw(st.sampled_from(VALUES)))
    return json.loads(json.dumps(extra_body))  # type: ignore[no-any-return]


def tier_of(size: Any, table: Mapping[str, Mapping[str, str]]) -> Any:
    """A tier by its name or by the pixels of a size; None for whatever else."""
    if not isinstance(size, str) or size in table:
        return size if isinstance(size, str) else None
    sides = size.split("x")
    if len(sides) != 2 or not all(side.isdigit() and not side.startswith("0") for side in sides):
        return None
    area = int(sides[0]) * int(sides[1])
    known = {
        name: [int(w) * int(h) for w, h in (one.split("x") for one in row.values())] for name, row in table.items()
    }
    same = [name for name, row in table.items() if size in row.values()]
    covering = sorted((max(areas), name) for name, areas in known.items() if max(areas) >= area)
    return same[0] if same else covering[0][1] if covering else None


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Path and value of everything that a body holds, from the top down."""
    yield path, value
    for name, inner in value.items() if isinstance(value, dict) else ():
        yield from leaves(inner, f"{path}.{name}" if path else name)


def may_pass(column: AdapterColumn, path: str, value: Any) -> bool:
    """Whether somebody has listed this very field, or one around it, as one that cannot cost what is not billed."""
    around = [".".join(path.split(".")[:length]) for length in range(len(path.split(".")), 0, -1)]
    by_path = {field.path: field for field in listed(column)}
    field = next((by_path[each] for each in around if each in by_path), None)
    if field is None:
        return False
    kind = field.kind
    if field.values:
        kind = kind if json.dumps(value) in map(json.dumps, field.values) else field.otherwise
    return kind in (FieldKind.NEUTRAL, FieldKind.PRICED)


def accepted(column: AdapterColumn, request: TaskRequest, on: Target) -> UpstreamRequest | None:
    problems = expression.check(column.adapter, request, on)
    assert all(problem.field.startswith("params.") for problem in problems)
    return None if problems else expression.build(column.adapter, request, on)


@pytest.mark.parametrize("column", COLUMNS, ids=IDS)
def test_every_image_protocol_is_read_here(column: AdapterColumn) -> None:
    assert column.name in READERS


@pytest.mark.parametrize("column", COLUMNS, ids=IDS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_what_the_provider_is_asked_for_is_what_is_billed(column: AdapterColumn, data: st.DataObject) -> None:
    request = replace(column.base, n=data.draw(st.integers(1, 3)), extra_body=data.draw(bodies(column)))
    if (upstream := accepted(column, request, target(column))) is None:
        return
    asked, table = READERS[column.name](upstream), SIZES[column.name]
    assert upstream.billed.count == asked.count
    assert upstream.billed.tier == tier_of(asked.size, table)


@pytest.mark.parametrize("column", COLUMNS, ids=IDS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_field_passes_that_is_not_listed_as_harmless_or_billed(column: AdapterColumn, data: st.DataObject) -> None:
    extra_body = data.draw(bodies(column))
    if accepted(column, replace(column.base, extra_body=extra_body), target(column)) is None:
        return
    place = getattr(column.adapter, "settings", None)
    own = {name: value for name, value in extra_body.items() if place and name in place.names}
    rest = {name: value for name, value in extra_body.items() if name not in own}
    ends = [*leaves(rest), *leaves({place.place: own} if place and own else {})]
    for path, value in ends:
        if not isinstance(value, dict):
            assert may_pass(column, path, value), path


@pytest.mark.parametrize("column", COLUMNS, ids=IDS)
@settings(max_examples=100, deadline=None)
@given(name=st.text(min_size=1, max_size=12), value=st.sampled_from(VALUES))
def test_an_unknown_field_never_passes_by_itself(column: AdapterColumn, name: str, value: Any) -> None:
    known = {step for field in listed(column) for step in field.path.replace("[]", "").split(".")}
    for extra_body in ({name: value}, {"metadata": {name: value}}, {f"x{name}": value}, {f"{name}[]": value}):
        if not known & {name, f"x{name}"}:
            assert accepted(column, replace(column.base, extra_body=extra_body), target(column)) is None
