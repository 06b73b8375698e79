"""A field that an adapter does not name is refused: nothing of a request is dropped in silence."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from adapters import expression, fields, registry
from adapters.base import ImageRef, MediaInput, Target, TaskRequest, Unsupported
from adapters.openai.images import OpenAIImages
from catalog import snapshot
from common.errors import NoCapableRoute
from tests.adapters.making import image_request, image_target, stored, video_request, video_target
from tests.rows import IssuedKey
from tests.tasks import steps
from tools.adapter_docs import URL, AdapterColumn, columns
from worker.buy import jobs

EVERY = [column for modality in ("image", "video") for column in columns(modality)]
IMAGE = {"prompt", "n", "image_size", "aspect_ratio", "images", "extra_body"}
VIDEO = {"prompt", "duration", "resolution", "aspect_ratio", "generate_audio", "inputs", "provider_options"}
FULL = TaskRequest(
    modality="image",
    prompt="a fox",
    n=2,
    image_size="1K",
    aspect_ratio="1:1",
    images=(ImageRef(url=URL),),
    extra_body={"seed": 7},
    duration=5,
    resolution="720p",
    generate_audio=False,
    inputs=(MediaInput(type="image", role="reference", url=URL),),
    provider_options={"seed": 7},
    output_format="glb",
)
MASKED: dict[str, Any] = {"images": (ImageRef(stored=stored()),), "mask": ImageRef(stored=stored("mask"))}
TAKE_MASKS = ["openai_images", "openai_images xai"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tomorrow(TaskRequest):
    """A request with one more field."""

    negative_prompt: str | None = None


# Whoever lists no upstream fields takes those that the operator names.
SEEDED = replace(image_target(), extra_fields=["seed"])


class Old:
    """What an installed package may have: an adapter that was written when there were thirteen fields."""

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return []


class Declared(Old):
    expresses = {"image": frozenset({"prompt", "n"})}


def refused(adapter: Any, request: TaskRequest, target: Target | None = None) -> list[str]:
    return [problem.field for problem in expression.check(adapter, request, target or SEEDED)]


def tomorrow(request: TaskRequest, **more: Any) -> Tomorrow:
    return Tomorrow(**{name: getattr(request, name) for name in TaskRequest.__dataclass_fields__}, **more)


@pytest.mark.parametrize("column", EVERY, ids=lambda column: column.name.replace(" ", "-"))
def test_a_field_of_tomorrow_is_refused_only_where_it_is_set(column: AdapterColumn) -> None:
    assert refused(column.adapter, tomorrow(column.base), column.target) == []
    asked = tomorrow(column.base, negative_prompt="dogs")
    assert refused(column.adapter, asked, column.target) == ["params.negative_prompt"]


def test_an_adapter_without_a_declaration_has_the_fields_of_today_and_no_other() -> None:
    assert refused(Old(), FULL) == []
    assert refused(Old(), tomorrow(FULL, negative_prompt="dogs")) == ["params.negative_prompt"]


def test_every_set_field_that_a_declaration_lacks_is_refused_in_order() -> None:
    images = ["image_size", "aspect_ratio", "images", "extra_body"]
    others = ["duration", "resolution", "generate_audio", "inputs", "provider_options", "output_format"]
    assert refused(Declared(), FULL) == [f"params.{name}" for name in (*images, *others)]
    assert refused(Declared(), TaskRequest(modality="image", prompt="a fox", n=2)) == []


@pytest.mark.parametrize("column", EVERY, ids=lambda column: column.name.replace(" ", "-"))
def test_a_request_is_judged_as_it_is_checked_and_built(column: AdapterColumn) -> None:
    target = replace(column.target, extra_fields=["size"], fixed={"seed": 7})
    good, bad = column.base, replace(column.base, output_format="glb")
    for request in (good, bad, replace(good, prompt="a fox --dur 10")):
        problems = expression.check(column.adapter, request, target)
        found = expression.judge(column.adapter, request, target)
        assert found == (problems or expression.build(column.adapter, request, target))


def test_a_declaration_is_of_its_modalities_only() -> None:
    assert refused(Declared(), replace(FULL, modality="3d")) == []


@pytest.mark.parametrize("column", EVERY, ids=lambda column: column.name.replace(" ", "-"))
def test_a_refusal_names_no_more_than_people_read(column: AdapterColumn) -> None:
    place = "extra_body" if column.base.modality == "image" else "provider_options"
    changes: dict[str, Any] = {place: {f"odd_{n}": n for n in range(1000)}}
    request = replace(column.base, **changes)
    assert len(expression.check(column.adapter, request, column.target)) == fields.MOST_NAMED


@pytest.mark.parametrize("column", list(columns("video")), ids=lambda column: column.name.replace(" ", "-"))
def test_an_option_with_an_odd_name_is_named_once(column: AdapterColumn) -> None:
    request = replace(column.base, provider_options={"a b": 1})
    named = [problem.field for problem in expression.check(column.adapter, request, column.target)]
    assert named == ['params.provider_options["a b"]']


def test_what_is_not_named_comes_before_what_the_adapter_says() -> None:
    adapter = registry.ADAPTERS["openai_images"]
    assert refused(adapter, image_request(duration=5, n=99)) == ["params.duration", "params.n"]
    assert refused(registry.ADAPTERS["ark_content_tasks"], video_request(n=2), video_target()) == ["params.n"]


def test_ours_declare_the_fields_of_their_modalities() -> None:
    fields = {"image": IMAGE, "video": VIDEO}
    for adapter in registry.ADAPTERS.values():
        declared = getattr(adapter, "expresses", {})
        more = {"mask"} if adapter.protocol == "openai_images" else set()
        assert declared == {modality: fields[modality] | more for modality in adapter.modalities}, adapter.protocol


@pytest.mark.parametrize("column", EVERY, ids=lambda column: column.name.replace(" ", "-"))
def test_a_mask_goes_out_or_rules_the_route_out(column: AdapterColumn) -> None:
    if column.base.modality == "video":
        assert refused(column.adapter, replace(column.base, mask=MASKED["mask"]), column.target) == ["params.mask"]
        return
    request = replace(column.base, **MASKED)
    if column.name not in TAKE_MASKS:
        assert refused(column.adapter, request, column.target) == ["params.mask"]
        return
    assert refused(column.adapter, request, column.target) == []
    built = [expression.build(column.adapter, each, column.target) for each in (request, replace(request, mask=None))]
    assert [part.image for part in built[0].files] == list(request.pictures)
    assert built[0].digest() != built[1].digest()


@pytest.mark.parametrize("column", [c for c in EVERY if c.name in TAKE_MASKS], ids=lambda column: column.name)
def test_a_mask_needs_an_image_and_is_given_once_and_as_a_type_that_is_taken(column: AdapterColumn) -> None:
    def named(capabilities: dict[str, Any], **changes: Any) -> list[str]:
        target = replace(column.target, capabilities=capabilities, extra_fields=["mask"])
        return refused(column.adapter, replace(column.base, **(MASKED | changes)), target)

    assert named({}, images=()) == ["params.mask"]
    assert named({}, extra_body={"mask": "a file"}) == ["params.extra_body.mask"]
    assert named({}, mask=ImageRef(stored=stored(content_type="image/gif"))) == ["params.mask"]
    assert named({"data_url": False}, images=(ImageRef(url=URL),)) == ["params.mask"]
    assert named({"data_url": False}, images=(ImageRef(url=URL),), mask=ImageRef(url=URL)) == []


@pytest.mark.usefixtures("image_model")
def test_no_task_is_taken_or_bought_that_its_adapter_does_not_express(
    key: IssuedKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    claimed = steps.start(key, steps.worker())
    monkeypatch.setattr(OpenAIImages, "expresses", {"image": IMAGE - {"image_size"}})
    (found,) = jobs.load([claimed])
    assert isinstance(found, jobs.RouteGone)
    assert "params.image_size" in str(found)
    snapshot.forget()  # what an adapter says changes with its code alone, in a new process
    with pytest.raises(NoCapableRoute, match=r"params\.image_size: cannot be expressed here"):
        steps.submitted(key)
