"""What holds for the requests of every adapter, with each of its options: nothing is dropped, nothing breaks."""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from adapters import expression, registry
from adapters.base import ImageRef, MediaInput, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.kit.shapes import Provider
from common.params import tables
from common.params.row import ParamKind
from tests.adapters.making import stored
from tools.adapter_docs import FRAME, LAST, PICTURE, SOUND, URL, AdapterColumn, columns

COLUMNS = {modality: list(columns(modality)) for modality in ("image", "video")}
EVERY = [column for listed in COLUMNS.values() for column in listed]
CLIP = MediaInput(type="video", role="reference", url=URL)
HELD = ImageRef(stored=stored())
LINK = ImageRef(url=URL)
FLAG = ParamKind.FLAG  # whose value may be what the model does anyway
EXTRA_NAMES = ("size", "resolution", "n", "aspect_ratio", "image", "generationConfig", "provider", "num_images")
EXTRA_NAMES += ("parameters", "input", "contents", "imageConfig", "seed")
ANY_EXTRA: list[dict[str, Any]] = [
    {name: value}
    for name in EXTRA_NAMES
    for value in (None, True, -1, 3, 10**18, 0.5, "", "1K", "2048x2048", "auto", [], ["1:1"], {}, {"imageConfig": None})
]
ANY_OPTION: list[dict[str, Any]] = [
    {name: value}
    for name in ("seed", "watermark", "provider", "tools", "cfg_scale", "cfgScale", "negative_prompt", "fps", "size")
    for value in (None, True, -1, 7, 10**18, 0.5, "", "words", [], [{}], {}, {"order": [{"a": 1}]})
]
CHOICES: Mapping[str, Mapping[str, list[Any]]] = {
    "image": {
        "n": [1, 2, 3, 10, 10**6],
        "image_size": [None, "0.5K", "1K", "1.5K", "2K", "3K", "4K", "8K", "HUGE"],
        "aspect_ratio": [None, "1:1", "16:9", "9:16", "19.5:9", "adaptive", "7:3", "x"],
        "images": [(), (LINK,), (HELD,), (LINK, HELD, LINK), (HELD,) * 16, (LINK,) * 300],
        "extra_body": [{}, {}, {}, {"seed": 7}, *ANY_EXTRA],
    },
    "video": {
        "duration": [1, 5, 6, 10, 86_400],
        "resolution": ["480p", "720p", "768p", "1080p", "4k", "2K", "x", "None"],
        "aspect_ratio": ["16:9", "9:16", "1:1", "21:9", "adaptive", "7:3", "x"],
        "generate_audio": [None, True, False],
        "inputs": [
            (), (FRAME,), (LAST,), (FRAME, LAST), (FRAME, FRAME), (PICTURE,), (CLIP,), (SOUND,),
            (PICTURE, SOUND), (FRAME, PICTURE), (PICTURE, CLIP, SOUND), (PICTURE,) * 16,
        ],
        "provider_options": [{}, {}, {}, *ANY_OPTION],
    },
}  # fmt: skip
CAPABLE: Mapping[str, Mapping[str, list[Any]]] = {
    "image": {
        "tiers": [["1K"], ["3K"], ["9K", "1K"], ["4K", "2K"]],
        "ratios": [["1:1"], ["7:3"], ["16:9", "1:1"]],
        "size_table": [{"9K": {"7:3": "700x300"}}, {"1K": {"1:1": "1024x1024"}, "8K": {"1:1": "8000x8000"}}],
        "max_n": [1, 20],
        "max_images": [0, 400],
        "prompt_max": [3, 10**6],
        "data_url": [True, False],
        "fixed_size": [True, False],
        "input": [{"size": "{size}"}, {"prompt": None, "text": "{prompt}"}, {"ratio": "{aspect_ratio}"}],
    },
    "video": {
        "durations": [[5], {"min": 2}, {"max": 4}, {}],
        "resolutions": [["720p"], ["9p"], ["x", "720p", "768p"]],
        "ratios": [["16:9"], ["7:3", "adaptive"], ["adaptive"]],
        "size_table": [{"9p": {"7:3": "70x30"}}, {"720p": {"16:9": "1280x720"}}],
        "roles": [{}, {"first_frame": 1}, {"reference_video": 9, "reference_image": 9, "first_frame": 2}],
        "frames_exclusive_refs": [True, False],
        "audio": ["switch", "always", "never"],
        "prompt_max": [3, 10**6],
        "max_inputs": [0, 99],
        "ratio_with_frames": [True, False],
        "endpoint": ["omni", "by_inputs"],
        "multi_shot": [True, False],
        "generation": ["media", "legacy"],
        "sizes": ["pixels", "words"],
        "input": [{"size": "{size}"}, {"first": "{first_frame}", "all": ["{reference_images}"]}],
    },
}
CHANGED: Mapping[str, list[dict[str, Any]]] = {
    "image": [
        {"prompt": "an owl"},
        {"n": 2},
        {"image_size": "2K"},
        {"image_size": "4K"},
        {"aspect_ratio": "16:9"},
        {"aspect_ratio": "9:16"},
        {"images": (LINK,)},
        {"images": (HELD,)},
        {"images": (HELD, LINK)},
        {"extra_body": {"seed": 7}},
        {"extra_body": {"no_such_field": 7}},
    ],
    "video": [
        {"prompt": "an owl"},
        {"duration": 7},
        {"resolution": "1080p"},
        {"aspect_ratio": "9:16"},
        {"inputs": (FRAME,)},
        {"inputs": (FRAME, LAST)},
        {"inputs": (PICTURE,)},
        {"inputs": (PICTURE, SOUND)},
        {"inputs": (CLIP,)},
        {"inputs": (FRAME,), "aspect_ratio": "adaptive"},
        {"inputs": (FRAME, LAST), "aspect_ratio": "adaptive"},
        {"provider_options": {"seed": 7}},
        {"provider_options": {"no_such_option": 7}},
    ],
}
# Words that would tell a client whose channel it is.
NAMES = {word for name in registry.ADAPTERS for word in name.split("_")} - {"content", "generate", "http"}
NAMES = NAMES - {"images", "image", "video", "videos", "tasks", "template"} | {"google", "alibaba", "fal", "seedream"}


