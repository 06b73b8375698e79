"""A masked edit, from the stored files to the provider that looks at them."""

from typing import Any

import pytest

from catalog.models import CatalogVersion, Channel
from sandbox.server import Sandbox
from tests.rows import IssuedKey
from tests.storage.samples import picture
from tests.tasks import steps
from tests.tasks.request.param_requests import data_url
from tests.worker.driving import Shift, call, task

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("image_model")]

WHOLE = {"image_url": data_url(content=picture("PNG"))}
TORN = {"image_url": data_url()}  # a PNG by its first bytes, and nothing behind them


def edited(key: IssuedKey, mask: Any) -> str:
    return steps.submitted(key, params={"prompt": "a fox", "images": [WHOLE]}, mask=mask)


def test_the_provider_gets_the_mask_as_a_file(shift: Shift, key: IssuedKey, sandbox: Sandbox) -> None:
    good, bad = edited(key, WHOLE), edited(key, TORN)
    assert shift.work(good) == "succeeded"
    assert task(good).actual_micros == 40_000
    assert shift.work(bad) == "TASK_UPSTREAM_REJECTED"
    assert "'mask'" in call(bad).outcome["message"]
    assert sandbox.audit()["by_prompt"] == {"a fox": 1}


def test_a_provider_of_the_other_dialect_gets_it_inside_its_json(
    shift: Shift, key: IssuedKey, sandbox: Sandbox, image_channel: Channel
) -> None:
    Channel.objects.update(options={"dialect": "xai"}, base_url=f"{sandbox.url}/xai/v1")
    CatalogVersion.objects.update(version=CatalogVersion.objects.get().version + 1)
    assert shift.work(edited(key, WHOLE)) == "succeeded"
