"""What is sent for a request by a template, and what a template cannot express."""

from dataclasses import replace
from typing import Any

import pytest

from adapters import expression
from adapters.base import Billed, FilePart, ImageRef, MediaInput, TaskRequest
from adapters.kit import inline
from tests.adapters.making import image_request, stored, video_request
from tests.adapters.template.templates import AT_ONCE, JOB, adapter, changed, target_of

LINK = ImageRef(url="https://pics.example.com/a.png")
OWN = ImageRef(stored=stored())
FLUX = "fal-ai/flux/dev"
KLING = "fal-ai/kling-video/v3"


def media(role: str, kind: str = "image", name: str = "a") -> MediaInput:
    return MediaInput(type=kind, role=role, url=f"https://pics.example.com/{name}")  # type: ignore[arg-type]


def built(template: object, request: TaskRequest, **capabilities: Any) -> Any:
    target = target_of(template, request.modality, model=capabilities.pop("model", "fox-1"), **capabilities)
    assert adapter.validate(target) == []
    assert adapter.check(request, target) == []
    return adapter.build(request, target)


def refused(template: object, request: TaskRequest, **capabilities: Any) -> list[str]:
    problems = adapter.check(request, target_of(template, request.modality, **capabilities))
    assert not any(word in problem.reason for problem in problems for word in ("fal", "template", "replicate"))
    return [problem.field for problem in problems]


def test_fal_draws() -> None:
    upstream = built("fal_image", image_request(n=2, aspect_ratio="16:9"), model=FLUX)
    assert upstream.path == "/fal-ai/flux/dev"
    assert upstream.body == {"prompt": "a fox", "num_images": 2, "image_size": {"width": 1344, "height": 768}}
    assert (upstream.billed, upstream.calls) == (Billed(count=2, tier="1K"), 1)


def test_fal_draws_with_everything() -> None:
    request = image_request(images=(LINK, OWN, LINK), extra_body={"seed": 7, "output_format": "jpeg"})
    upstream = built("fal_image", request, model=FLUX)
    assert upstream.body == {
        "prompt": "a fox",
        "num_images": 1,
        "image_size": {"width": 1024, "height": 1024},
        "image_urls": [LINK.url, inline.mark(0), LINK.url],
        "seed": 7,
        "output_format": "jpeg",
    }
    assert upstream.files == (FilePart(field="image", image=OWN),)


def test_without_a_size_none_is_sent_and_no_tier_billed() -> None:
    upstream = built("fal_image", image_request(image_size=None, aspect_ratio=None), model=FLUX)
    assert upstream.body == {"prompt": "a fox", "num_images": 1}
    assert upstream.billed == Billed(count=1, tier=None)


def test_with_only_a_ratio_the_first_tier_is_sent_and_billed() -> None:
    upstream = built("fal_image", image_request(image_size=None), tiers=["2K"], model=FLUX)
    assert upstream.body["image_size"] == {"width": 2048, "height": 2048}
    assert upstream.billed == Billed(count=1, tier="2K")


def test_fal_films() -> None:
    upstream = built("fal_video", video_request(), model=KLING)
    assert upstream.path == "/fal-ai/kling-video/v3"
    assert upstream.body == {
        "prompt": "a fox",
        "duration": 5,
        "resolution": "720p",
        "aspect_ratio": "16:9",
        "generate_audio": False,
    }
    assert upstream.billed == Billed(count=1, tier="720p")


def test_what_one_request_gives_is_not_in_the_next() -> None:
    body = {"text": "{prompt}", "more": {"mode": "fast"}, "list": [{"side": "{image_size}"}]}
    submit = {**AT_ONCE["submit"], "body": body}
    target = target_of(changed(AT_ONCE, submit=submit, options={"grain": "more.grain", "taste": "more.deep.taste"}))
    plain, given = image_request(), image_request(extra_body={"grain": 1, "taste": {"a": [1]}})
    sent = [adapter.build(request, target).body for request in (plain, given, plain)]
    assert sent[0] == sent[2] == {"text": "a fox", "more": {"mode": "fast"}, "list": [{"side": "1K"}]}
    assert sent[1]["more"] == {"mode": "fast", "grain": 1, "deep": {"taste": {"a": [1]}}}


