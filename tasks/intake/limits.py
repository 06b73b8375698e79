"""Decides a list of drafts by queue limits, balances, budgets and Idempotency-Keys in use, while the accounts are
locked."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from billing import budget_standing
from billing.budgets import Budgets
from billing.ledger import AccountState
from callbacks.deliveries import MOST_NEVER_ATTEMPTED
from common import sql
from common.errors import ApiError, InsufficientBalance, QueueLimitExceeded
from tasks.gate import Caller, Replay
from tasks.intake.drafts import Draft


@dataclass(slots=True, kw_only=True)
class Standing:
    """What the transaction found: the Idempotency-Keys in use, and by account how many live tasks it has at most; its
    queued tasks by key, counted where it may be near a limit; its callbacks that were never attempted, or will be owed
    by its live tasks; the bytes of its stored inputs, and the budgets."""

    replays: dict[tuple[int, str], Replay] = field(default_factory=dict)
    live: dict[int, int] = field(default_factory=dict)
    queued: defaultdict[int, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    callbacks: dict[int, int] = field(default_factory=dict)
    input_bytes: dict[int, int] = field(default_factory=dict)
    budgets: Budgets = field(default_factory=Budgets)


def read_standing(
    drafts: Sequence[Draft], locked: Mapping[int, AccountState], *, with_replays: bool = True
) -> Standing:
    """One statement, run after the accounts are locked, so that its counts are current, where anything has to be asked;
    and one more that counts the tasks of accounts that may be near a limit."""
    asked = [*(_of_drafts(drafts) if with_replays else ()), *_of_accounts(drafts, locked)]
    query, parameters = " UNION ALL ".join(part for part, _ in asked), [value for _, given in asked for value in given]
    rows = sql.fetch(query, parameters) if asked else []
    standing = Standing(budgets=_budgets(rows))
    for kind, first, second, third, fourth, _ in rows:
        if kind == "replay" and third:
            standing.replays[first, second] = Replay(task_id=third, body_digest=fourth)
        elif kind == "callbacks":
            standing.callbacks[first] = int(second)
        elif kind == "inputs":
            standing.input_bytes[first] = int(second)
    _count(drafts, locked, standing)
    return standing


Part = tuple[str, list[Any]]
"""A SELECT of six columns, and its parameters."""


def _of_drafts(drafts: Sequence[Draft]) -> Iterator[Part]:
    if named := {(d.caller.key_id, d.idempotency_key) for d in drafts if d.idempotency_key}:
        yield (
            REPLAYS.format(rows=sql.rows("key bigint, name text")),
            [sql.pack({"key": k, "name": n} for k, n in named)],
        )


# Not joined: PostgreSQL cannot tell how few the drafts are, and would read whole indexes.
REPLAYS = """
SELECT 'replay', r.key, r.name, (SELECT t.id FROM tasks_task t WHERE t.key_id = r.key AND t.idempotency_key = r.name),
    (SELECT t.body_digest FROM tasks_task t WHERE t.key_id = r.key AND t.idempotency_key = r.name), '' FROM {rows}
"""


def _of_accounts(drafts: Sequence[Draft], locked: Mapping[int, AccountState]) -> Iterator[Part]:
    """What only some accounts have to be asked for."""
    if owing := {d.caller.account_id for d in drafts if d.owes_callback}:
        yield CALLBACKS.format(owing=sql.places(owing), most=MOST_NEVER_ATTEMPTED), [*owing]
    if storing := {d.caller.account_id for d in drafts if d.input_bytes}:
        yield INPUTS.format(storing=sql.places(storing)), [*storing]
    if limited := {account for account, state in locked.items() if state.has_budgets}:
        keys = {d.caller.key_id for d in drafts if d.caller.account_id in limited}
        query, parameters = budget_standing.query(limited, keys)
        yield BUDGETS.format(query=query), parameters


CALLBACKS = """
SELECT 'callbacks', a.id, CAST((
    SELECT count(*) FROM (
        SELECT 1 FROM callbacks_delivery d
        WHERE d.account_id = a.id AND d.status = 'pending' AND d.attempts = 0 LIMIT {most}
    ) AS unattempted
) + (
    SELECT count(*) FROM tasks_task t
    WHERE t.account_id = a.id AND t.status IN ('queued', 'running') AND t.callback_url IS NOT NULL
) AS text), '', '', '' FROM accounts_account a WHERE a.id IN ({owing})
"""
INPUTS = """
SELECT 'inputs', account_id, CAST(sum(input_bytes) AS text), '', '', '' FROM tasks_task
WHERE account_id IN ({storing}) AND input_bytes > 0 GROUP BY account_id
"""
BUDGETS = """
SELECT 'budget', holder_id, holder || ' ' || period || ' ' || today, CAST(limit_micros AS text),
    CAST(used_micros AS text), '' FROM ({query}) AS budgets
