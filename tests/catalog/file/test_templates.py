"""Described providers in the catalog: the same in the file and in the admin."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from adapters import registry
from adapters.template.adapter import HttpTemplate
from catalog.file.load import CatalogFileError, load
from catalog.models import Channel, MediaModel
from tests.catalog.conftest import FILE

pytestmark = pytest.mark.django_db

TEMPLATE = """
      template:
        modalities: [image]
        headers: {X-Key: "{api_key}"}
        submit:
          path: "/draw"
          body: {model: "{model}", prompt: "{prompt}", size: "{image_size}", ratio: "{aspect_ratio}"}
        fan_out: true
        result: {outputs: "pictures[].url"}
        probe: /account
"""
CHANNEL = FILE.replace("adapter: stub_images", "adapter: http_template")
BY_NAME = CHANNEL.replace("options: {}", "options: {template: fal_image}").replace(
    "capabilities: {}", 'capabilities: {size_table: {"1K": {"1:1": 1024x1024}}, input: {num_images: null}}'
)
INLINE = CHANNEL.replace("options: {}", f"options:{TEMPLATE}")


@pytest.fixture(autouse=True)
def _with_templates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.ADAPTERS, "http_template", HttpTemplate())


@pytest.fixture
def desk(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("operator"))
    return client


def written(desk: Client, model: MediaModel, options: Any, capabilities: Any) -> Any:
    """The answer to a new channel with one model, as the admin's page sends it."""
    offer = {"model": model.pk, "upstream_model": "gpt-image-2", "capabilities": json.dumps(capabilities), "cost": ""}
    counts = {"channel_models-TOTAL_FORMS": 1, "channel_models-INITIAL_FORMS": 0}
    counts |= {"credentials-TOTAL_FORMS": 0, "credentials-INITIAL_FORMS": 0}
    channel = {"name": "fal", "adapter": "http_template", "base_url": "https://queue.fal.run", "max_running": ""}
    inline = {f"channel_models-0-{name}": value for name, value in (offer | {"enabled": "on"}).items()}
    form = channel | {"options": json.dumps(options), "enabled": "on"} | counts | inline
    return desk.post(reverse("admin:catalog_channel_add"), form)


@pytest.mark.parametrize("text", [BY_NAME, INLINE])
def test_a_template_in_the_file_is_one_in_the_admin_too(desk: Client, text: str) -> None:
    load(text, environment={})
    assert load(text, environment={}).changed == []
    studio = Channel.objects.get(name="studio")
    model = MediaModel.objects.get(name="aurora-image")
    capabilities = studio.channel_models.get().capabilities
    assert written(desk, model, studio.options, capabilities).status_code == 302
    assert Channel.objects.get(name="fal").options == studio.options


BAD = [
    ('path: "/draw"', "path: draw", "submit.path"),
    ("{model}", "{modle}", "submit.body.model"),
    ("pictures[].url", "pictures[", "result.outputs"),
    ("{api_key}", "sk-1234567890", "headers.X-Key"),
]


def test_a_bad_template_is_refused_by_its_path() -> None:
    for old, new, place in BAD:
        with pytest.raises(CatalogFileError) as caught:
            load(INLINE.replace(old, new), environment={})
        problems = caught.value.problems
        assert any(problem.startswith(f"channels[0].options.template.{place}") for problem in problems), problems
        assert "sk-1234567890" not in str(problems)


def test_a_bad_template_is_refused_in_the_admin_too(desk: Client) -> None:
    load(INLINE, environment={})
    response = written(desk, MediaModel.objects.get(name="aurora-image"), {"template": {"modalities": ["image"]}}, {})
    assert response.status_code == 200
    assert "options.template.submit: is needed" in response.content.decode()
    assert not Channel.objects.filter(name="fal").exists()