def test_fal_films_between_frames() -> None:
    request = video_request(
        generate_audio=True,
        inputs=(media("first_frame"), media("last_frame", name="b")),
        provider_options={"cfg_scale": 0.5},
    )
    body = built("fal_video", request, model=KLING).body
    assert body["image_url"] == "https://pics.example.com/a"
    assert body["end_image_url"] == "https://pics.example.com/b"
    assert (body["generate_audio"], body["cfg_scale"]) == (True, 0.5)


def test_fal_films_by_references() -> None:
    inputs = (
        media("reference"),
        media("reference", name="b"),
        media("reference", "video"),
        media("reference", "audio"),
    )
    body = built("fal_video", video_request(inputs=inputs), model=KLING).body
    assert body["reference_image_urls"] == ["https://pics.example.com/a", "https://pics.example.com/b"]
    assert body["reference_video_urls"] == body["reference_audio_urls"] == ["https://pics.example.com/a"]


@pytest.mark.parametrize("template", ["fal_image", "replicate_image"])
def test_an_upload_that_cannot_be_sent_is_refused(template: str) -> None:
    gif = ImageRef(stored=stored(content_type="image/gif"))
    assert refused(template, image_request(images=(LINK, gif))) == ["params.images[1].image_url"]


def test_replicate_draws() -> None:
    request = image_request(n=3, images=(LINK,), extra_body={"seed": 7})
    upstream = built("replicate_image", request, model="black-forest-labs/flux-3")
    assert upstream.path == "/models/black-forest-labs/flux-3/predictions"
    assert upstream.body == {
        "input": {
            "prompt": "a fox",
            "num_outputs": 3,
            "width": 1024,
            "height": 1024,
            "input_images": [LINK.url],
            "seed": 7,
        }
    }


def test_replicate_films() -> None:
    request = video_request(inputs=(media("first_frame"),))
    upstream = built("replicate_video", request, model="wan-video/wan-3", audio="never")
    assert upstream.path == "/models/wan-video/wan-3/predictions"
    assert upstream.body == {
        "input": {
            "prompt": "a fox",
            "duration": 5,
            "resolution": "720p",
            "aspect_ratio": "16:9",
            "image": "https://pics.example.com/a",
        }
    }


def test_replicate_runs_a_version() -> None:
    template = {"extends": "replicate_image", "submit": {"path": "/predictions", "body": {"version": "{model}"}}}
    upstream = built(template, image_request(), model="5c7d5dc6")
    assert (upstream.path, upstream.body["version"]) == ("/predictions", "5c7d5dc6")
    assert upstream.body["input"]["prompt"] == "a fox"


def test_a_model_names_its_input_its_own_way() -> None:
    upstream = built(
        "fal_image",
        image_request(n=3, images=(LINK,)),
        size_table=None,
        tiers=["1K"],
        max_images=1,
        input={
            "num_images": None,
            "image_size": None,
            "image_urls": None,
            "image_url": "{image}",
            "mode": "fast",
            "aspect_ratio": "{aspect_ratio}",
            "caption": "{prompt}, as {aspect_ratio}",
        },
        maps={"aspect_ratio": {"1:1": "square"}},
    )
    assert upstream.body == {
        "prompt": "a fox",
        "image_url": LINK.url,
        "mode": "fast",
        "aspect_ratio": "square",
        "caption": "a fox, as square",
    }
    assert (upstream.calls, upstream.billed) == (3, Billed(count=3, tier="1K"))


