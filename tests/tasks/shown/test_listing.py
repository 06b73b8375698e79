"""The list of a key's tasks: newest first, filtered exactly, in stable pages."""

from datetime import datetime, timedelta

import pytest

from catalog import naming
from common.errors import InvalidRequest
from tasks import cancellation
from tasks.models import Task
from tasks.shown.listing import page
from tests.rows import make_key
from tests.tasks import steps


def listed(key, **query: str) -> list[str]:
    return [task.id for task in page(key.id, query).tasks]


def pages(key, **query: str) -> list[list[str]]:
    found = [page(key.id, query)]
    while cursor := found[-1].next_cursor:
        found.append(page(key.id, {**query, "cursor": cursor}))
    return [[task.id for task in one.tasks] for one in found]


def joined(found: list[list[str]]) -> list[str]:
    return [task_id for one in found for task_id in one]


def shown_at(task_id: str) -> datetime:
    moment = Task.objects.get(id=task_id).created_at
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def test_the_newest_come_first(key, image_model):
    ids = steps.submitted_many(key, 5)
    assert listed(key) == sorted(ids, reverse=True)


def test_twenty_are_listed_unless_asked_otherwise(key, image_model):
    steps.submitted_many(key, 21)
    assert len(listed(key)) == 20
    assert len(listed(key, limit="21")) == 21


def test_pages_hold_every_task_once(key, image_model):
    ids = steps.submitted_many(key, 7)
    found = pages(key, limit="3")
    assert [len(one) for one in found] == [3, 3, 1]
    assert joined(found) == sorted(ids, reverse=True)


def test_the_last_full_page_has_no_cursor(key, image_model):
    steps.submitted_many(key, 4)
    assert [len(one) for one in pages(key, limit="2")] == [2, 2]


def test_pages_stay_stable_while_tasks_are_made_and_end(key, image_model):
    ids = sorted(steps.submitted_many(key, 6), reverse=True)
    first = page(key.id, {"limit": "3"})
    steps.submitted_many(key, 5)
    cancellation.cancel(key.id, ids[0])
    second = page(key.id, {"limit": "3", "cursor": first.next_cursor})
    assert [task.id for task in (*first.tasks, *second.tasks)] == ids


def test_pages_keep_their_filter(key, image_model):
    ids = steps.submitted_many(key, 6)
    for task_id in ids[::2]:
        cancellation.cancel(key.id, task_id)
    assert joined(pages(key, limit="2", status="canceled")) == sorted(ids[::2], reverse=True)


def test_only_the_keys_own_tasks_are_listed(account, key, other_key, image_model):
    sibling = make_key(account, "sibling")
    mine, theirs, strangers = (steps.submitted(owner) for owner in (key, sibling, other_key))
    assert [listed(owner) for owner in (key, sibling, other_key)] == [[mine], [theirs], [strangers]]


def test_a_cursor_of_another_key_shows_nothing_of_it(key, other_key, image_model):
    steps.submitted_many(other_key, 3)
    mine = steps.submitted(key)
    steps.submitted_many(other_key, 2)
    cursor = page(other_key.id, {"limit": "1"}).next_cursor
    assert listed(key, cursor=cursor) == [mine]


def test_synchronous_tasks_are_not_listed(key, image_model):
    steps.submitted(key)
    Task.objects.update(origin="sync")
    assert listed(key) == []


def test_tasks_are_filtered_by_status_modality_and_model_as_it_was_sent(key, image_model, video_model, worker):
    naming.write(image_model, ["aurora"])
    by_alias = steps.submitted(key, {**steps.IMAGE, "model": "aurora"})
    cancellation.cancel(key.id, by_alias)
    picture, film = steps.submitted(key), steps.submitted(key, steps.VIDEO)
    running = steps.claimed(worker)[0].id
    assert listed(key, status="running") == [running]
    assert listed(key, status="succeeded") == []
    assert listed(key, modality="video") == [film]
    assert listed(key, model="aurora-image") == [picture]
    assert listed(key, model="aurora") == [by_alias]
    assert listed(key, model="nobody's") == []
    assert listed(key, modality="video", model="aurora-image") == []


def test_the_creation_filters_are_exact_to_the_shown_millisecond(key, image_model):
    task_id = steps.submitted(key)
    shown = shown_at(task_id)
    step = timedelta(milliseconds=1)
    assert listed(key, created_after=shown.isoformat()) == []
    assert listed(key, created_after=(shown - step).isoformat()) == [task_id]
    assert listed(key, created_before=shown.isoformat()) == []
    assert listed(key, created_before=(shown + step).isoformat()) == [task_id]


def test_the_creation_filters_take_microseconds(key, image_model):
    task_id = steps.submitted(key)
    shown = shown_at(task_id)
    little = timedelta(microseconds=1)
    assert listed(key, created_after=(shown - little).isoformat()) == [task_id]
    assert listed(key, created_after=(shown + little).isoformat()) == []
    assert listed(key, created_before=(shown + little).isoformat()) == [task_id]
    assert listed(key, created_before=(shown - little).isoformat()) == []


def test_a_border_parts_the_list_without_gap_or_overlap(key, image_model):
    ids = steps.submitted_many(key, 5)
    for task_id in ids:
        border = shown_at(task_id).isoformat()
        after, before = listed(key, created_after=border), listed(key, created_before=border)
        rest = [other for other in ids if shown_at(other) == shown_at(task_id)]
        assert sorted(after + before + rest) == sorted(ids)


