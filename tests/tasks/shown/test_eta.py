"""How long tasks of a model usually take."""

from tasks import lifecycle
from tasks.shown import eta
from tests.rows import make_account, make_key
from tests.tasks import steps


def took(key, worker, seconds: list[float], body=None, *, status: str = "succeeded") -> None:
    for each in seconds:
        task = steps.start(key, worker, body)
        steps.end(task, status)
        steps.lasted(task.id, each)


def test_a_model_without_a_success_has_none(key, image_model, worker):
    took(key, worker, [9.0], status="failed")
    assert eta.usual(image_model.pk) is None


def test_the_middle_and_the_ninth_tenth_are_told(key, image_model, worker):
    took(key, worker, [float(n) for n in range(1, 11)])
    assert eta.usual(image_model.pk) == {"p50": 6.0, "p90": 10.0}


def test_one_success_is_both(key, image_model, worker):
    took(key, worker, [12.3])
    assert eta.usual(image_model.pk) == {"p50": 12.3, "p90": 12.3}


def test_models_are_told_apart(key, image_model, video_model, worker):
    took(key, worker, [5.0])
    took(key, worker, [60.0], steps.VIDEO)
    assert [eta.usual(model.pk)["p50"] for model in (image_model, video_model)] == [5.0, 60.0]


def test_yesterdays_successes_do_not_count(key, image_model, worker):
    took(key, worker, [5.0])
    task = steps.start(key, worker)
    steps.end(task)
    steps.lasted(task.id, 4_000, ago=86_401)
    assert eta.usual(image_model.pk)["p90"] == 5.0


def test_only_the_latest_successes_count(image_model, worker):
    account = make_account("busy", usd="100", max_queued=300, max_running=300)
    key = make_key(account, max_queued=300, max_running=300)
    ids = steps.submitted_many(key, eta.SAMPLE + 30)
    tasks = steps.claimed(worker, seats=300)
    lifecycle.end([steps.ending(task, "succeeded", success=steps.success(assets=0)) for task in tasks])
    for number, task_id in enumerate(ids):
        steps.lasted(task_id, 5 if number < eta.SAMPLE else 1_000, ago=600 if number < eta.SAMPLE else 3_600)
    assert eta.usual(image_model.pk) == {"p50": 5.0, "p90": 5.0}


def test_many_models_cost_one_statement_each_time_it_is_refreshed(
    key, image_model, video_model, monkeypatch, django_assert_num_queries
):
    monkeypatch.setattr(eta, "REFRESH_SECONDS", 1e9)
    with django_assert_num_queries(1):
        for _ in range(20):
            for model in (image_model, video_model):
                eta.usual(model.pk)
