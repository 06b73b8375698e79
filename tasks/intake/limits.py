"""Decides a list of drafts by queue limits, balances, budgets and Idempotency-Keys in use, while the accounts are
locked."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.conf import settings

from accounts.authentication import Replay
from billing import budget_standing
from billing.budgets import Budgets
from billing.ledger import AccountState
from callbacks.deliveries import MOST_NEVER_ATTEMPTED
from common import sql
from common.errors import ApiError, InsufficientBalance, QueueLimitExceeded
from tasks.intake.drafts import Draft


@dataclass(slots=True, kw_only=True)
class Standing:
    """What the transaction found: the Idempotency-Keys in use, and by account how many live tasks it has at most; its
    queued tasks by key, counted where it may be near a limit; its callbacks that were never attempted, or will be owed
    by its live tasks; the bytes of its stored inputs; and the budgets, where there may be any."""

    replays: dict[tuple[int, str], Replay] = field(default_factory=dict)
    live: dict[int, int] = field(default_factory=dict)
    queued: defaultdict[int, Counter[int]] = field(default_factory=partial(defaultdict, Counter))
    callbacks: dict[int, int] = field(default_factory=dict)
    input_bytes: dict[int, int] = field(default_factory=dict)
    budgets: Budgets | None = None


def read_standing(
    drafts: Sequence[Draft], locked: Mapping[int, AccountState], *, with_replays: bool = True
) -> Standing:
    """One statement, run after the accounts are locked, so that its counts are current, where anything has to be asked;
    and one more that counts the tasks of accounts that may be near a limit."""
    standing = Standing()
    if asked := _questions(drafts, locked, with_replays=with_replays):
        _ask(asked, standing)
    _count(drafts, locked, standing)
    return standing


Question = tuple[str, list[Any]]
"""A SELECT of six columns, and its parameters."""


def _questions(drafts: Sequence[Draft], locked: Mapping[int, AccountState], *, with_replays: bool) -> list[Question]:
    """What only some drafts and accounts have to be asked for."""
    asked: list[Question] = []
    if named := {(d.caller.key_id, d.idempotency_key) for d in drafts if with_replays and d.idempotency_key}:
        given = sql.pack({"key": key, "name": name} for key, name in named)
        asked.append((REPLAYS.format(rows=sql.rows("key bigint, name text")), [given]))
    if owing := {d.caller.account_id for d in drafts if d.prepared.body.callback_url}:
        asked.append((CALLBACKS.format(owing=sql.places(owing), most=MOST_NEVER_ATTEMPTED), [*owing]))
    if storing := {d.caller.account_id for d in drafts if d.input_bytes}:
        asked.append((INPUTS.format(storing=sql.places(storing)), [*storing]))
    if limited := {account for account, state in locked.items() if state.has_budgets}:
        keys = {d.caller.key_id for d in drafts if d.caller.account_id in limited}
        query, parameters = budget_standing.query(limited, keys)
        asked.append((BUDGETS.format(query=query), parameters))
    return asked


def _ask(questions: Iterable[Question], standing: Standing) -> None:
    """All of them in one statement."""
    query = " UNION ALL ".join(select for select, _ in questions)
    rows = sql.fetch(query, [value for _, parameters in questions for value in parameters])
    standing.budgets = _budgets(rows)
    for kind, first, second, third, fourth, _ in rows:
        if kind == "replay" and third:
            standing.replays[first, second] = Replay(task_id=third, body_digest=fourth)
        elif kind == "callbacks":
            standing.callbacks[first] = int(second)
        elif kind == "inputs":
            standing.input_bytes[first] = int(second)


# Not joined: PostgreSQL cannot tell how few the drafts are, and would read whole indexes.
REPLAYS = """
SELECT 'replay', r.key, r.name, (SELECT t.id FROM tasks_task t WHERE t.key_id = r.key AND t.idempotency_key = r.name),
    (SELECT t.body_digest FROM tasks_task t WHERE t.key_id = r.key AND t.idempotency_key = r.name), '' FROM {rows}
