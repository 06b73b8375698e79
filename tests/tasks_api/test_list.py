"""GET /v1/tasks: newest first, filtered, in pages; parameters that mean nothing are refused by name."""

from urllib.parse import quote, urlencode

import pytest

from catalog.models import ModelName
from tasks.models import Task
from tests.rows import make_key
from tests.tasks.steps import age
from tests.tasks_api.asking import REJECTED, end, image_task, named, start, video_task


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


def test_a_key_sees_its_own_tasks_only(api, other_api, account, api_of, three):
    assert listed(other_api) == []
    assert listed(api_of(make_key(account, "second"))) == []


def test_tasks_are_filtered_by_status(api, image_model):
    ids = {}
    for status in ("queued", "running", "succeeded", "failed", "timeout", "canceled"):
        ids[status] = api.submitted()
        if status == "running":
            start(ids[status])
        elif status != "queued":
            end(ids[status], status, **({"failure": REJECTED} if status in ("failed", "timeout") else {}))
    assert {status: listed(api, status=status) for status in ids} == {status: [ids[status]] for status in ids}


def test_tasks_are_filtered_by_modality_and_model(api, image_model, video_model):
    ModelName.objects.create(model=image_model, modality="image", name="aurora")
    film, picture = api.submitted(video_task()), api.submitted()
    other_name = api.submitted({**image_task(), "model": "aurora"})
    assert listed(api, modality="video") == [film]
    assert listed(api, modality="image") == [other_name, picture]
    assert listed(api, model="aurora-image") == [picture]
    assert listed(api, model="aurora") == [other_name]
    assert listed(api, model="unheard-of") == []


METADATA = [
    ("order", "A-17", "A-17"),
    ("count", 17, "17"),
    ("rush", True, "true"),
    ("mit leer zeichen", "größe", "größe"),
    ("a.b", "x", "x"),
    ("%", "%s", "%s"),
]


def test_tasks_are_filtered_by_metadata(api, image_model):
    for name, value, text in METADATA:
        wanted = api.submitted({**image_task(), "metadata": {name: value, "other": text}})
        api.submitted({**image_task(), "metadata": {"another": value}})
        assert listed(api, **{f"metadata.{name}": text}) == [wanted], name
        assert listed(api, **{f"metadata.{name}": text + "x"}) == [], name


def test_metadata_of_null_matches_no_text(api, image_model):
    api.submitted({**image_task(), "metadata": {"note": None}})
    for text in ("", "null", "None"):
        assert listed(api, **{"metadata.note": text}) == []


def test_several_filters_narrow(api, image_model):
    wanted = api.submitted({**image_task(), "metadata": {"order": "1", "line": "2"}})
    api.submitted({**image_task(), "metadata": {"order": "1"}})
    assert listed(api, **{"metadata.order": "1", "metadata.line": "2", "status": "queued"}) == [wanted]


def test_tasks_are_filtered_by_the_moment_of_creation(api, three):
    newest, middle, oldest = three
    age(oldest, "created_at", -7200)
    age(middle, "created_at", -3600)
    shown = api.task(middle)["created_at"]
    assert listed(api, created_after=shown) == [newest]
    assert listed(api, created_before=shown) == [oldest]
    assert listed(api, created_after="2020-01-01", created_before="2020-01-02") == []
    assert listed(api, created_after="2020-01-01T00:00:00+02:00") == three
    assert listed(api, created_before="9999-12-31T23:59:59Z") == three


def test_pages_follow_the_cursor_to_the_end(api, image_model):
    ids = [api.submitted() for _ in range(5)][::-1]
    pages, cursor = [], ""
    while cursor is not None:
        page = api.get(f"/v1/tasks?limit=2{cursor and '&cursor=' + cursor}").json()
        pages.append([task["id"] for task in page["data"]])
        cursor = page["next_cursor"]
        api.submitted()  # what comes meanwhile disturbs no page
    assert pages == [ids[:2], ids[2:4], ids[4:]]


def test_a_full_last_page_has_no_cursor(api, three):
    assert api.get("/v1/tasks?limit=3").json()["next_cursor"] is None


def test_a_page_has_20_tasks_unless_told_and_100_at_most(api, image_model):
    Task.objects.bulk_create(copies(Task.objects.get(id=api.submitted()), 110))
    assert len(listed(api)) == 20
    assert len(listed(api, limit="100")) == 100


def copies(task: Task, count: int) -> list[Task]:
    fields = {field.attname: getattr(task, field.attname) for field in Task._meta.concrete_fields}
    return [Task(**{**fields, "id": f"{task.id[:-3]}{number:03d}"}) for number in range(count)]


UNREADABLE = [
    ("limit=0", "limit"),
    ("limit=101", "limit"),
    ("limit=-1", "limit"),
    ("limit=ten", "limit"),
    ("limit=", "limit"),
    ("limit=1.0", "limit"),
    ("limit=٣", "limit"),
    ("status=done", "status"),
    ("status=", "status"),
    ("modality=audio", "modality"),
    ("created_after=yesterday", "created_after"),
    ("created_after=", "created_after"),
    ("created_after=0001-01-01T00:00:00%2B14:00", "created_after"),
    ("created_before=9999-12-31T23:59:59-14:00", "created_before"),
    ("created_before=1700000000000000000000", "created_before"),
    ("cursor=x", "cursor"),
    ("cursor=", "cursor"),
    ("cursor=%FF", "cursor"),
    ("cursor=dGFza18", "cursor"),
    ("page=2", "page"),
    ("format=xml", "format"),
    ("metadata=1", "metadata"),
    ("metadata.=1", "metadata."),
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
