"""Decides a list of drafts by queue limits, balances, budgets and Idempotency-Keys in use, while the accounts are
locked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from billing import budget_standing
from billing.budgets import Budgets
from billing.ledger import AccountState
from callbacks.deliveries import MOST_NEVER_ATTEMPTED
from common import sql
from common.errors import ApiError, InsufficientBalance, QueueLimitExceeded
from tasks.drafts import Draft
from tasks.gate import Caller, Replay


@dataclass(slots=True, kw_only=True)
class Standing:
    """What the transaction found: queued tasks, the keys' limits, the Idempotency-Keys in use, and the callbacks of
    each account that were never attempted, or will be owed by its live tasks; the bytes of its stored inputs, and the
    budgets."""

    queued: dict[tuple[int, int], int]
    key_limits: dict[int, int]
    replays: dict[tuple[int, str], Replay]
    callbacks: dict[int, int] = field(default_factory=dict)
    input_bytes: dict[int, int] = field(default_factory=dict)
    budgets: Budgets = field(default_factory=Budgets)


def read_standing(drafts: Sequence[Draft], locked: Mapping[int, AccountState]) -> Standing:
    """One statement, run after the accounts are locked, so that its counts are current."""
    accounts = {d.caller.account_id for d in drafts}
    limited = {account for account in accounts if locked[account].has_budgets}
    budget_query, spenders = _budget_query(limited, {d.caller.key_id for d in drafts if d.caller.account_id in limited})
    owing = {d.caller.account_id for d in drafts if d.owes_callback}
    storing = {d.caller.account_id for d in drafts if d.input_bytes}
    keys = {d.caller.key_id for d in drafts}
    named = [(d.caller.key_id, d.idempotency_key) for d in drafts if d.idempotency_key] or [NOBODYS]
    rows = sql.fetch(
        STANDING.format(
            accounts=sql.places(accounts),
            keys=sql.places(keys),
            owing=sql.places(owing),
            storing=sql.places(storing),
            most=MOST_NEVER_ATTEMPTED,
            named=" OR ".join(["t.key_id = %s AND t.idempotency_key = %s"] * len(named)),
        )
        + budget_query,
        [*accounts, *keys, *owing, *storing, *(value for pair in named for value in pair), *spenders],
    )
    standing = Standing(queued={}, key_limits={}, replays={}, budgets=_budgets(rows))
    for kind, first, second, text, digest in rows:
        if kind == "queued":
            standing.queued[first, int(second)] = int(text)
        elif kind == "limit":
            standing.key_limits[first] = int(second)
        elif kind == "callbacks":
            standing.callbacks[first] = int(second)
        elif kind == "inputs":
            standing.input_bytes[first] = int(second)
        elif kind == "replay":
            standing.replays[first, second] = Replay(task_id=text, body_digest=digest)
    return standing


# The status is named twice so that SQLite, too, sees that the partial index on live tasks applies.
STANDING = """
SELECT 'queued', account_id, CAST(key_id AS text), CAST(count(*) AS text), '' FROM tasks_task
WHERE account_id IN ({accounts}) AND status = 'queued' AND status IN ('queued', 'running')
GROUP BY account_id, key_id
UNION ALL
SELECT 'limit', id, CAST(max_queued AS text), '', '' FROM accounts_apikey WHERE id IN ({keys})
UNION ALL
SELECT 'callbacks', a.id, CAST((
    SELECT count(*) FROM (
        SELECT 1 FROM callbacks_delivery d
        WHERE d.account_id = a.id AND d.status = 'pending' AND d.attempts = 0 LIMIT {most}
    ) AS unattempted
) + (
    SELECT count(*) FROM tasks_task t
    WHERE t.account_id = a.id AND t.status IN ('queued', 'running') AND t.callback_url IS NOT NULL
) AS text), '', '' FROM accounts_account a WHERE a.id IN ({owing})
UNION ALL
SELECT 'inputs', account_id, CAST(sum(input_bytes) AS text), '', '' FROM tasks_task
WHERE account_id IN ({storing}) AND input_bytes > 0 GROUP BY account_id
UNION ALL
SELECT 'replay', t.key_id, t.idempotency_key, t.id, t.body_digest FROM tasks_task t
WHERE {named}
"""
NOBODYS = (0, "")  # no key has this id


def _budget_query(account_ids: set[int], key_ids: set[int]) -> tuple[str, list[int]]:
    """The part of the statement that reads budgets, where any account has some; and its parameters."""
    if not account_ids:
        return "", []
    query, parameters = budget_standing.query(account_ids, key_ids)
    return BUDGETS.format(query=query), parameters


BUDGETS = """UNION ALL
SELECT 'budget', holder_id, holder || ' ' || period || ' ' || today, CAST(limit_micros AS text),
    CAST(used_micros AS text)
FROM ({query}) AS budgets
"""


def _budgets(rows: Iterable[tuple[Any, ...]]) -> Budgets:
    found = [(*second.split(), first, limit, used) for kind, first, second, limit, used in rows if kind == "budget"]
    return Budgets(
        budget_standing.standings(
            (holder, who, window, day, limit, used) for holder, window, day, who, limit, used in found
        )
    )


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
            slot = caller.account_id, caller.key_id
            standing.queued[slot] = standing.queued.get(slot, 0) + 1
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
    of_key = standing.queued.get((caller.account_id, caller.key_id), 0)
    of_account = sum(n for (account, _), n in standing.queued.items() if account == caller.account_id)
    for what, queued, limit in (
        ("API key", of_key, standing.key_limits[caller.key_id]),
        ("account", of_account, accounts[caller.account_id].max_queued),
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