"""


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
    """The tasks of the accounts that may be near a limit: the least of the account's and of those of its keys that have
    drafts. What an account has at most only submissions raise, by what they add; so most of them count nothing, however
    long the queue is."""
    coming, least = Counter[int](), dict[int, int]()
    for caller in (d.caller for d in drafts):
        account = caller.account_id
        coming[account] += 1
        least[account] = min(least.get(account, locked[account].max_queued), caller.max_queued)
    near = list[int]()
    for account, limit in least.items():
        standing.live[account] = known = locked[account].live_at_most or 0
        if locked[account].live_at_most is None or known + coming[account] > limit:
            standing.live[account] = 0
            near.append(account)
    counted = sql.fetch(COUNT.format(near=sql.listed("bigint")), [sql.values(near)]) if near else []
    for account, key, queued, live in counted:
        standing.queued[account][key] = queued
        standing.live[account] += live


COUNT = """
SELECT account_id, key_id, count(*) FILTER (WHERE status = 'queued'), count(*) FROM tasks_task
WHERE account_id {near} AND status IN ('queued', 'running') GROUP BY account_id, key_id
"""


def decide(
    drafts: Sequence[Draft], accounts: dict[int, AccountState], standing: Standing
) -> list[Replay | ApiError | None]:
    """For each draft, in arrival order and with running totals: the existing task, the refusal, or None to create."""
    spent = Counter[int]()
    outcomes: list[Replay | ApiError | None] = []
    for d in drafts:
        account_id = d.caller.account_id
        outcome: Replay | ApiError | None = None
        if d.idempotency_key:
            outcome = standing.replays.get((d.caller.key_id, d.idempotency_key))
        estimate = d.prepared.price.estimate_micros
        outcome = outcome or _refusal(d, estimate, accounts[account_id], spent[account_id], standing)
        if outcome is None:
            spent[account_id] += estimate
            _take(d, estimate, standing)
        outcomes.append(outcome)
    return outcomes


def _refusal(d: Draft, estimate: int, account: AccountState, spent: int, standing: Standing) -> ApiError | None:
    """The first limit that the draft would break, in the contract's order."""
    caller = d.caller
    queued = standing.queued[caller.account_id]
    if queued[caller.key_id] >= caller.max_queued:
        return _full_queue("API key", queued[caller.key_id], caller.max_queued)
    if queued.total() >= account.max_queued:
        return _full_queue("account", queued.total(), account.max_queued)
    owed = standing.callbacks.get(caller.account_id, 0)
    if d.prepared.body.callback_url and owed >= MOST_NEVER_ATTEMPTED:
        return _too_many_callbacks(owed)
    stored = standing.input_bytes.get(caller.account_id, 0)
    if d.input_bytes and stored + d.input_bytes > settings.MAX_INPUT_BYTES:
        return _too_many_inputs(d, stored)
    if account.available_micros - spent < estimate:
        return InsufficientBalance("The available balance does not cover the estimated cost of this task.")
    if standing.budgets:
        return standing.budgets.refusal(caller.account_id, caller.key_id, estimate, of_what="task")
    return None


def _take(d: Draft, estimate: int, standing: Standing) -> None:
    """The draft becomes a task: what later ones find is that much less."""
    account_id, key_id = d.caller.account_id, d.caller.key_id
    standing.queued[account_id][key_id] += 1
    if d.prepared.body.callback_url:
        standing.callbacks[account_id] = standing.callbacks.get(account_id, 0) + 1
    if d.input_bytes:
        standing.input_bytes[account_id] = standing.input_bytes.get(account_id, 0) + d.input_bytes
    if standing.budgets:
        standing.budgets.take(account_id, key_id, estimate)
    if d.idempotency_key:
        standing.replays[key_id, d.idempotency_key] = Replay(task_id=d.task_id, body_digest=d.body_digest)


def _full_queue(whose: str, queued: int, limit: int) -> QueueLimitExceeded:
    message = f"The {whose} has {queued} queued tasks, its limit is {limit}."
    return QueueLimitExceeded(message, headers={"Retry-After": "5"})


def _too_many_callbacks(owed: int) -> QueueLimitExceeded:
    message = (
        f"callback_url: {owed} callbacks of the account were never attempted, those of its live tasks included; "
        f"the limit is {MOST_NEVER_ATTEMPTED}. Wait until some have been attempted, or leave callback_url out."
    )
    return QueueLimitExceeded(message, headers={"Retry-After": "60"})


def _too_many_inputs(d: Draft, stored: int) -> QueueLimitExceeded:
    message = (
        f"{_place(d)} {d.input_bytes} bytes, and the stored inputs of the account's live tasks and unknown outcomes "
        f"{stored}; the limit is {settings.MAX_INPUT_BYTES}. Wait until some tasks have ended, or give images by URL."
    )
    return QueueLimitExceeded(message, headers={"Retry-After": "60"})


def _place(d: Draft) -> str:
    if d.option_bytes:
        return "params: these options and Data URLs have"
    return "params.inputs: this upload has" if d.prepared.request.inputs else "params.images: these Data URLs have"