def names(columns: list[AdapterColumn]) -> list[str]:
    return [column.name.replace(" ", "-") for column in columns]


def some(base: TaskRequest, count: int) -> Iterator[TaskRequest]:
    """Requests as validation would pass them, up to four fields away from one that can be built; always the same."""
    chosen = random.Random(base.modality)
    choices = {"prompt": ["a fox", "{n} \\ \u2028 🦊" * 500], **CHOICES[base.modality]}
    for _ in range(count):
        fields = chosen.sample(list(choices), chosen.randint(1, 4))
        yield replace(base, **{name: chosen.choice(choices[name]) for name in fields})


def capable(column: AdapterColumn, count: int) -> Iterator[Target]:
    """The target with capabilities that its adapter takes; always the same."""
    chosen = random.Random(column.name)
    choices = CAPABLE[column.base.modality]
    while count:
        names = chosen.sample(list(choices), chosen.randint(1, 3))
        target = replace(column.target, capabilities={name: chosen.choice(choices[name]) for name in names})
        count -= 1
        if not column.adapter.validate(target):
            yield target


def text_of(column: AdapterColumn, request: TaskRequest) -> str:
    """All that goes out for a request."""
    upstream = expression.build(column.adapter, request, column.target)
    return json.dumps([upstream.path, upstream.encoding, upstream.calls, upstream.body, upstream.digest()])


def problems_of(judged: UpstreamRequest | list[Unsupported]) -> list[Unsupported]:
    return judged if isinstance(judged, list) else []


def bought_or_refused(judged: UpstreamRequest | list[Unsupported]) -> Any:
    return judged if isinstance(judged, list) else (judged.billed, judged.billed.count_field)


def fields_of(problems: list[Unsupported]) -> set[str]:
    return {problem.field for problem in problems}


