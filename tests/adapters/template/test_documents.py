"""docs/templates.md says what is true."""

import re
from typing import Any

import pytest
import yaml

from adapters.base import Target
from adapters.template import fill as template_fill
from adapters.template import form as template_form
from adapters.template import schema as template_schema
from tests.adapters.making import video_request
from tests.adapters.template.templates import adapter
from tools.stack import ROOT

TEXT = (ROOT / "docs" / "templates.md").read_text()
CHANNELS = [
    channel
    for block in re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    for channel in yaml.safe_load(block).get("channels", [])
]


def target_of(channel: dict[str, Any]) -> Target:
    (model,) = channel["models"]
    return Target(
        adapter=channel["adapter"],
        base_url=channel["base_url"],
        upstream_model=model["upstream_model"],
        capabilities=model.get("capabilities", {}),
        options=channel["options"],
    )


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda channel: channel["name"])
def test_the_examples_are_good_templates(channel: dict[str, Any]) -> None:
    assert adapter.validate(target_of(channel)) == []


def test_the_worked_example_does_what_the_page_says() -> None:
    target = target_of(CHANNELS[-1])
    body = adapter.build(video_request(duration=10, provider_options={"seed": 7}), target).body
    assert body == {"model": "small-2", "text": "a fox", "seconds": 10, "quality": "hd", "shape": "16:9", "seed": 7}
    for refused in ({"generate_audio": True}, {"duration": 7}, {"resolution": "480p"}):
        assert [problem.field for problem in adapter.check(video_request(**{"duration": 5} | refused), target)] == [
            f"params.{name}" for name in refused
        ]


def test_every_key_placeholder_kind_and_shipped_template_is_told() -> None:
    keys = {"extends"}
    for name, form in template_schema.FORM.items():
        keys |= {f"{name}.{key}" for key in form} if isinstance(form, dict) else {name}
    prose = re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL)
    told = set(re.findall(r"`([^`]+)`", prose))
    names = {f"{{{name}}}" for modality in template_fill.NAMES.values() for name in modality}
    assert keys | names | set(template_form.KINDS) | set(template_form.shipped()) <= told
