"""Accounts that got their money before everything else: the ledger's entries follow each other in time."""

import pytest

from accounts.models import Account
from tests.console.usage.spent import opened


@pytest.fixture
def account(db: None) -> Account:
    """With a balance of 10 USD."""
    return opened("tester")


@pytest.fixture
def other_account(db: None) -> Account:
    return opened("other")
