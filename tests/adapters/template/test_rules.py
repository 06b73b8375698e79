"""What is said of a template when it is saved."""

from dataclasses import replace
from typing import Any

from adapters.template.form import shipped
from tests.adapters.template.templates import AT_ONCE, JOB, adapter, changed, target_of

SHIPPED = ("fal_image", "fal_video", "replicate_image", "replicate_video")


def modality_of(template: object) -> str:
    if isinstance(template, str):
        return template.partition("_")[2]
    return template["modalities"][0]  # type: ignore[index,no-any-return]


def complaints(template: object, **capabilities: Any) -> list[str]:
    return adapter.validate(target_of(template, modality_of(template), **capabilities))


def body(**fields: Any) -> dict[str, Any]:
    return {"path": "/draw", "body": {"prompt": "{prompt}"} | fields}


def test_what_is_shipped() -> None:
    assert shipped() == sorted(SHIPPED)


def test_a_good_template_passes() -> None:
    for template in [*SHIPPED, AT_ONCE, JOB]:
        assert complaints(template) == [], template


def test_a_shipped_template_can_be_extended() -> None:
    own = {"extends": "replicate_image", "submit": {"path": "/predictions", "body": {"version": "{model}"}}}
    target = target_of(own)
    assert adapter.validate(target) == []
    assert adapter.validate(replace(target, options={"template": own, "poll_seconds": 1})) == []


def test_a_channel_model_says_what_its_input_is_called() -> None:
    renamed = {"image_size": None, "resolution": "{image_size}", "aspect_ratio": "{aspect_ratio}"}
    assert complaints("fal_image", input=renamed, size_table=None) == []
    assert complaints("replicate_image", input={"num_outputs": None}, maps={"image_size": {"1K": "1 MP"}}) == []
    assert complaints("fal_image", options=["style"], maps={"aspect_ratio": {"1:1": "square"}}) == []


def test_what_is_no_template_is_said_so() -> None:
    for template in [None, 5, [], "fal", "../fal_image", {"extends": "nothing"}, {"extends": {}}]:
        (complaint,) = adapter.validate(replace(target_of("fal_image"), options={"template": template}))
        assert complaint.startswith("options.template: "), template


def test_a_part_that_is_needed_is_missed() -> None:
    for name in ["modalities", "submit", "result", "probe"]:
        assert f"options.template.{name}: is needed" in adapter.validate(target_of(changed(AT_ONCE, **{name: None})))


def test_a_bad_part_is_named() -> None:
    for parts, start in [
        ({"sumbit": {}}, "options.template.sumbit: unknown"),
        ({"modalities": ["3d"]}, "options.template.modalities: must be"),
        ({"modalities": []}, "options.template.modalities: must be"),
        ({"submit": []}, "options.template.submit: must be an object"),
        ({"submit": {"path": "draw"}}, "options.template.submit.path: must be"),
        ({"submit": {"path": "https://evil.example/draw"}}, "options.template.submit.path: must be"),
        ({"submit": {"body": {}}}, "options.template.submit.path: is needed"),
        ({"submit": {"path": "/a", "method": "GET"}}, "options.template.submit.method: must be"),
        ({"submit": {"path": "/a", "seconds": 0}}, "options.template.submit.seconds: must be"),
        ({"submit": {"path": "/{id}"}}, "options.template.submit.path: unknown {id}"),
        ({"submit": body(x="{promt}")}, "options.template.submit.body.x: unknown {promt}"),
        ({"submit": body(x=[{"y": "{duration}"}])}, "options.template.submit.body.x[0].y: unknown {duration}"),
        ({"submit": body(x="see {images}")}, "options.template.submit.body.x: {images} must stand alone"),
        ({"submit": body(api_key="{prompt}")}, "options.template.submit.body.api_key: looks like a credential"),
        ({"submit": {"path": "/a?key=abc"}}, "options.template.submit.path: looks like a credential"),
        ({"probe": "/a?access_token=abc"}, "options.template.probe: looks like a credential"),
        ({"probe": "/{model}"}, "options.template.probe: unknown {model}"),
        ({"headers": {"Authorization": "Bearer sk-1"}}, "options.template.headers.Authorization: looks like"),
        ({"headers": {"X-Api-Key": "abc"}}, "options.template.headers.X-Api-Key: looks like"),
        ({"headers": {"Authorization": "Key {api_key} and abc"}}, "options.template.headers.Authorization: looks"),
        ({"headers": {"X-Tenant": "a1b2c3d4e5f6a7b8c9d0e1f2a3b4"}}, "options.template.headers.X-Tenant: looks like"),
        ({"headers": {"X": 5}}, "options.template.headers: must be"),
        ({"result": {"outputs": "a", "url": "b"}}, "options.template.result.url: needs id"),
        ({"result": {}}, "options.template.result.outputs: is needed"),
        ({"result": {"outputs": "$..url"}}, "options.template.result.outputs: must be a path"),
        ({"result": {"outputs": []}}, "options.template.result.outputs: must be a path"),
        ({"result": {"outputs": "a", "kind": "3d"}}, "options.template.result.kind: must be"),
        ({"modalities": ["image", "video"]}, "options.template.result.kind: is needed"),
        ({"status": {"url": "/a"}}, "options.template.status: needs id"),
        ({"poll_seconds": 5}, "options.template.poll_seconds: needs id"),
        ({"error": {"map": {"x": "bad"}}}, "options.template.error.map: must be"),
        ({"error": {"texts": [{"contains": "x", "kind": "auth"}]}}, "options.template.error.texts: must be"),
        ({"error": {"texts": [{"contains": "", "kind": "transient"}]}}, "options.template.error.texts: must be"),
        ({"error": {"gone": ["x"]}}, "options.template.error.gone: needs"),
        ({"hosts": ["https://x"]}, "options.template.hosts: must be"),
        ({"hosts": ["*"]}, "options.template.hosts: must be"),
        ({"options": ["n"]}, "options.template.options.n: is the service's"),
        ({"options": {"x": "a.b[0]"}}, "options.template.options: must be"),
        ({"options": {"count": "n"}}, "options.template.options.count: n is filled by the body"),
        ({"submit": body(x=5), "options": ["x"]}, "options.template.options.x: x is filled by the body"),
        ({"submit": body(x=5), "options": {"y": "x.y"}}, "options.template.options.y: x.y is filled by the body"),
        ({"submit": body(x=[{"z": 1}]), "options": {"y": "x.y"}}, "options.template.options.y: x.y is filled"),
        ({"options": {"x": "a", "y": "a.b"}}, "options.template.options.y: a.b is filled by the option x"),
        ({"options": {"x": "a", "y": "a"}}, "options.template.options.y: a is filled by the option x"),
        ({"maps": {"size": "x"}}, "options.template.maps: must be"),
        ({"maps": {"duration": {"5": 5}}}, "options.template.maps.duration: is no placeholder"),
        ({"input_at": "input"}, "options.template.input_at: must be the path"),
        ({"fan_out": "yes"}, "options.template.fan_out: must be"),
    ]:
        found = adapter.validate(target_of(changed(AT_ONCE, **parts)))
        assert any(complaint.startswith(start) for complaint in found), found


