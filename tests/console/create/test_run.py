"""Running a form: one task whatever one clicks, and a refusal that says why, keeps what was typed and costs nothing."""

import re
from dataclasses import replace
from io import BytesIO

import pytest
from django.test import Client

from accounts.models import Account
from billing.models import Hold
from common.http import rates
from console import sessions
from console.create import sending
from tasks import switches
from tasks.models import Task, TaskPayload
from tests.console.create.forms import IMAGE, VIDEO, form_of, posted
from tests.rows import make_account, make_key
from tests.tasks.request.param_requests import CONTENTS
from tests.tasks_api.asking import end

FORM = "/console/create/aurora-image/"
FILM = "/console/create/comet-video/"
JSON = {"Accept": "application/json"}


def png(name: str = "a.png", content: bytes = CONTENTS["image/png"]) -> BytesIO:
    file = BytesIO(content)
    file.name = name
    return file


def sent(answer) -> str:
    """The id of the task that the answer leads to."""
    assert answer.status_code == 302, re.findall(r'role="alert".*?</p>', answer.content.decode(), re.DOTALL)
    page, _, task_id = answer.headers["Location"].partition("#")
    assert page == "/console/live/"
    return task_id


def refused(answer, status: int) -> str:
    page = answer.content.decode()
    assert answer.status_code == status, page
    assert not Task.objects.exists()
    assert not Hold.objects.exists()
    return page


def key_in(page: str) -> str:
    return re.search(r'name="idempotency_key" value="([^"]+)"', page)[1]


def test_a_form_becomes_a_task_of_the_key(visitor, key, image_model):
    task = Task.objects.get(pk=sent(visitor.post(FORM, {**IMAGE, "metadata": '{"order": 7}'})))
    assert (task.key_id, task.model_name, task.estimated_micros) == (key.id, "aurora-image", 160_000)
    assert (task.metadata, task.origin) == ({"order": 7}, "async")
    params = TaskPayload.objects.get(pk=task.pk).params
    assert params == {"prompt": "a fox", "n": 2, "image_size": "2K", "aspect_ratio": "1:1"}
    assert Hold.objects.get().amount_micros == 160_000


def test_a_film_takes_its_first_frame_as_a_file(visitor, video_model):
    film = {**VIDEO, "params.inputs.image.first_frame.file": png()}
    task_id = sent(visitor.post(FILM, film))
    (frame,) = TaskPayload.objects.get(pk=task_id).params["inputs"]
    assert (frame["role"], frame["stored"]["content_type"]) == ("first_frame", "image/png")


def test_reference_images_are_stored_in_the_order_of_the_form(visitor, image_model):
    files = [png(), png("b.jpg", CONTENTS["image/jpeg"])]
    texts = {**IMAGE, "params.images.url": "https://cdn.example.com/a.png", "params.images.file": files}
    images = TaskPayload.objects.get(pk=sent(visitor.post(FORM, texts))).params["images"]
    assert images[0] == {"image_url": "https://cdn.example.com/a.png"}
    assert [image["stored"]["content_type"] for image in images[1:]] == ["image/png", "image/jpeg"]


def test_a_result_of_ones_own_is_taken_as_an_input_and_a_foreign_one_is_refused(
    visitor, sign_in, other_key, image_model
):
    source = sent(visitor.post(FORM, IMAGE))
    end(source, "succeeded")
    texts = {**IMAGE, "params.images.own": f"{source}/0"}
    taken = TaskPayload.objects.get(pk=sent(visitor.post(FORM, texts))).params["images"]
    assert taken[0]["stored"]["reference"] == f"asset:{source}/0"
    answer = sign_in(other_key).post(FORM, texts)
    assert answer.status_code == 400
    assert "Reference images, number 1, is a result that no longer exists." in answer.content.decode()
    assert not Task.objects.filter(key_id=other_key.id).exists()


def test_a_double_click_is_one_task_and_one_hold(visitor, image_model):
    form = {**IMAGE, "idempotency_key": key_in(visitor.get(FORM).content.decode())}
    assert sent(visitor.post(FORM, form)) == sent(visitor.post(FORM, form))
    assert (Task.objects.count(), Hold.objects.count()) == (1, 1)


def test_two_clicks_that_were_let_in_together_are_one_task(visitor, image_model):
    key = sending.new_key()
    admission = sessions.authenticate(visitor.cookies[sessions.COOKIE].value, idempotency_key=key).admission
    form = replace(form_of("image"), model="aurora-image")
    first, second = (
        sending.send(admission, form, posted(IMAGE), key=key, places={}, shown_cost=None) for _ in range(2)
    )
    assert first == second
    assert (Task.objects.count(), Hold.objects.count()) == (1, 1)


def test_more_own_results_than_a_model_takes_are_refused(visitor, image_model, django_assert_max_num_queries):
    source = sent(visitor.post(FORM, IMAGE))
    end(source, "succeeded")
    with django_assert_max_num_queries(60):
        answer = visitor.post(FORM, {**IMAGE, "params.images.own": [f"{source}/0"] * 500})
    assert answer.status_code == 400
    assert "Reference images must have at most 4 elements." in answer.content.decode()


@pytest.mark.parametrize("shown", ["$0.04", ""], ids=["another", "none"])
def test_another_price_than_was_shown_is_told_and_nothing_is_reserved(visitor, image_model, shown):
    page = refused(visitor.post(FORM, {**IMAGE, "shown_cost": shown}), 400)
    assert f"The price is $0.16, but the page showed {shown or 'no price'}." in page
    (cost,) = re.findall(r'name="shown_cost" value="([^"]+)"', page)
    assert Task.objects.get(pk=sent(visitor.post(FORM, {**IMAGE, "shown_cost": cost}))).estimated_micros == 160_000


