"""Five thousand open films in one worker process: its memory, and how punctual its polls are."""

import sys
import time
from dataclasses import replace

import psutil
import pytest

from accounts.models import Account, ApiKey
from billing import ledger
from tasks.intake import submission
from tasks.models import Call, Task
from tests.tasks import steps
from tools.children import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.soak, pytest.mark.timeout(600)]

FILMS = 5_000
BATCH = 250
WATCHED_SECONDS = 30
TOGETHER = 50
LATE_SECONDS = 2.0
POLL_SECONDS = 5.0


@pytest.fixture
def rich(key):
    """The key may run all of it."""
    ledger.credit(key.account.id, 10**10, reference="rich", reason="test")
    Account.objects.update(max_running=FILMS, max_queued=FILMS)
    ApiKey.objects.update(max_running=FILMS, max_queued=FILMS)
    return key


def submit_films(key):
    draft = steps.drafted(key, steps.VIDEO)
    for start in range(0, FILMS, BATCH):
        drafts = []
        for number in range(start, start + BATCH):
            request = replace(draft.prepared.request, prompt=f"film {number} [held]")
            drafts.append(steps.another(draft, prepared=replace(draft.prepared, request=request)))
        submission.submit(drafts)


def test_they_fit_one_process_and_are_polled_in_time(start_worker, rich, sandbox, video_channel):
    video_channel.options = {"poll_seconds": POLL_SECONDS}
    video_channel.save()
    worker = start_worker(WORKER_LEASE="60")
    process = psutil.Process(worker.process.pid)
    started = time.monotonic()
    submit_films(rich)
    wait_until(lambda: Call.objects.filter(state="accepted").count() == FILMS, timeout=300, what="every paid call")
    report(f"{FILMS} films running after {time.monotonic() - started:.0f} s")
    polls, cpu, most = polls_of(sandbox), process.cpu_times(), 0
    ends_at = time.monotonic() + WATCHED_SECONDS
    while time.monotonic() < ends_at:
        most = max(most, process.memory_info().rss)
        time.sleep(0.2)
    used = process.cpu_times()
    rate = (polls_of(sandbox) - polls) / WATCHED_SECONDS
    busy = (used.user + used.system - cpu.user - cpu.system) / WATCHED_SECONDS
    report(f"{most / 2**20:.0f} MB, {rate:.0f} requests/s, {busy:.0%} of a core")
    assert most < 300 * 2**20
    assert rate >= FILMS / TOGETHER / (POLL_SECONDS + LATE_SECONDS)
    assert Call.objects.filter(faults__gt=0).count() == 0
    start_worker(WORKER_LEASE="60")
    assert Task.objects.filter(status="running", attempt=1).count() == FILMS
    started = time.monotonic()
    worker.terminate()
    wait_until(lambda: not Task.objects.filter(status="running", attempt=1).exists(), timeout=30, what="the adoption")
    polls = polls_of(sandbox)
    wait_until(lambda: polls_of(sandbox) >= polls + FILMS / TOGETHER, timeout=30, what="a poll of each")
    assert worker.wait(1) == 0
    report(f"adopted and polled in time again after {time.monotonic() - started:.1f} s")


def polls_of(sandbox):
    return sandbox.audit()["calls"]["poll"]


def report(line):
    sys.stdout.write(f"\n{line}\n")