def test_a_bad_part_of_a_job_is_named() -> None:
    for parts, start in [
        ({"status": {"url": "/a"}}, "options.template.status.path: is needed with id"),
        ({"status": None}, "options.template.status.url: is needed with id"),
        ({"status": JOB["status"] | {"url": "/{model}/{id}"}}, "options.template.status.url: unknown {model}"),
        ({"status": JOB["status"] | {"url": "ftp://x"}}, "options.template.status.url: must be"),
        ({"status": JOB["status"] | {"map": {"x": "done"}}}, "options.template.status.map: must be"),
        ({"result": {"b64": "x", "outputs": "y"}}, "options.template.result.b64: is only for answers at once"),
        ({"cancel": {"url": "/x", "when": ["succeeded"]}}, "options.template.cancel.when: must be"),
        ({"status": JOB["status"] | {"url": "/films"}}, "options.template.status.url: must have {id}"),
        ({"cancel": {"method": "DELETE"}}, "options.template.cancel.url: is needed"),
        ({"attach": {"status": "status_url"}}, "options.template.attach.status: must be"),
        ({"poll_seconds": 0}, "options.template.poll_seconds: must be"),
    ]:
        found = adapter.validate(target_of(changed(JOB, **parts), "video"))
        assert any(complaint.startswith(start) for complaint in found), found


def test_a_bad_capability_is_named() -> None:
    for capabilities, start in [
        ({"size_table": None}, "capabilities.size_table: is needed"),
        ({"input": "x"}, "capabilities.input: must be"),
        ({"input": {"x": "{nothing}"}}, "options.template.submit.body.x: unknown {nothing}"),
        ({"maps": {"n": 5}}, "capabilities.maps: must be"),
        ({"options": ["num_images"]}, "options.template.options.num_images: num_images is filled by the body"),
        ({"options": {"wide": "image_size.width"}}, "options.template.options.wide: image_size.width is filled"),
        ({"options": {"all": "image_size"}}, "options.template.options.all: image_size is filled"),
        ({"durations": [5]}, "capabilities.durations: unknown"),
        ({"max_n": 0}, "capabilities.max_n: must be"),
    ]:
        found = complaints("fal_image", **capabilities)
        assert any(complaint.startswith(start) for complaint in found), found


def test_no_value_at_all_breaks_validation() -> None:
    for value in [None, "x", -1, 0, 1.5, [], {}, [1], [None], {"a": None}, {"min": "x"}, True]:
        for base in (AT_ONCE, JOB):
            for name in [*base, "headers", "options", "maps", "hosts", "file_hosts", "input_at", "pictures", "cancel"]:
                template = base | {name: value}
                assert isinstance(adapter.validate(target_of(template, size_table=None)), list), value
                for key in base.get(name, ()) if isinstance(base.get(name), dict) else ():
                    assert isinstance(adapter.validate(target_of(base | {name: base[name] | {key: value}})), list)
        for name in ("input", "maps", "options", "size_table"):
            assert isinstance(complaints("fal_image", **{name: value}), list), value
