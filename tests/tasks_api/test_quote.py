"""POST /v1/tasks/quote: the price of a submission, with its checks and without a trace."""

from accounts.models import Account
from tasks import switches
from tasks.models import Task, TaskEvent
from tests.tasks.request.param_requests import data_url
from tests.tasks_api.asking import image_task, refused, video_task


def test_a_quote_tells_price_plan_and_balance(api, image_model):
    assert api.quote(image_task(n=2)).json() == {
        "model": "aurora-image",
        "modality": "image",
        "plan": "standard",
        "estimated_cost": 0.08,
        "currency": "USD",
        "balance_after": 9.92,
        "affordable": True,
        "eligible_routes": 1,
    }


def test_what_is_held_is_not_available(api, image_model):
    api.submitted(image_task(n=4))
    assert api.quote(image_task()).json()["balance_after"] == 9.8


def test_what_cannot_be_paid_is_quoted_all_the_same(api, video_model):
    quote = api.quote(video_task(duration=101)).json()
    assert (quote["affordable"], quote["estimated_cost"], quote["balance_after"]) == (False, 10.1, -0.1)
    exact = api.quote(video_task(duration=100)).json()
    assert (exact["affordable"], exact["balance_after"]) == (True, 0)


def test_a_quote_stores_nothing(api, image_model, account):
    body = {**image_task(images=[{"image_url": data_url()}]), "callback_url": "https://example.com/"}
    assert api.quote(body).status_code == 200
    assert not Task.objects.exists()
    assert not TaskEvent.objects.exists()
    assert Account.objects.get(pk=account.pk).held_micros == 0


def test_a_quote_never_consumes_an_idempotency_key(api, image_model):
    api.send("POST", "/v1/tasks/quote", image_task(), Idempotency_Key="order-1")
    assert "Idempotency-Replayed" not in api.submit(Idempotency_Key="order-1").headers


def test_a_quote_goes_on_while_submissions_are_paused(api, image_model):
    switches.pause()
    assert api.quote(image_task()).status_code == 200


def test_a_quote_is_refused_where_the_request_would_be(api, image_model):
    assert refused(api.quote({**image_task(), "model": "unheard-of"})) == (400, "TASK_UNSUPPORTED_MODEL")
    assert refused(api.quote(image_task(extra_body={"size": "auto"}))) == (503, "TASK_PRICING_UNAVAILABLE")
    assert refused(api.send("POST", "/v1/tasks/quote", b"{}", content_type="text/plain")) == (
        415,
        "TASK_UNSUPPORTED_MEDIA_TYPE",
    )
