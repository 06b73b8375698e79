"""One account does all the harm that its keys allow; a second one beside it must not notice."""

import sys
from collections.abc import Iterator

import pytest

from tests.databases import Databases
from tests.faults.hostile.attack import Attack, attacking
from tests.faults.hostile.neighbour import EVENTS, Neighbour, neighbour, p99
from tests.flows.conftest import CATALOG
from tests.processes import TestStack
from tools.children import wait_until

KEYS = 4
OWED_FIRST = 20
PILE_UP = """
from tests.faults.hostile import backlog
backlog.pile_up("attacker", tried={tried}, untried={untried}, ports={ports})
"""
NEVER_TRIED = """
from callbacks.models import Delivery
print(Delivery.objects.filter(task__account__name="attacker", status="pending", attempts=0).count())
"""


@pytest.fixture
def stack(databases: Databases, tmp_path) -> Iterator[TestStack]:
    """Web, worker and sandbox, with the name server of the attacker's names. The provider has a name, too."""
    with databases.fresh() as url:
        made = TestStack(database_url=url, folder=tmp_path)
        made.environment["DJANGO_SETTINGS_MODULE"] = "tests.faults.hostile.settings"
        sandbox = made.start_sandbox()
        named = sandbox.url.replace("127.0.0.1", "sandbox.honest.example")
        made.load_catalog(CATALOG.replace("SANDBOX", named).replace("CREDENTIAL", "sandbox"))
        made.start_web()
        yield made
        made.stop()


def shell(stack: TestStack, program: str) -> str:
    return stack.manage("shell", "-v", "0", "-c", program).stdout


def attackers(stack: TestStack) -> list[str]:
    """The keys of one account."""
    stack.manage("create_account", "attacker", "--credit", "1000")
    return [str(stack.manage_json("create_key", "attacker")["key"]) for _ in range(KEYS)]


def pile_up(attack: Attack, *, tried: int, untried: int) -> None:
    """Beside what the attack itself has made by now."""
    wait_until(lambda: attack.done["submit 202"] >= OWED_FIRST, what="the attack")
    shell(attack.stack, PILE_UP.format(tried=tried, untried=untried, ports=attack.ports))


def assert_unharmed(one: Neighbour) -> None:
    """Nothing was refused, every task succeeded, and the stream told each step of each."""
    assert one.refused == []
    assert set(one.tasks.values()) == {"succeeded"}
    assert one.heard() == dict.fromkeys(one.tasks, EVENTS)


@pytest.mark.once
def test_a_hostile_account_neither_fails_nor_refuses_another(stack):
    keys, beside_key = attackers(stack), stack.create_key(account="neighbour")
    with neighbour(stack, beside_key) as beside:
        with attacking(stack, keys, half_open=500) as attack:
            pile_up(attack, tried=500, untried=2_500)
            stack.start_worker()
            beside.work(4)
            never_tried = int(shell(stack, NEVER_TRIED))
        assert_unharmed(beside)
    assert never_tried > 2_000, "the neighbour's callbacks waited for the attacker's backlog"
    assert stack.manage("check_ledger").returncode == 0


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_the_neighbours_waits_with_and_without_the_attack(stack):
    """p99 of each thing that it does, in seconds, in one run. The goal is at most twice and 100 ms more."""
    keys, beside_key = attackers(stack), stack.create_key(account="neighbour", credit="100")
    stack.start_worker()
    with neighbour(stack, beside_key) as alone:
        alone.work(100)
        assert_unharmed(alone)
    with neighbour(stack, beside_key) as beside:
        with attacking(stack, keys, half_open=5_000) as attack:
            pile_up(attack, tried=20_000, untried=9_000)
            beside.work(100)
        assert_unharmed(beside)
    for what, seconds in beside.seconds.items():
        before, with_attack = p99(alone.seconds[what]), p99(seconds)
        verdict = "as the goal" if with_attack <= 2 * before + 0.1 else "past the goal"
        sys.stdout.write(f"\np99 of {what}: alone {before:.3f} s, beside the attack {with_attack:.3f} s: {verdict}")
    sys.stdout.write(f"\nthe attack: {dict(attack.done)}\n")
    assert stack.manage("check_ledger").returncode == 0