def test_a_length_is_sent_as_the_provider_wants_it() -> None:
    for maps, duration, sent in [
        ({}, "{duration}", 8),
        ({}, "{duration}s", "8s"),
        ({"duration": {"8": "8"}}, "{duration}", "8"),
    ]:
        upstream = built("fal_video", video_request(duration=8), input={"duration": duration}, maps=maps, model=KLING)
        assert upstream.body["duration"] == sent, (maps, duration)


def test_sound_is_said_in_so_many_words() -> None:
    for audio, wish, sent in [
        ("switch", None, False),
        ("switch", True, True),
        ("switch", False, False),
        ("always", None, True),
        ("always", True, True),
        ("never", None, None),
        ("never", False, None),
    ]:
        body = built("fal_video", video_request(generate_audio=wish), audio=audio, model=KLING).body
        assert body.get("generate_audio") is sent, (audio, wish)


def test_a_fixed_value_needs_no_place_in_the_body() -> None:
    template = changed(JOB, submit={"path": "/films", "body": {"prompt": "{prompt}"}})
    fixed = {"durations": [5], "resolutions": ["720p"], "ratios": ["16:9"], "audio": "always"}
    assert built(template, video_request(generate_audio=True), **fixed).body == {"prompt": "a fox"}
    assert refused(template, video_request(duration=6), **fixed) == ["params.duration"]


def test_options_go_where_the_template_says() -> None:
    template = AT_ONCE | {"options": {"seed": "settings.seed", "style": "style"}}
    plain = image_request(image_size=None, aspect_ratio=None, extra_body={"seed": 1, "style": "ink"})
    body = built(template, plain).body
    assert (body["settings"], body["style"]) == ({"seed": 1}, "ink")


def test_a_model_adds_options_of_its_own() -> None:
    request = image_request(extra_body={"seed": 1, "strength": 0.4})
    assert built("replicate_image", request, options=["strength"]).body["input"]["strength"] == 0.4


def test_extra_body_goes_to_the_root_and_wins() -> None:
    upstream = built("fal_image", image_request(extra_body={"prompt": "an owl", "unheard_of": {"a": 1}}), model=FLUX)
    assert upstream.body == {
        "prompt": "an owl",
        "num_images": 1,
        "image_size": {"width": 1024, "height": 1024},
        "unheard_of": {"a": 1},
    }


def test_a_count_of_extra_body_is_billed_where_the_template_has_its_own() -> None:
    for template, extra, field in [
        ("fal_image", {"num_images": 4}, "params.extra_body.num_images"),
        ("replicate_image", {"input": {"prompt": "x", "num_outputs": 4}}, "params.extra_body.input.num_outputs"),
    ]:
        billed = built(template, image_request(extra_body=extra)).billed
        assert (billed.count, billed.count_field) == (4, field), template
    mapped = {"maps": {"n": {"1": "one", "4": "four"}}}
    assert built("fal_image", image_request(extra_body={"num_images": "four"}), **mapped).billed.count == 4


def test_a_size_of_extra_body_is_billed_by_the_final_tier() -> None:
    for size, tier in [
        ({"width": 2048, "height": 2048}, "2K"),
        ({"width": 1100, "height": 1100}, "2K"),
        ({"width": 4096, "height": 4096}, None),
    ]:
        upstream = built("fal_image", image_request(extra_body={"image_size": size}))
        assert (upstream.body["image_size"], upstream.billed.tier) == (size, tier), size
    by_name = {"input": {"image_size": "{image_size}"}, "maps": {"image_size": {"1K": "1024", "2K": "2048"}}}
    for word, tier in [("2048", "2K"), (5, None)]:
        request = image_request(aspect_ratio=None, extra_body={"image_size": word})
        assert built("fal_image", request, **by_name).billed.tier == tier, word


