"""Our own disk and storage fail around a paid call: before it the task waits, after it nobody knows."""

import shutil
from pathlib import Path

import pytest
from django.core.files.storage import storages

from common.outgoing import dial
from common.outgoing.lookup import CUSTOMERS, customer
from tasks.assets import assets as domain_assets
from tests.adapters.raw_server import answer, raw_server
from tests.silence import hanging
from tests.storage.samples import picture as png
from tests.threads import joined
from tests.worker.driving import assets, beside, call, end_of, picture, task
from tools.children import PATIENCE, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("image_model")]


@pytest.fixture
def scratch(tmp_path, monkeypatch) -> Path:
    """The folder of temporary files, which is not there yet."""
    folder = tmp_path / "scratch"
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_without_temporary_files_a_task_waits_unpaid_and_is_bought_later(
    shift, key, sandbox, scratch, loopback_allowed
):
    with raw_server(answer(png("PNG"))) as host:
        task_id = picture(key, "a fox like this", images=[{"image_url": f"{host.url}/dot.png"}])
        shift.execute()
        assert (task(task_id).status, task(task_id).requeues) == ("queued", 1)
        assert (call(task_id).state, call(task_id).outcome["kind"]) == ("refused", "unpaid")
        assert sandbox.audit()["calls"] == {}
        scratch.mkdir()
        assert shift.work(task_id) == "succeeded"
    assert sandbox.audit()["jobs"] == 1


def test_an_account_whose_names_hang_waits_unpaid_while_others_buy(
    shift, key, other_key, sandbox, loopback_allowed, monkeypatch
):
    monkeypatch.setattr(dial, "LOOKUP_SECONDS", 0.01)
    with raw_server(answer(png("PNG"))) as host:
        images = [{"image_url": f"http://localhost:{host.port}/dot.png"}]
        with hanging(customer(str(key.account.pk)), CUSTOMERS.each):
            task_id = picture(key, "a fox like this", images=images)
            shift.execute()
            assert (task(task_id).status, call(task_id).outcome["kind"]) == ("queued", "unpaid")
            assert "name lookups of this account hang" in call(task_id).outcome["message"]
            monkeypatch.setattr(dial, "LOOKUP_SECONDS", PATIENCE)
            assert shift.work(picture(other_key, "another fox", images=images)) == "succeeded"
        assert sandbox.audit()["jobs"] == 1
        assert shift.work(task_id) == "succeeded"
    assert sandbox.audit()["jobs"] == 2


def test_an_own_image_that_the_disk_does_not_give_now_is_read_later(shift, key, sandbox):
    first = picture(key, "a fox")
    shift.work(first)
    path = Path(storages["assets"].path(assets(first)[0].storage_key))
    away = path.rename(path.with_name("away"))
    path.symlink_to("/proc/self/mem")  # it opens, and every read is a fault
    task_id = picture(key, "this fox", images=[{"image_url": domain_assets.input_url(first, 0)}])
    shift.execute()
    assert (task(task_id).status, call(task_id).outcome["kind"]) == ("queued", "unpaid")
    away.rename(path)
    assert shift.work(task_id) == "succeeded"
    assert sandbox.audit()["jobs"] == 2


@pytest.mark.parametrize(
    ("blocks_storage", "end", "state"),
    [(False, "succeeded", "done"), (True, "TASK_OUTCOME_UNKNOWN", "unknown")],
    ids=["storage takes the answer", "nobody takes the answer"],
)
def test_without_temporary_files_the_storage_has_to_take_the_answer(
    shift, key, sandbox, scratch, root, blocks_storage, end, state
):
    scratch.mkdir()
    task_id = picture(key, "a fox [held]")
    executing = beside(shift.execute)
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    shutil.rmtree(scratch)
    if blocks_storage:
        shutil.rmtree(root.path)
        root.take_away()
    sandbox.release()
    joined(executing)
    assert (end_of(task_id), call(task_id).state) == (end, state)
    assert sandbox.audit()["jobs"] == 1
