"""At most what was bought is delivered: further files are dropped, and the operator hears of them."""

from contextlib import contextmanager
from pathlib import Path

import pytest

from adapters.base import Done, Output
from catalog.models import Channel
from tasks.models import Call, Task
from tests.adapters.making import connection_to
from tests.rows import make_channel
from tests.worker.driving import assets, call, hurry, picture, task
from worker.deliver import copies
from worker.deliver.copies import CallResult

pytestmark = [pytest.mark.django_db(transaction=True)]

SINGLE = {"gemini": ("gemini_generate_content", "/gemini"), "ark": ("ark_images", "/ark/api/v3")}
FLAG = "7 files more than were bought came, and were dropped"


@pytest.fixture
def image_channel(request, db, sandbox) -> Channel:
    adapter, path = getattr(request, "param", ("openai_images", "/openai/v1"))
    return make_channel("single", adapter, sandbox.url + path)


single = pytest.mark.parametrize("image_channel", SINGLE.values(), ids=SINGLE, indirect=True)


@pytest.mark.usefixtures("image_model")
@pytest.mark.parametrize("word", ["", "[url]"])
def test_one_picture_is_delivered_where_eight_came(shift, key, word):
    task_id = picture(key, f"a fox [more=7]{word}")
    assert shift.work(task_id) == "succeeded"
    assert len(assets(task_id)) == 1
    assert task(task_id).actual_micros == 40_000
    assert call(task_id).outcome == {"kind": "succeeded", "delivered": 1, "flags": [FLAG]}


@pytest.mark.usefixtures("image_model")
def test_so_it_is_where_the_price_is_of_the_request(shift, key, image_model):
    image_model.pricing_mode, image_model.prices = "per_request", {"*": "0.04"}
    image_model.save()
    task_id = picture(key, "a fox [more=7]", n=2)
    assert shift.work(task_id) == "succeeded"
    assert len(assets(task_id)) == 2
    assert call(task_id).outcome["flags"] == [FLAG]


@single
@pytest.mark.usefixtures("image_model")
def test_each_of_several_calls_delivers_one_picture(shift, key, bought_again):
    bought_again.add("a fox [more=7]")
    task_id = picture(key, "a fox [more=7]", n=2)
    assert shift.work(task_id) == "succeeded"
    assert (len(assets(task_id)), task(task_id).actual_micros) == (2, 80_000)
    outcomes = Call.objects.filter(task_id=task_id).values_list("outcome", flat=True)
    assert [(outcome["delivered"], outcome["flags"]) for outcome in outcomes] == [(1, [FLAG])] * 2


@pytest.mark.usefixtures("image_model")
def test_a_task_of_an_older_version_that_did_not_note_what_was_bought_gets_all(shift, key, image_model):
    image_model.pricing_mode, image_model.prices = "per_request", {"*": "0.04"}
    image_model.save()
    task_id = picture(key, "a fox [more=2][url]")
    shift.execute()
    row = Task.objects.get(id=task_id)
    Task.objects.filter(id=task_id).update(price={name: row.price[name] for name in row.price if name != "results"})
    hurry()
    assert shift.work(task_id) == "succeeded"
    assert len(assets(task_id)) == 3


class Files:
    """An adapter whose every output is a picture."""

    @contextmanager
    def open_output(self, output, connection):
        yield iter([b"\x89PNG\r\n\x1a\n" + output.url.encode()])


def test_of_a_film_one_is_taken_and_one_of_each_other_kind(root, tmp_path: Path):
    kinds = ["video", "image", "video", "image", "audio"]
    outputs = tuple(Output(index=n, kind=kind, url=f"https://x/{n}") for n, kind in enumerate(kinds))
    result = CallResult(call_id=1, done=Done(outputs=outputs))
    assert [output.index for output in result.wanted(1)] == [0, 1, 4]
    assert [output.index for output in result.wanted(None)] == [0, 1, 2, 3, 4]
    pictures = tuple(Output(index=n, kind="image", url=f"https://x/{n}") for n in range(8))
    copied = copies.make(
        [CallResult(call_id=1, done=Done(outputs=pictures))], Files(), connection_to("http://127.0.0.1:1"), most=1
    )
    assert (len(copied.stored), copied.dropped) == (1, {1: 7})
    assert len([path for path in (tmp_path / "assets").rglob("*") if path.is_file()]) == 1
