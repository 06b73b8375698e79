"""GET /v1/videos: every video task of the key, page by page."""

import pytest

from tasks.shown import films
from tests.rows import make_key
from tests.tasks.steps import captured
from tests.tasks_api.videos.asking import make_video, refusal, video_id


def page(api, **query):
    answer = api.get("/v1/videos?" + "&".join(f"{name}={value}" for name, value in query.items()))
    assert answer.status_code == 200, answer.content
    return answer.json()


def ids(found):
    return [video["id"] for video in found["data"]]


def test_nothing_is_an_empty_page(api):
    nothing = {"object": "list", "data": [], "first_id": None, "last_id": None, "has_more": False}
    assert api.get("/v1/videos").json() == nothing


def test_every_video_of_the_key_is_listed_whichever_front_it_came_by(api, key, account, make_task):
    shown = [make_video(key, origin="async"), make_video(key, "canceled", origin="videos"), make_video(key, "running")]
    make_task(), make_video(key, origin="sync"), make_video(make_key(account, "second"))
    found = page(api)
    assert ids(found) == [video_id(task) for task in reversed(shown)]
    assert found["data"][0] == api.get(f"/v1/videos/{video_id(shown[-1])}").json()
    assert (found["first_id"], found["last_id"], found["has_more"]) == (ids(found)[0], ids(found)[-1], False)


@pytest.mark.parametrize("order", ["desc", "asc"])
def test_pages_go_on_after_the_last_one(api, key, make_task, order):
    made = [video_id(make_video(key)) for _ in range(5) if make_task()]
    made = made if order == "asc" else made[::-1]
    first = page(api, limit=2, order=order)
    second = page(api, limit=2, order=order, after=first["last_id"])
    third = page(api, limit=2, order=order, after=second["last_id"])
    assert [ids(each) for each in (first, second, third)] == [made[:2], made[2:4], made[4:]]
    assert [each["has_more"] for each in (first, second, third)] == [True, True, False]


@pytest.mark.parametrize("order", ["desc", "asc"])
def test_a_page_that_looked_at_enough_goes_on_where_it_stopped(api, key, make_task, monkeypatch, order):
    monkeypatch.setattr(films, "SCANNED", 4)
    made = [make_video(key), *(make_task() for _ in range(6)), make_video(key)]
    last = None
    found = []
    for _ in range(3):
        each = page(api, limit=2, order=order, **({"after": last} if last else {}))
        found, last = [*found, *ids(each)], each["last_id"]
        if not each["has_more"]:
            break
    first_last = [video_id(made[0]), video_id(made[-1])]
    assert found == (first_last if order == "asc" else first_last[::-1])
    assert not each["has_more"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("order=up", "order"),
        ("order=", "order"),
        ("after=task_00000000000000000000000000", "after"),
        ("after=%00", "after"),
        ("page=2", "page"),
        ("limit=1&limit=2", "limit"),
    ],
)
def test_what_is_wrong_is_named(api, query, field):
    answer = api.get(f"/v1/videos?{query}")
    assert refusal(answer) == (400, "TASK_INVALID_REQUEST", field)
    assert answer.json()["error"]["message"].startswith(f"{field}: ")


def test_a_list_takes_four_statements_however_long_it_is(api, key):
    for _ in range(10):
        make_video(key)
    with captured() as statements:
        assert len(page(api)["data"]) == 10
    assert len(statements) == 4, statements
