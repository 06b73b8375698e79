"""The order of checks of POST /v1/tasks (contract, section 1): a request that violates two of them hears of the first.

The first two, the size of the body before everything else, are the front's: tests/flows/test_bodies.py.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from catalog.models import Route
from tasks import switches
from tasks.models import Task
from tests.environment import SCRATCH
from tests.rows import IssuedKey, make_account, make_key, make_model
from tests.tasks_api.asking import Api, image_task, refused


class Scene:
    """A submission that is fine until its parts are spoilt, one by one."""

    def __init__(self, key: IssuedKey, plan: Any, image_model: Any, settings: Any) -> None:
        self.key, self.plan, self.model, self.settings = key, plan, image_model, settings
        self.headers: dict[str, str] = {"Authorization": f"Bearer {key.secret}"}
        self.body: Any = image_task()
        self.content_type = "application/json"
        self.is_cut_off = False

    def disabled(self) -> None:
        switches.disable_api()

    def authentication(self) -> None:
        self.headers["Authorization"] = "Bearer nobody"

    def scope(self) -> None:
        type(self.key.record).objects.filter(pk=self.key.id).update(task_api=False)

    def key_syntax(self) -> None:
        self.headers["Idempotency_Key"] = "k" * 256

    def rate(self) -> None:
        self.settings.RATE_LIMITS = {"submit": 0}

    def paused(self) -> None:
        switches.pause()

    def subscription(self) -> None:
        type(self.key.account).objects.filter(pk=self.key.account.pk).update(billing="subscription")

    def media_type(self) -> None:
        self.content_type = "text/plain"

    def json(self) -> None:
        self.is_cut_off = True

    def fields(self) -> None:
        self.body["plan"] = "standard"

    def model_name(self) -> None:
        self.body["model"] = "unheard-of"

    def modality(self) -> None:
        self.body["modality"] = "video"

    def params(self) -> None:
        self.body["params"]["n"] = 0

    def adapter(self) -> None:
        make_model("aurora-image", "3d", plan=self.plan, prices={}, pricing_mode="per_request")
        self.body["modality"] = "3d"

    def route(self) -> None:
        self.body["params"].setdefault("extra_body", {})["quality"] = "high"

    def pricing(self) -> None:
        self.body["params"].setdefault("extra_body", {})["size"] = "2048x2048"
        self.model.prices = {"1K": "0.04"}
        self.model.save()

    def storage(self) -> None:
        location = SCRATCH / "no-folder"
        location.write_text("a file, so that no asset can be kept below it")
        assets = {**self.settings.STORAGES["assets"], "OPTIONS": {"location": str(location), "base_url": None}}
        self.settings.STORAGES = {**self.settings.STORAGES, "assets": assets}

    def queue_limit(self) -> None:
        type(self.key.record).objects.filter(pk=self.key.id).update(max_queued=0)

    def balance(self) -> None:
        type(self.key.account).objects.filter(pk=self.key.account.pk).update(balance_micros=0)

    def answer(self, api: Api) -> tuple[int, str]:
        raw = json.dumps(self.body).encode()
        raw = raw[:-1] if self.is_cut_off else raw
        return refused(api.submit(raw, content_type=self.content_type, **self.headers))


CHECKS: list[tuple[Callable[[Scene], None], tuple[int, str]]] = [
    (Scene.disabled, (503, "TASK_API_DISABLED")),
    (Scene.authentication, (401, "authentication_error")),
    (Scene.scope, (403, "TASK_SCOPE_REQUIRED")),
    (Scene.key_syntax, (400, "TASK_INVALID_REQUEST")),
    (Scene.rate, (429, "TASK_RATE_LIMITED")),
    (Scene.paused, (503, "TASK_API_PAUSED")),
    (Scene.subscription, (403, "TASK_BILLING_UNSUPPORTED")),
    (Scene.media_type, (415, "TASK_UNSUPPORTED_MEDIA_TYPE")),
    (Scene.json, (400, "TASK_INVALID_REQUEST")),
    (Scene.fields, (400, "TASK_INVALID_REQUEST")),
    (Scene.model_name, (400, "TASK_UNSUPPORTED_MODEL")),
    (Scene.modality, (400, "TASK_UNSUPPORTED_ADAPTER")),
    (Scene.params, (400, "TASK_INVALID_REQUEST")),
    (Scene.route, (400, "TASK_NO_CAPABLE_ROUTE")),
    (Scene.pricing, (503, "TASK_PRICING_UNAVAILABLE")),
    (Scene.storage, (503, "TASK_STORAGE_UNAVAILABLE")),
    (Scene.queue_limit, (429, "TASK_QUEUE_LIMIT_EXCEEDED")),
    (Scene.balance, (403, "TASK_INSUFFICIENT_BALANCE")),
]
STEPS = [spoil.__name__ for spoil, _ in CHECKS]


@pytest.fixture
def scene(key, plan, image_model, settings):
    return Scene(key, plan, image_model, settings)


@pytest.fixture
def anyone(client) -> Api:
    """Without a key of its own; the scene sends one."""
    return Api(client)


def test_the_unspoilt_submission_is_accepted(scene, anyone):
    assert anyone.submit(scene.body, **scene.headers).status_code == 202


@pytest.mark.parametrize("step", range(len(CHECKS)), ids=STEPS)
def test_each_check_refuses_on_its_own(scene, anyone, step):
    spoil, expected = CHECKS[step]
    spoil(scene)
    assert scene.answer(anyone) == expected
    assert not Task.objects.exists()


@pytest.mark.parametrize("step", range(len(CHECKS) - 1), ids=STEPS[:-1])
def test_of_two_violations_the_earlier_check_is_heard(scene, anyone, step):
    (spoil, expected), (spoil_next, _) = CHECKS[step], CHECKS[step + 1]
    spoil_next(scene)
    spoil(scene)
    assert scene.answer(anyone) == expected


def test_a_field_is_checked_before_the_model(scene, anyone):
    scene.fields()
    scene.model_name()
    assert anyone.submit(scene.body, **scene.headers).json()["error"]["message"].startswith("plan ")


def test_the_callback_url_is_checked_before_the_model(scene, anyone):
    scene.body["callback_url"] = "ftp://example.com/"
    scene.model_name()
    assert anyone.submit(scene.body, **scene.headers).json()["error"]["message"].startswith("callback_url ")


def test_the_params_of_3d_are_checked_before_its_missing_adapter(scene, anyone):
    scene.adapter()
    scene.body["params"] = {"prompt": "a fox", "format": "glb"}
    assert scene.answer(anyone) == (400, "TASK_INVALID_REQUEST")
    scene.body["params"] = {"prompt": "a fox"}
    assert scene.answer(anyone) == (400, "TASK_UNSUPPORTED_ADAPTER")


def test_the_missing_adapter_is_told_before_the_missing_price(scene, anyone):
    scene.adapter()
    assert scene.answer(anyone) == (400, "TASK_UNSUPPORTED_ADAPTER")


def test_a_model_without_a_route_is_not_available_whatever_its_params(scene, anyone):
    scene.params()
    Route.objects.all().delete()
    assert scene.answer(anyone) == (400, "TASK_UNSUPPORTED_MODEL")


def test_a_general_key_is_out_of_scope(db, anyone):
    general = make_key(make_account("writer"), binding="general")
    assert refused(anyone.submit(Authorization=f"Bearer {general.secret}")) == (403, "TASK_SCOPE_REQUIRED")