def test_another_form_of_an_object_passes_where_the_operator_opens_it() -> None:
    request, target = image_request(extra_body={"image_size": "square_hd"}), target_of("fal_image", "image")
    (problem,) = expression.check(adapter, request, target)
    assert (problem.field, problem.is_illegal) == ("params.extra_body.image_size", True)
    opened = replace(target, extra_fields=["image_size"])
    assert expression.check(adapter, request, opened) == []
    assert expression.build(adapter, request, opened).billed.tier is None
    whole = image_request(extra_body={"input": "an owl"})
    assert refused("replicate_image", whole) == ["params.extra_body.input.num_outputs", "params.extra_body.input"]


SQUARES = {"size_table": {"1K": {"1:1": "1024x1024"}, "2K": {"1:1": "2048x2048"}}}


def at_once(body: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A template of pictures with this body."""
    submit = {"path": "/go", "body": {"text": "{prompt}", **body}}
    return changed(AT_ONCE, submit=submit, options={}, **more)


def test_a_count_at_two_places_is_billed_by_the_larger() -> None:
    twice = at_once({"n": "{n}", "opts": {"count": "{n}"}})
    for extra, count, field in [
        ({"n": 1, "opts": {"count": 4}}, 4, "params.extra_body.opts.count"),
        ({"n": 1}, 2, "params.n"),
        ({"n": 3}, 3, "params.extra_body.n"),
    ]:
        billed = built(twice, image_request(n=2, image_size=None, aspect_ratio=None, extra_body=extra)).billed
        assert (billed.count, billed.count_field) == (count, field), extra


def test_a_size_that_is_said_twice_bills_no_tier_unless_both_agree() -> None:
    by_name = at_once({"a": "{image_size}", "b": {"size": "{image_size}"}})
    by_both = at_once({"size": "{size}", "tier": "{image_size}"})
    for template, extra, tier in [
        (by_name, {"a": "2K"}, None),
        (by_name, {"a": "2K", "b": {"size": "2K"}}, "2K"),
        (by_both, {"size": "2048x2048"}, None),
        (by_both, {"size": "2048x2048", "tier": "2K"}, "2K"),
    ]:
        request = image_request(aspect_ratio=None, extra_body=extra)
        assert built(template, request, tiers=["1K", "2K"], **SQUARES).billed.tier == tier, extra


def test_a_tier_that_extra_body_stands_for_is_not_judged() -> None:
    request = image_request(image_size="8K", extra_body={"size": "2048x2048"})
    assert built(at_once({"size": "{size}"}), request, tiers=["1K", "2K", "8K"], **SQUARES).billed.tier == "2K"


def test_a_constant_may_be_said_again_and_a_listed_count_stands_in_its_object() -> None:
    plain = {"image_size": None, "aspect_ratio": None}
    fixed = at_once({"input": {"words": "{prompt}", "num_outputs": 1, "tools": []}})
    whole = {"words": "an owl", "num_outputs": 1, "tools": []}
    assert built(fixed, image_request(**plain, extra_body={"input": whole})).body["input"] == whole
    for change, field in [({"num_outputs": 2}, "num_outputs"), ({"tools": [{"type": "search"}]}, "tools")]:
        request = image_request(**plain, extra_body={"input": whole | change})
        assert refused(fixed, request) == [f"params.extra_body.input.{field}"], change
    listed = at_once({"input": {"x": "{aspect_ratio}"}}) | {"options": {"batch_size": "input.batch_size"}}
    built(listed, image_request(image_size=None, extra_body={"input": {"x": "1:1", "batch_size": 2}}))


def test_an_object_of_extra_body_replaces_the_derived_one_and_its_pictures() -> None:
    given = {"prompt": "an owl", "num_outputs": 1, "width": 1024, "height": 1024}
    request = image_request(images=(OWN,), extra_body={"input": given, "seed": 7})
    upstream = built("replicate_image", request)
    assert upstream.body == {"input": {**given, "seed": 7}}
    assert (upstream.files, given) == ((), {"prompt": "an owl", "num_outputs": 1, "width": 1024, "height": 1024})


def test_what_an_object_of_extra_body_may_not_do() -> None:
    """Leave the number open, take away what the operator set, change the model, or hold what would be dropped."""
    version = {"extends": "replicate_image", "submit": {"path": "/predictions", "body": {"version": "{model}"}}}
    inner = {"extends": "replicate_image", "submit": {"path": "/predictions", "body": {"input": {"model": "{model}"}}}}
    whole = {"prompt": "an owl", "num_outputs": 1}
    for template, extra, capabilities, field in [
        ("replicate_image", {"input": {"prompt": "an owl"}}, {}, "input.num_outputs"),
        ("replicate_image", {"input": whole | {"batch_size": 4}}, {}, "input.batch_size"),
        ("replicate_image", {"input": whole | {"num_outputs": 9}}, {"max_n": 8}, "input.num_outputs"),
        ("replicate_image", {"input": whole | {"seed": 1}, "seed": 2}, {}, "seed"),
        ("replicate_image", {"input": whole}, {"input": {"mode": "fast"}}, "input.mode"),
        ("fal_image", {"mode": "slow"}, {"input": {"mode": "fast"}}, "mode"),
        ("fal_image", {"num_images": 4}, {"input": {"num_images": None}}, "num_images"),
        (version, {"version": "other"}, {}, "version"),
        (inner, {"input": whole | {"model": "other"}}, {}, "input.model"),
        (at_once({"say": "make {n}"}), {"say": 4}, {}, "say"),
        (at_once({"req": [{"n": "{n}"}]}), {"req": [{"n": 1}]}, {}, "req[0].n"),
        (at_once({"ep": {"run": "{model}/{image}"}}), {"ep": {"run": "x"}}, {}, "ep.run"),
        (at_once({"count": "{n}"}, maps={"n": {"1": "one", "two": "zwei"}}), {"count": "zwei"}, {}, "count"),
        (at_once({"shape": "{aspect_ratio}"}), {"numImages": 4}, {}, "numImages"),
        (at_once({"image_size": "{aspect_ratio}"}), {"image_size": "4096x4096"}, {}, "image_size"),
        (at_once({}) | {"options": {"seed": "input.x.seed"}}, {"seed": 1, "input": {"x": 5}}, {}, "input"),
    ]:
        sized = {} if isinstance(template, str) else {"image_size": None, "aspect_ratio": None}
        request = image_request(**sized, extra_body=extra)
        assert refused(template, request, **capabilities) == [f"params.extra_body.{field}"], (template, extra)


def test_what_cannot_be_expressed_is_refused() -> None:
    for template, request_, capabilities, fields in [
        (AT_ONCE, video_request(), {}, ["modality"]),
        (JOB, image_request(), {}, ["modality"]),
        (AT_ONCE, image_request(), {}, ["params.image_size", "params.aspect_ratio"]),
        ("fal_image", image_request(n=11), {}, ["params.n"]),
        ("fal_image", image_request(image_size="4K"), {}, ["params.image_size"]),
        ("fal_image", image_request(image_size="2K", aspect_ratio="16:9"), {}, ["params.aspect_ratio"]),
        ("fal_image", image_request(image_size="2K"), {"tiers": ["1K"]}, ["params.image_size"]),
        ("fal_image", image_request(), {"size_table": None}, ["params.image_size"]),
        ("fal_image", image_request(images=(LINK,) * 17), {}, ["params.images"]),
        ("fal_image", image_request(extra_body={"webhook": 1}), {}, ["params.extra_body.webhook"]),
        ("fal_image", image_request(extra_body={"num_images": 0}), {}, ["params.extra_body.num_images"]),
        ("fal_image", image_request(extra_body={"num_images": 11}), {}, ["params.extra_body.num_images"]),
        ("fal_image", image_request(extra_body={"num_images": "4"}), {}, ["params.extra_body.num_images"]),
        ("fal_image", image_request(extra_body={"version": "x"}), {}, ["params.extra_body.version"]),
        ("fal_image", image_request(extra_body={"a": [{"count": 2}]}), {}, ["params.extra_body.a[0].count"]),
        ("fal_image", image_request(extra_body={"n": 4}), {}, ["params.extra_body.n"]),
        ("fal_image", image_request(), {"maps": {"n": {"2": 2}}}, ["params.n"]),
        ("fal_image", image_request(images=(LINK,)), {"input": {"image_urls": None}}, ["params.images"]),
        ("fal_image", image_request(images=(LINK,) * 2), {"input": {"image_urls": "{image}"}}, ["params.images"]),
        ("fal_image", image_request(), {"input": {"prompt": None}}, ["params.prompt"]),
        (JOB, video_request(generate_audio=True), {}, ["params.generate_audio"]),
        (JOB, video_request(generate_audio=False), {}, ["params.generate_audio"]),
        (JOB, video_request(generate_audio=True), {"audio": "never"}, ["params.generate_audio"]),
        (JOB, video_request(generate_audio=False), {"audio": "always"}, ["params.generate_audio"]),
        (JOB, video_request(inputs=(media("first_frame"),)), {}, ["params.inputs[0].role"]),
        (JOB, video_request(provider_options={"seed": 1}), {}, ["params.provider_options.seed"]),
        ("fal_video", video_request(duration=7), {"maps": {"duration": {"5": "5s"}}}, ["params.duration"]),
        ("fal_video", video_request(), {"input": {"duration": None}}, ["params.duration"]),
        ("fal_video", video_request(), {"input": {"resolution": None}}, ["params.resolution"]),
        ("fal_video", video_request(), {"input": {"aspect_ratio": None}}, ["params.aspect_ratio"]),
        (
            "fal_video",
            video_request(inputs=(media("reference"), media("reference"))),
            {"input": {"reference_image_urls": None, "ref": "{reference_image}"}},
            ["params.inputs[1].role"],
        ),
        ("fal_video", video_request(inputs=(media("last_frame"),)), {}, ["params.inputs[0].role"]),
    ]:
        assert refused(template, request_, **capabilities) == fields, (template, request_, capabilities, fields)


def test_options_without_a_usable_template_refuse_and_do_not_break() -> None:
    for options in [{}, {"template": "gone"}, {"template": {"modalities": ["image"]}}, {"template": 5}]:
        assert adapter.check(image_request(), replace(target_of("fal_image"), options=options)) != [], options


def test_the_digest_tells_requests_apart() -> None:
    one, other = (built("fal_image", image_request(n=n)) for n in (1, 2))
    assert one.digest() != other.digest()


def test_attaching_builds_the_addresses_of_a_job() -> None:
    fal = adapter.attach("r/1", target_of("fal_video", "video", model="fal-ai/veo3/fast"))
    assert fal["status"] == "/fal-ai/veo3/requests/r%2F1/status"
    assert fal["result"] == "/fal-ai/veo3/requests/r%2F1"
    assert adapter.attach("r1", target_of(JOB, "video")) == {"id": "r1"}


def test_what_cannot_be_attached_is_said() -> None:
    for template in [
        AT_ONCE,
        changed(JOB, status=JOB["status"] | {"url": "job.url"}),
        {"extends": "fal_image", "attach": None},
    ]:
        with pytest.raises(ValueError):
            adapter.attach("r1", target_of(template))


def test_no_bad_id_is_attached() -> None:
    for name in ["", "x" * 1025, "a\n", "ü"]:
        with pytest.raises(ValueError):
            adapter.attach(name, target_of("fal_image"))


def test_how_long_the_paid_call_may_take() -> None:
    for template, seconds in [
        (JOB, 120.0),
        (AT_ONCE, None),
        (AT_ONCE | {"submit": AT_ONCE["submit"] | {"seconds": 30}}, 30),
    ]:
        assert adapter.submit_seconds(target_of(template)) == seconds, template
