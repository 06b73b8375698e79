"""The command that becomes a worker."""

import gc
import signal
from collections.abc import Iterator

import pytest
from django.core.management import call_command

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def process() -> Iterator[None]:
    """Signals and the collector of this process are as before at the end."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    usual = gc.get_threshold()
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)
    gc.unfreeze()
    gc.set_threshold(*usual)


@pytest.mark.once
def test_a_worker_never_looks_again_through_what_it_has_loaded(process: None) -> None:
    before = gc.get_freeze_count()
    call_command("run_worker", "--drain")
    assert gc.get_freeze_count() > before + 10_000
    assert gc.isenabled()
    assert gc.get_threshold() > (1_000, 0, 0)