def test_a_replay_leads_to_its_task_while_submissions_are_paused(visitor, image_model):
    form = {**IMAGE, "idempotency_key": sending.new_key()}
    task_id = sent(visitor.post(FORM, form))
    switches.pause()
    assert sent(visitor.post(FORM, form)) == task_id


def test_a_form_that_has_changed_since_it_was_sent_asks_again(visitor, image_model):
    form = {**IMAGE, "idempotency_key": sending.new_key()}
    task_id = sent(visitor.post(FORM, form))
    answer = visitor.post(FORM, {**form, "params.prompt": "a wolf"})
    page = answer.content.decode()
    assert answer.status_code == 409
    assert f'href="/console/tasks/{task_id}/"' in page
    assert "a wolf</textarea>" in page
    assert Task.objects.count() == 1
    assert sent(visitor.post(FORM, {**form, "params.prompt": "a wolf", "idempotency_key": key_in(page)})) != task_id


@pytest.mark.parametrize("given", ["", "order-1", "console-" + "x" * 300, "console-\x07", "console-é"], ids=range(5))
def test_only_keys_of_forms_are_idempotency_keys(given):
    made = sending.key_of(given)
    assert made != given
    assert sending.key_of(made) == made


def test_a_field_is_refused_where_it_stands_and_nothing_is_lost(visitor, image_model):
    form = {**IMAGE, "params.n": "9", "callback_url": "https://example.com/done", "params.images.file": png()}
    page = refused(visitor.post(FORM, form), 400)
    field = re.search(r'<input class="number".*?>', page, re.DOTALL)[0]
    assert 'value="9"' in field
    assert 'aria-invalid="true" autofocus' in field
    assert 'aria-describedby="problem-params.n"' in field
    assert 'id="problem-params.n" data-problem="params.n"><bdi>How many must be an integer from 1 to 4.</bdi>' in page
    assert page.count('aria-invalid="true"') == 1
    assert "a fox</textarea>" in page
    assert 'name="params.image_size" value="1" checked' in page
    assert '<details class="more" open>' in page
    assert "choose them again" in page


def test_an_unknown_tile_is_refused_at_its_group(visitor, image_model):
    page = refused(visitor.post(FORM, {**IMAGE, "params.image_size": "8"}), 400)
    assert re.search(r'id="f-params.image_size"[^>]* aria-invalid="true"', page)


def test_a_file_that_is_no_picture_is_refused_at_its_slot(visitor, image_model):
    form = {**IMAGE, "params.images.file": png("a.svg", b"<svg onload=alert(1)>")}
    page = refused(visitor.post(FORM, form), 400)
    assert "Reference images, number 1, must be a PNG, JPEG, WebP or GIF image." in page


def test_too_many_files_are_refused_by_the_models_limit(visitor, image_model):
    page = refused(visitor.post(FORM, {**IMAGE, "params.images.file": [png() for _ in range(5)]}), 400)
    assert "Reference images must have at most 4 elements." in page


def test_a_hostile_prompt_comes_back_as_text(visitor, image_model):
    prompt = "</textarea><script>alert(1)</script>\u202e\"'" + "x" * 10_000
    page = refused(visitor.post(FORM, {**IMAGE, "params.prompt": prompt, "params.n": "0"}), 400)
    assert "<script>alert" not in page
    assert "&lt;/textarea&gt;&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_a_balance_that_does_not_reach_says_so_and_what_to_do(sign_in, image_model):
    poor = make_key(make_account("poor", usd="0.01"))
    page = refused(sign_in(poor).post(FORM, IMAGE), 403)
    assert "TASK_INSUFFICIENT_BALANCE" in page
    assert "ask the operator of this service for credit" in page
    assert "is too low" in page
    assert "a fox</textarea>" in page


def test_a_subscription_is_refused_as_the_api_does(sign_in, image_model):
    subscriber = make_key(make_account("subscriber", billing=Account.Billing.SUBSCRIPTION))
    assert "TASK_BILLING_UNSUPPORTED" in refused(sign_in(subscriber).post(FORM, IMAGE), 403)


def test_a_pause_refuses_in_the_operators_words(visitor, image_model):
    switches.pause(message="Back at noon.", retry_after_seconds=90)
    answer = visitor.post(FORM, IMAGE)
    assert "Back at noon." in refused(answer, 503)
    assert answer.headers["Retry-After"] == "90"


def test_the_rate_of_submissions_holds_here_too(visitor, image_model, settings):
    settings.RATE_LIMITS = {"submit": 1}
    rates._counts.clear()
    visitor.post(FORM, {**IMAGE, "params.n": "9"})
    answer = visitor.post(FORM, IMAGE)
    assert "TASK_RATE_LIMITED" in refused(answer, 429)
    assert int(answer.headers["Retry-After"]) >= 1


def test_a_form_from_elsewhere_sends_nothing(visitor, image_model):
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = visitor.cookies
    assert strict.post(FORM, IMAGE).status_code == 403
    assert not Task.objects.exists()


def test_without_scripts_a_button_shows_the_price(visitor, image_model):
    page = visitor.post(FORM, {**IMAGE, "params.n": "3", "price": "1"}).content.decode()
    assert "Run<span data-run> · $0.24</span>" in page
    assert "a fox</textarea>" in page
    assert not Task.objects.exists()
