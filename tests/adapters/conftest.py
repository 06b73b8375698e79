"""What holds for all tests of adapters."""

import pytest

from common.outbound import Limits
from tools.children import PATIENCE


@pytest.fixture(autouse=True)
def patient_door(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection of the outbound door may take as long as all else: this process may be frozen while it opens one."""
    monkeypatch.setitem(Limits.__init__.__kwdefaults__, "connect_seconds", PATIENCE)