def test_the_borders_of_a_window_can_be_combined(key, image_model):
    task_id = steps.submitted(key)
    moment = shown_at(task_id)
    around = {"created_after": (moment - timedelta(seconds=1)).isoformat()}
    assert listed(key, **around, created_before=(moment + timedelta(seconds=1)).isoformat()) == [task_id]
    assert listed(key, **around, created_before=(moment - timedelta(milliseconds=1)).isoformat()) == []


def test_a_wrong_clock_of_a_web_process_hides_nothing(key, image_model):
    task_id = steps.submitted(key)
    for skew in (-1800, 1800):
        steps.age(task_id, "created_at", skew)
        moment = shown_at(task_id)
        assert listed(key, created_after=(moment - timedelta(seconds=1)).isoformat()) == [task_id], skew
        assert listed(key, created_before=(moment + timedelta(seconds=1)).isoformat()) == [task_id], skew


PAST = [
    "2020-01-01", "2020-01-01T00:00:00Z", "2020-01-01T09:00:00+09:00", "2020-01-01T00:00:00.123456", "0001-01-01"
]  # fmt: skip


def test_times_are_iso_8601(key, image_model):
    task_id = steps.submitted(key)
    for text in PAST:
        assert (listed(key, created_after=text), listed(key, created_before=text)) == ([task_id], []), text


def test_far_times_are_times_too(key, image_model):
    task_id = steps.submitted(key)
    for text in ("9999-12-31T23:59:59.999999Z", "2100-01-01"):
        assert (listed(key, created_before=text), listed(key, created_after=text)) == ([task_id], []), text


METADATA = {
    "order": "A-17",
    "n": 3,
    "x": 0.5,
    "stamp": 1732240000.123456,
    "big": 2**53 + 1,
    "yes": True,
    "no": False,
    "none": None,
    'it\'s "50%" $.a[0]': "quoted",
    "empty": "",
    "digits": "3",
    "ü": "ä",
}


FOUND = [
    ("order", "A-17"),
    ("n", "3"),
    ("x", "0.5"),
    ("stamp", "1732240000.123456"),
    ("big", str(2**53 + 1)),
    ("yes", "true"),
    ("no", "false"),
    ('it\'s "50%" $.a[0]', "quoted"),
    ("empty", ""),
    ("digits", "3"),
    ("ü", "ä"),
]


def test_metadata_is_found_by_its_value_as_text(key, image_model):
    task_id = steps.submitted(key, metadata=METADATA)
    steps.submitted(key, metadata={"order": "B-18"})
    steps.submitted(key)
    for name, value in FOUND:
        assert listed(key, **{f"metadata.{name}": value}) == [task_id], name


NOT_FOUND = [
    ("order", "a-17"),
    ("order", "A-1"),
    ("order", "%"),
    ("Order", "A-17"),
    ("n", "3.0"),
    ("stamp", "1732240000.12346"),
    ("stamp", "1732240000.1234560"),
    ("yes", "1"),
    ("no", "0"),
    ("none", "null"),
    ("none", ""),
    ("missing", ""),
    ("order' OR '1'='1", "A-17"),
    ("order.x", "A-17"),
]


def test_other_metadata_does_not_match(key, image_model):
    steps.submitted(key, metadata=METADATA)
    for name, value in NOT_FOUND:
        assert listed(key, **{f"metadata.{name}": value}) == [], (name, value)


def test_several_metadata_filters_must_all_hold(key, image_model):
    task_id = steps.submitted(key, metadata={"a": "1", "b": "2"})
    steps.submitted(key, metadata={"a": "1", "b": "3"})
    assert listed(key, **{"metadata.a": "1", "metadata.b": "2"}) == [task_id]


UNREADABLE = [
    ("limit", "0"),
    ("limit", "101"),
    ("limit", "-1"),
    ("limit", "１"),
    ("limit", "ten"),
    ("limit", ""),
    ("limit", "9" * 5000),
    ("status", "done"),
    ("status", ""),
    ("modality", "audio"),
    ("created_after", "yesterday"),
    ("created_after", ""),
    ("created_before", "2026-13-01"),
    ("created_before", "0001-01-01T00:00:00+23:59"),
    ("created_after", "9999-12-31T23:59:59-23:59"),
    ("cursor", "x"),
    ("cursor", ""),
    ("cursor", "ü"),
    ("cursor", "dGFza18"),
    ("model", "a\x00b"),
    ("metadata.a\x00b", "x"),
]


def test_what_cannot_be_understood_is_refused_by_its_name(key):
    for name, value in UNREADABLE:
        with pytest.raises(InvalidRequest) as caught:
            listed(key, **{name: value})
        assert caught.value.message.startswith(name.replace("\x00", "")), (name, value[:40])


@pytest.mark.parametrize("size", [1, 100])
def test_a_page_costs_one_statement_whatever_its_size(key, image_model, worker, size, django_assert_num_queries):
    steps.submitted_many(key, 100)
    for task in steps.claimed(worker, seats=20):
        steps.end(task, success=steps.success(assets=4))
    with django_assert_num_queries(1):
        assert len(page(key.id, {"limit": str(size)}).tasks) == size
