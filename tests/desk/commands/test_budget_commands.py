"""--budget of create_account and create_key, and set_budget."""

import pytest
from django.core.management import CommandError

from accounts.models import Account, ApiKey
from billing import budgets

pytestmark = pytest.mark.django_db
DOLLAR = 1_000_000
GIVEN = {
    "day=10,month=100.5": {"day": 10, "month": 100.5},
    "month=0": {"day": None, "month": 0},
    " day=0.000001": {"day": 0.000001, "month": None},
    "none": {"day": None, "month": None},
}
NO_BUDGETS = ["", "10", "day", "day=", "day=ten", "day=-1", "day=1e30", "day=1,day=2", "week=1", "day=1,", "none,day=1"]


def standing(account_id: int, key_id: int | None = None) -> dict[tuple[str, str], int]:
    return {(b.holder, b.window): b.limit_micros for b in budgets.standing(account_id, key_id)}


@pytest.mark.parametrize("given", GIVEN)
def test_accounts_and_keys_open_with_their_budgets(run, given):
    account = run("create_account", "acme", "--budget", given)
    key = run("create_key", "acme", "--budget", given)
    assert account["budget"] == key["budget"] == GIVEN[given]
    set_ones = {window: usd for window, usd in GIVEN[given].items() if usd is not None}
    found = {name: micros / DOLLAR for name, micros in standing(account["id"], key["id"]).items()}
    assert found == {(holder, window): usd for holder in ("account", "key") for window, usd in set_ones.items()}


def test_what_is_no_budget_opens_nothing(refusal, acme):
    for given in NO_BUDGETS:
        assert refusal("create_account", "beta", f"--budget={given}").startswith("--budget: "), given
        assert refusal("create_key", "acme", f"--budget={given}").startswith("--budget: "), given
        assert refusal("set_budget", given, "--account", "acme").startswith("BUDGET: "), given
    assert (Account.objects.count(), ApiKey.objects.count()) == (1, 0)


def test_a_budget_is_changed_whole(run, acme):
    key = run("create_key", "acme", "--budget", "day=1")
    assert run("set_budget", "day=5,month=7", "--account", "acme")["budget"] == {"day": 5, "month": 7}
    assert run("set_budget", "month=2", "--key", str(key["id"]))["budget"] == {"day": None, "month": 2}
    limits = {("account", "day"): 5, ("account", "month"): 7, ("key", "month"): 2}
    assert standing(acme.pk, key["id"]) == {name: usd * DOLLAR for name, usd in limits.items()}
    run("set_budget", "none", "--account", "acme")
    assert standing(acme.pk) == {}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [([], "--account, --key"), (["--account", "acme", "--key", "1"], "--account, --key"), (["--key", "0"], "--key")],
)
def test_one_holder_is_named(run, acme, arguments, named):
    with pytest.raises(CommandError, match=named):
        run("set_budget", "day=1", *arguments)
