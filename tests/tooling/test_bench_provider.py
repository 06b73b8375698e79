"""The benchmark's provider: what it sells, how it tells late polls, and the adapter that answers at once."""

import io
from importlib.metadata import distributions

import pytest
import requests
from PIL import Image

from adapters import plugins
from bench import pictures, plugin
from bench.lateness import Polls, percentile
from tools.children import Child
from tools.stack import PYTHON, ROOT


def test_polls_tell_by_how_much_each_came_late():
    polls = Polls(every=10)
    polls.note(["a", "b", "c"], 100)
    polls.note(["a"], 110.5)
    polls.note(["b"], 113)
    polls.note(["a", "b"], 123)
    report = polls.report(125)
    assert (report["jobs"], report["polls"]) == (3, 7)
    assert report["late_max"] == 15, "c is due since 110, and never came"
    assert report["late_p50"] == 2.5


def test_polls_are_judged_from_a_moment_on_and_what_was_due_before_still_counts():
    polls = Polls(every=10)
    polls.note(["a"], 80)
    polls.note(["a", "b"], 100)
    polls.judge_from_now()
    assert polls.report(112)["late_max"] == 2, "both are due since 110, and a came ten seconds late before"
    polls.note(["a", "b"], 115)
    assert polls.report(120)["late_max"] == 5


def test_polls_of_what_has_ended_are_not_due():
    polls = Polls(every=10)
    polls.note(["a"], 100)
    polls.forget(["a"])
    assert polls.report(1_000)["late_max"] == 0


@pytest.mark.parametrize(("share", "expected"), [(0.5, 2), (0.75, 3), (0.99, 4), (0.0, 1)])
def test_a_percentile_is_one_of_the_values(share, expected):
    assert percentile([4, 2, 3, 1], share) == expected


@pytest.mark.parametrize("size", [0, 200, 262_144])
def test_a_picture_has_as_many_bytes_as_asked_for_and_can_be_decoded(size):
    made = pictures.png(size)
    assert len(made) == (size or 69)
    Image.open(io.BytesIO(made)).load()


def test_the_adapter_that_answers_at_once_is_one_that_the_service_takes(tmp_path, monkeypatch):
    place = plugin.install(tmp_path)
    monkeypatch.syspath_prepend(place)
    (package,) = distributions(path=[str(place)])
    loaded = plugins.load({}, package.entry_points)
    assert not loaded.skipped
    assert list(loaded.adapters) == ["bench_instant"]


@pytest.fixture
def provider(tmp_path):
    child = Child("provider", (str(PYTHON), "-m", "bench.provider"), environment={}, log=tmp_path / "log", folder=ROOT)
    yield child.wait_for_line(r"listening on (\S+)")[1]
    child.stop()


def test_it_sells_pictures_and_tells_when_a_finished_job_was_first_seen(provider):
    requests.post(f"{provider}/_/set", json={"picture_bytes": 200, "by_url": True, "finish": ["b"]}).raise_for_status()
    bought = requests.post(f"{provider}/images/images/generations", json={"prompt": "a fox"}).json()
    assert len(requests.get(bought["data"][0]["url"]).content) == 200
    path = f"{provider}/batch/contents/generations/tasks?filter.task_ids=a&filter.task_ids=b"
    assert [item["status"] for item in requests.get(path).json()["items"]] == ["running", "succeeded"]
    report = requests.get(f"{provider}/_/report").json()
    assert (report["jobs"], report["polls"], list(report["told_at"])) == (1, 2, ["b"])
