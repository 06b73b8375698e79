"""The web process's habits with reference cycles."""

import gc
import runpy
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from common.process import shutdown
from tools.stack import ROOT


@pytest.fixture
def collector(monkeypatch):
    """As before at the end, and so is the word on whether this process stops."""
    monkeypatch.setattr(shutdown, "_is_alive", shutdown._is_alive)
    usual = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*usual)


def test_a_web_process_never_looks_again_through_what_it_has_loaded(collector):
    before = gc.get_freeze_count()
    begin = runpy.run_path(str(ROOT / "config" / "gunicorn.py"))["post_worker_init"]
    with ThreadPoolExecutor(1) as own:  # whose turns on the cores go with it
        own.submit(begin, SimpleNamespace(alive=True)).result()
    assert gc.get_freeze_count() > before + 10_000
    assert gc.isenabled()
    assert gc.get_threshold() > (1_000, 0, 0)
