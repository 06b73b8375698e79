"""GET /v1/tasks over HTTP; each filter by itself is in tests/tasks/shown/test_listing.py."""

from urllib.parse import quote, urlencode

import pytest

from tasks.shown import listing
from tests.tasks_api.asking import REJECTED, end, named, start


def listed(api, **query: str) -> list[str]:
    response = api.get(f"/v1/tasks?{urlencode(query)}")
    assert response.status_code == 200, response.content
    document = response.json()
    assert (list(document), document["object"]) == (["object", "data", "next_cursor"], "list")
    return [task["id"] for task in document["data"]]


@pytest.fixture
def three(api, image_model) -> list[str]:
    """Newest first."""
    return [api.submitted() for _ in range(3)][::-1]


def test_nothing_is_an_empty_page(api):
    assert api.get("/v1/tasks").json() == {"object": "list", "data": [], "next_cursor": None}


def test_tasks_come_newest_first_as_task_objects(api, three):
    assert listed(api) == three
    assert api.get("/v1/tasks").json()["data"][0] == api.task(three[0])


def test_tasks_are_filtered_by_status(api, image_model):
    ids = {}
    for status in ("queued", "running", "succeeded", "failed", "timeout", "canceled"):
        ids[status] = api.submitted()
        if status == "running":
            start(ids[status])
        elif status != "queued":
            end(ids[status], status, **({"failure": REJECTED} if status in ("failed", "timeout") else {}))
    assert {status: listed(api, status=status) for status in ids} == {status: [ids[status]] for status in ids}


def test_pages_follow_the_cursor_to_the_end(api, image_model):
    ids = [api.submitted() for _ in range(5)][::-1]
    pages, cursor = [], ""
    while cursor is not None:
        page = api.get(f"/v1/tasks?limit=2{cursor and '&cursor=' + cursor}").json()
        pages.append([task["id"] for task in page["data"]])
        cursor = page["next_cursor"]
        api.submitted()  # what comes meanwhile disturbs no page
    assert pages == [ids[:2], ids[2:4], ids[4:]]


UNREADABLE = [
    ("limit=1.0", "limit"),
    ("created_before=1700000000000000000000", "created_before"),
    ("cursor=%FF", "cursor"),
    ("page=2", "page"),
    ("format=xml", "format"),
    ("Status=queued", "Status"),
    ("status=queued&status=running", "status"),
    ("limit=1&limit=1", "limit"),
    ("metadata.order=1&metadata.order=2", "metadata.order"),
    ("cursor=x&cursor=y", "cursor"),
]


def test_a_parameter_that_is_unknown_repeated_or_wrong_is_named(api):
    for query, field in UNREADABLE:
        assert named(api.get(f"/v1/tasks?{query}")) == field, query


def test_a_nul_in_the_query_is_refused(api):
    for name in ("status", "model", "cursor", "created_after", "metadata.order", "metadata.a%00"):
        assert named(api.get(f"/v1/tasks?{name}=a%00b")).startswith(name.partition("%")[0]), name


def test_strange_queries_never_fault(api, three):
    for text in ("%FF", "%ED%A0%80", "a" * 60_000, "&".join(f"a{n}=1" for n in range(2_000)), "=", "&&&", "%", "a[]=1"):
        assert api.send("GET", f"/v1/tasks?{text}").status_code in (200, 400)
    assert listed(api, **{f"metadata.{'k' * 5_000}": "v" * 5_000}) == []
    assert api.send("GET", f"/v1/tasks?model={quote('é')}").status_code == 200


@pytest.mark.parametrize("query", ["metadata.order=rare", "status=failed", "model=other"])
def test_a_rare_filter_is_followed_page_by_page_to_its_end(api, make_task, monkeypatch, query):
    monkeypatch.setattr(listing, "SCANNED", 3)
    rare = make_task("failed", model_name="other", metadata={"order": "rare"})
    for _ in range(7):
        make_task(metadata={"order": "usual"})
    pages, cursor = [], ""
    while cursor is not None:
        page = api.get(f"/v1/tasks?{query}{cursor and '&cursor=' + cursor}").json()
        pages.append([task["id"] for task in page["data"]])
        cursor = page["next_cursor"]
    assert pages == [[], [], [rare.id]]


def test_a_list_without_a_filter_is_never_cut_short(api, make_task, monkeypatch):
    monkeypatch.setattr(listing, "SCANNED", 3)
    for _ in range(7):
        make_task()
    page = api.get("/v1/tasks").json()
    assert (len(page["data"]), page["next_cursor"]) == (7, None)
