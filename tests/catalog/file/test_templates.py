"""Described providers in the catalog: the same in the file and in the admin."""

from collections.abc import Iterable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from adapters import registry
from adapters.template.adapter import HttpTemplate
from catalog.file.load import CatalogFileError, load
from catalog.models import Channel, MediaModel
from desk.channel_page import values
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


def rows(name: str, columns: tuple[str, ...], cells: Iterable[tuple[str, ...]]) -> dict[str, str]:
    """Rows of a form, as a page sends them."""
    numbered = ((number, zip(columns, row, strict=True)) for number, row in enumerate(cells))
    return {f"{name}-{number}-{column}": cell for number, row in numbered for column, cell in row}


def added(desk: Client, options: Any) -> Any:
    """The answer to a new channel, as the admin's page sends it."""
    counts = {"credentials-TOTAL_FORMS": 0, "credentials-INITIAL_FORMS": 0}
    channel = {"name": "fal", "adapter": "http_template", "base_url": "https://queue.fal.run", "max_running": ""}
    template = options["template"]
    own = {} if isinstance(template, str) else rows("options-template-own", ("path", "value"), values.flat(template))
    named = {"options-template": template} if isinstance(template, str) else {}
    return desk.post(reverse("admin:catalog_channel_add"), channel | {"enabled": "on"} | counts | own | named)


def offered(desk: Client, model: MediaModel, capabilities: Any) -> Any:
    """The answer to the page that gives that channel the model."""
    page = f"{reverse('admin:catalog_channelmodel_add')}?channel={Channel.objects.get(name='fal').pk}"
    sizes = values.sizes_shown(capabilities.get("size_table", {}))
    said = rows("capabilities-size_table", ("tier", "ratio", "size"), sizes)
    said |= rows("capabilities-input", ("path", "value"), values.flat(capabilities.get("input", {})))
    return desk.post(page, {"model": str(model.pk), "upstream_model": "gpt-image-2", "enabled": "on"} | said)


@pytest.mark.parametrize("text", [BY_NAME, INLINE])
def test_a_template_in_the_file_is_one_in_the_admin_too(desk: Client, text: str) -> None:
    load(text, environment={})
    assert load(text, environment={}).changed == []
    studio = Channel.objects.get(name="studio")
    model = MediaModel.objects.get(name="aurora-image")
    capabilities = studio.channel_models.get().capabilities
    assert added(desk, studio.options).status_code == 302
    fal = Channel.objects.get(name="fal")
    assert fal.options == studio.options
    assert offered(desk, model, capabilities).status_code == 302
    assert fal.channel_models.get().capabilities == capabilities


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
    response = added(desk, {"template": {"modalities": ["image"]}})
    assert response.status_code == 200
    assert "options.template.submit: is needed" in response.content.decode()
    assert not Channel.objects.filter(name="fal").exists()
