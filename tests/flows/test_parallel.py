"""Many clients at the same moment, through the real web server."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.flows.conftest import new_name, submitted
from tests.tasks import steps
from tests.tasks_api.asking import image_task

CLIENTS = 32


def at_once(ask: Callable[[int], Any]) -> list[Any]:
    """The answers of 32 clients that ask together."""
    return steps.at_once([partial(ask, number) for number in range(CLIENTS)])


def test_one_idempotency_key_makes_one_task(service):
    client, headers = service.client, {"Idempotency-Key": new_name("all at once")}
    answers = at_once(lambda _: client.post("/v1/tasks", json=image_task(), headers=headers))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert sum("Idempotency-Replayed" in answer.headers for answer in answers) == CLIENTS - 1


def test_one_idempotency_key_with_different_bodies_tells_all_but_one_of_the_mismatch(service):
    client, headers = service.client, {"Idempotency-Key": new_name("all different")}
    answers = at_once(lambda n: client.post("/v1/tasks", json=image_task(prompt=f"fox {n}"), headers=headers))
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert sum("Idempotency-Body-Mismatch" in answer.headers for answer in answers) == CLIENTS - 1


def test_the_last_dollar_is_spent_once(service):
    client = service.stack.client(service.stack.create_key(account=new_name("poor"), credit="0.40"))
    answers = at_once(lambda _: client.post("/v1/tasks", json=image_task()))
    assert Counter(answer.status_code for answer in answers) == {202: 10, 403: CLIENTS - 10}
    assert client.get("/v1/tasks/usage").json()["balance"] >= 0


def test_a_budget_is_spent_once_over_both_web_processes(service):
    account = new_name("thrifty")
    service.stack.manage("create_account", account, "--credit", "10")
    made = service.stack.manage_json("create_key", account, "--budget", "day=0.40")
    client = service.stack.client(made["key"])
    ask = partial(client.post, "/v1/tasks", json=image_task())
    answers = steps.at_once([ask] * 2 * CLIENTS)
    assert Counter(answer.status_code for answer in answers) == {202: 10, 403: 2 * CLIENTS - 10}


def test_many_cancels_at_once_are_one(service):
    account = new_name("hasty")
    service.stack.manage("create_account", account, "--credit", "1")
    made = service.stack.manage_json("create_key", account, "--max-running", "0")
    client = service.stack.client(made["key"])
    task_id = submitted(client, image_task())
    answers = at_once(lambda _: client.post(f"/v1/tasks/{task_id}/cancel"))
    assert [answer.status_code for answer in answers] == [200] * CLIENTS
    assert len({answer.content for answer in answers}) == 1
    assert (client.get("/v1/tasks/usage").json()["balance"], client.get("/v1/tasks/usage").json()["held"]) == (1, 0)