"""


def _budgets(rows: Iterable[tuple[Any, ...]]) -> Budgets:
    found = [(*second.split(), first, limit, used) for kind, first, second, limit, used, _ in rows if kind == "budget"]
    return Budgets(
        budget_standing.standings(
            (holder, who, window, day, limit, used) for holder, window, day, who, limit, used in found
        )
    )


def _count(drafts: Sequence[Draft], locked: Mapping[int, AccountState], standing: Standing) -> None:
    """The tasks of the accounts that may be near a limit. What an account has at most only submissions raise, by what
    they add; so most of them count nothing, however long the queue is."""
    standing.live = {a: state.live_at_most for a, state in locked.items() if state.live_at_most is not None}
    least = _least_limits(drafts, locked)
    coming = Counter(d.caller.account_id for d in drafts)
    near = [a for a, limit in least.items() if a not in standing.live or standing.live[a] + coming[a] > limit]
    standing.live |= dict.fromkeys(near, 0)
    counted = sql.fetch(COUNT.format(near=sql.listed("bigint")), [sql.values(near)]) if near else []
    for account, key, queued, live in counted:
        standing.queued[account][key] = queued
        standing.live[account] += live


COUNT = """
SELECT account_id, key_id, count(*) FILTER (WHERE status = 'queued'), count(*) FROM tasks_task
WHERE account_id {near} AND status IN ('queued', 'running') GROUP BY account_id, key_id
"""


def _least_limits(drafts: Sequence[Draft], locked: Mapping[int, AccountState]) -> dict[int, int]:
    """The least limit of each account and those of its keys that have drafts."""
    least: dict[int, int] = {}
    for caller in (d.caller for d in drafts):
        known = least.get(caller.account_id, locked[caller.account_id].max_queued)
        least[caller.account_id] = min(known, caller.max_queued)
    return least


def decide(
    drafts: Sequence[Draft], accounts: dict[int, AccountState], standing: Standing
) -> list[Replay | ApiError | None]:
    """For each draft, in arrival order and with running totals: the existing task, the refusal, or None to create."""
    spent = dict.fromkeys(accounts, 0)
    outcomes: list[Replay | ApiError | None] = []
    for d in drafts:
        caller = d.caller
        outcome = (
            _replay(d, standing)
            or _over_queue(caller, accounts, standing)
            or _over_callbacks(d, standing)
            or _over_inputs(d, standing)
            or _unaffordable(d, accounts, spent)
            or _over_budget(d, standing)
        )
        if outcome is None:
            spent[caller.account_id] += d.prepared.price.estimate_micros
            standing.budgets.take(caller.account_id, caller.key_id, d.prepared.price.estimate_micros)
            standing.queued[caller.account_id][caller.key_id] += 1
            _add(standing.callbacks, caller, int(d.owes_callback))
            _add(standing.input_bytes, caller, d.input_bytes)
            if d.idempotency_key:
                standing.replays[caller.key_id, d.idempotency_key] = Replay(
                    task_id=d.task_id, body_digest=d.body_digest
                )
        outcomes.append(outcome)
    return outcomes


def _replay(d: Draft, standing: Standing) -> Replay | None:
    return standing.replays.get((d.caller.key_id, d.idempotency_key)) if d.idempotency_key else None


def _over_queue(caller: Caller, accounts: dict[int, AccountState], standing: Standing) -> QueueLimitExceeded | None:
    queued_of = standing.queued[caller.account_id]
    for what, queued, limit in (
        ("API key", queued_of[caller.key_id], caller.max_queued),
        ("account", queued_of.total(), accounts[caller.account_id].max_queued),
    ):
        if queued >= limit:
            message = f"The {what} has {queued} queued tasks, its limit is {limit}."
            return QueueLimitExceeded(message, headers={"Retry-After": "5"})
    return None


def _over_callbacks(d: Draft, standing: Standing) -> QueueLimitExceeded | None:
    owed = standing.callbacks.get(d.caller.account_id, 0)
    if not d.owes_callback or owed < MOST_NEVER_ATTEMPTED:
        return None
    message = (
        f"callback_url: {owed} callbacks of the account were never attempted, those of its live tasks included; "
        f"the limit is {MOST_NEVER_ATTEMPTED}. Wait until some have been attempted, or leave callback_url out."
    )
    return QueueLimitExceeded(message, headers={"Retry-After": "60"})


def _over_inputs(d: Draft, standing: Standing) -> QueueLimitExceeded | None:
    stored = standing.input_bytes.get(d.caller.account_id, 0)
    if not d.input_bytes or stored + d.input_bytes <= settings.MAX_INPUT_BYTES:
        return None
    message = (
        f"{_place(d)} {d.input_bytes} bytes, and the stored inputs of the account's live tasks and unknown outcomes "
        f"{stored}; the limit is {settings.MAX_INPUT_BYTES}. Wait until some tasks have ended, or give images by URL."
    )
    return QueueLimitExceeded(message, headers={"Retry-After": "60"})


def _place(d: Draft) -> str:
    if d.option_bytes:
        return "params: these options and Data URLs have"
    return "params.inputs: this upload has" if d.prepared.request.inputs else "params.images: these Data URLs have"


def _add(counts: dict[int, int], caller: Caller, more: int) -> None:
    counts[caller.account_id] = counts.get(caller.account_id, 0) + more


def _unaffordable(d: Draft, accounts: dict[int, AccountState], spent: dict[int, int]) -> InsufficientBalance | None:
    account = d.caller.account_id
    if accounts[account].available_micros - spent[account] < d.prepared.price.estimate_micros:
        return InsufficientBalance("The available balance does not cover the estimated cost of this task.")
    return None


def _over_budget(d: Draft, standing: Standing) -> InsufficientBalance | None:
    caller, estimate = d.caller, d.prepared.price.estimate_micros
    return standing.budgets.refusal(caller.account_id, caller.key_id, estimate, of_what="task")