@pytest.mark.parametrize("column", EVERY, ids=names(EVERY))
def test_whatever_is_valid_is_built_or_refused_by_field(column: AdapterColumn) -> None:
    for request in some(column.base, 150):
        problems = expression.check(column.adapter, request, column.target)
        assert all(field.startswith("params.") for field in fields_of(problems)), problems
        words = {word.strip(".,:;").lower() for problem in problems for word in problem.reason.split()}
        assert not words & NAMES
        if problems:
            continue
        upstream = expression.build(column.adapter, request, column.target)
        assert upstream.path.startswith("/")
        assert json.dumps(request.prompt) in json.dumps(upstream.body) or {"contents", "input"} & set(
            request.extra_body
        )
        is_image = request.modality == "image"
        counted = "num_images" if "fal" in column.name else "n"
        assert upstream.billed.count == (request.extra_body.get(counted, request.n) if is_image else 1)
        assert upstream.billed.count <= 12
        assert is_image or upstream.billed.tier == request.resolution
        assert len(upstream.digest()) == 64


@pytest.mark.parametrize("column", EVERY, ids=names(EVERY))
def test_no_capability_that_is_taken_breaks_a_request(column: AdapterColumn) -> None:
    targets = list(capable(column, 100))
    for target, request in zip(targets, some(column.base, len(targets)), strict=True):
        if not expression.check(column.adapter, request, target):
            assert expression.build(column.adapter, request, target).billed.count >= 1


@pytest.mark.parametrize("column", EVERY, ids=names(EVERY))
def test_shorter_prompts_buy_the_same_or_are_refused_alike(column: AdapterColumn) -> None:
    targets = list(capable(column, 100))
    for target, request in zip(targets, some(column.base, len(targets)), strict=True):
        said = [
            expression.judge(column.adapter, replace(request, prompt=prompt), target)
            for prompt in ("a fox " * 8, "{n} \\ \u2028 🦊", "2 pictures of 4K, 5 s", "")
        ]
        if "params.prompt" not in fields_of(problems_of(said[0])):
            assert all(bought_or_refused(each) == bought_or_refused(said[0]) for each in said), request


@pytest.mark.parametrize("adapter", registry.ADAPTERS.values(), ids=lambda adapter: adapter.protocol)
def test_every_field_that_an_adapter_expresses_is_declared_and_tried(adapter: Provider) -> None:
    for modality, expressed in adapter.expresses.items():
        assert expressed <= tables.known(modality)
        assert expressed <= {*CHOICES[modality], "prompt", "mask"}


@pytest.mark.parametrize("column", EVERY, ids=names(EVERY))
def test_every_field_changes_what_goes_out_or_is_refused(column: AdapterColumn) -> None:
    base, modality = text_of(column, column.base), column.base.modality
    optional = [
        {row.name: row.example} for row in tables.TABLES[modality].rows if row.trial_values and row.kind != FLAG
    ]
    for changes in [*CHANGED[modality], *optional]:
        changed = replace(column.base, **changes)
        is_refused = bool(expression.check(column.adapter, changed, column.target))
        assert is_refused or text_of(column, changed) != base, changes


@pytest.mark.parametrize("column", COLUMNS["video"], ids=names(COLUMNS["video"]))
def test_no_option_silences_an_optional_field_of_its_name(column: AdapterColumn) -> None:
    for row in tables.TABLES["video"].rows:
        for value in row.trial_values:
            both: dict[str, Any] = {row.name: value, "provider_options": {row.name: 1}}
            assert expression.check(column.adapter, replace(column.base, **both), column.target), row.name


@pytest.mark.parametrize("column", COLUMNS["video"], ids=names(COLUMNS["video"]))
def test_sound_and_silence_are_not_the_same(column: AdapterColumn) -> None:
    """A model that always makes sound may take the wish for it, but not the one for silence."""
    both = [replace(column.base, generate_audio=wish) for wish in (True, False)]
    taken = [
        text_of(column, request) for request in both if not expression.check(column.adapter, request, column.target)
    ]
    assert len(set(taken)) == len(taken)
