"""The proof that the books are right: each rule of contract section 6 as a query that lists its breaches."""

from dataclasses import dataclass
from functools import reduce
from itertools import islice

from billing import budget_sums, call_statements, ledger_triggers, seals
from common import sql, token_usage
from tasks.figures import rules as figure_rules
from tasks.models import ENDED

SHOWN = 50
ENDS = sql.words(ENDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """One row that breaks a rule."""

    rule: str
    subject: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was counted and what is wrong; `breaches` is empty when the books are right."""

    tasks: int
    relayed_calls: int
    entries: int
    open_holds: int
    seals: int
    breaches: tuple[Breach, ...]


CHARGES = """
(SELECT reference, count(*) AS n, -sum(amount_micros) AS micros, min(account_id) AS account_id
 FROM billing_ledgerentry
 WHERE kind = 'charge' AND book = 'customer' GROUP BY reference)
"""
RULES = {
    "the entries of a booking sum to zero": """
        SELECT reference || ' ' || kind, 'sum ' || sum(amount_micros) FROM billing_ledgerentry
        GROUP BY reference, kind HAVING sum(amount_micros) <> 0""",
    "balance = sum of the account's entries": """
        SELECT a.name, 'balance ' || a.balance_micros || ', entries ' || COALESCE(sum(e.amount_micros), 0)
        FROM accounts_account a LEFT JOIN billing_ledgerentry e ON e.account_id = a.id AND e.book = 'customer'
        GROUP BY a.id, a.name, a.balance_micros HAVING a.balance_micros <> COALESCE(sum(e.amount_micros), 0)""",
    "held = sum of the account's open holds": """
        SELECT a.name, 'held ' || a.held_micros || ', holds ' || COALESCE(sum(h.amount_micros), 0)
        FROM accounts_account a LEFT JOIN billing_hold h ON h.account_id = a.id AND h.state = 'open'
        GROUP BY a.id, a.name, a.held_micros HAVING a.held_micros <> COALESCE(sum(h.amount_micros), 0)""",
    "every task has one hold of its estimate": """
        SELECT t.id, 'hold ' || COALESCE(CAST(h.amount_micros AS text), 'none') || ', estimate ' || t.estimated_micros
        FROM tasks_task t LEFT JOIN billing_hold h ON h.reference = t.id
        WHERE h.reference IS NULL OR h.amount_micros <> t.estimated_micros OR h.account_id <> t.account_id
            OR h.key_id <> t.key_id""",
    "an open hold has a live task, a live task an open hold": """
        SELECT t.id, t.status || ' with hold ' || h.state FROM tasks_task t JOIN billing_hold h ON h.reference = t.id
        WHERE (t.status IN ('queued', 'running')) <> (h.state = 'open')
           OR (t.status = 'succeeded') <> (h.state = 'settled')""",
    "a hold has a subject": """
        SELECT h.reference, 'no such task or call' FROM billing_hold h
        LEFT JOIN tasks_task t ON t.id = h.reference LEFT JOIN billing_relayedcall c ON c.id = h.reference
        WHERE t.id IS NULL AND c.id IS NULL""",
    "a succeeded task has one charge of its actual cost, any other task none": f"""
        SELECT t.id, t.status || ', actual ' || COALESCE(CAST(t.actual_micros AS text), 'null') || ', charges '
            || COALESCE(CAST(c.n AS text), '0') || ' of ' || COALESCE(CAST(c.micros AS text), '0')
            || ' to account ' || COALESCE(CAST(c.account_id AS text), 'none')
        FROM tasks_task t LEFT JOIN {CHARGES} c ON c.reference = t.id
        WHERE CASE WHEN t.status = 'succeeded' AND t.actual_micros > 0
                   THEN c.n IS NULL OR c.n <> 1 OR c.micros <> t.actual_micros OR c.account_id <> t.account_id
                   ELSE c.n IS NOT NULL OR COALESCE(t.actual_micros, 0) <> 0 END""",
    "a charge has a subject": """
        SELECT e.reference, 'no such task or call' FROM billing_ledgerentry e
        LEFT JOIN tasks_task t ON t.id = e.reference LEFT JOIN billing_relayedcall c ON c.id = e.reference
        WHERE e.kind = 'charge' AND t.id IS NULL AND c.id IS NULL""",
    "a refund is one, of a charge, to its account, and at most what was charged": """
        SELECT r.reference, 'refund ' || r.micros || ' to account ' || COALESCE(CAST(r.account_id AS text), 'none')
            || ', charge ' || COALESCE(CAST(-c.amount_micros AS text), 'none')
            || ' to account ' || COALESCE(CAST(c.account_id AS text), 'none')
        FROM (
            SELECT reference, count(*) AS legs, max(account_id) AS account_id,
                COALESCE(sum(CASE WHEN book = 'customer' THEN amount_micros END), 0) AS micros
            FROM billing_ledgerentry WHERE kind = 'refund' GROUP BY reference
        ) r LEFT JOIN billing_ledgerentry c ON c.reference = r.reference AND c.kind = 'charge' AND c.book = 'customer'
        WHERE r.legs <> 2 OR r.micros <= 0 OR c.id IS NULL OR r.micros > -c.amount_micros
           OR r.account_id IS NULL OR r.account_id <> c.account_id""",
    "every relayed call has one hold of its estimate": """
        SELECT c.id, 'hold ' || COALESCE(CAST(h.amount_micros AS text), 'none') || ', estimate ' || c.estimated_micros
        FROM billing_relayedcall c LEFT JOIN billing_hold h ON h.reference = c.id
        WHERE h.reference IS NULL OR h.amount_micros <> c.estimated_micros OR h.account_id <> c.account_id
            OR h.key_id <> c.key_id""",
    "no relayed call is charged more than its hold": """
        SELECT id, 'actual ' || actual_micros || ', hold ' || estimated_micros FROM billing_relayedcall
        WHERE actual_micros > estimated_micros""",
    "a relayed call and its hold are open, settled or released together": """
        SELECT c.id, c.state || ' with hold ' || h.state FROM billing_relayedcall c
        JOIN billing_hold h ON h.reference = c.id WHERE c.state <> h.state""",
    "a settled call has one charge of its actual cost, any other call none": f"""
        SELECT c.id, c.state || ', actual ' || COALESCE(CAST(c.actual_micros AS text), 'null') || ', charges '
            || COALESCE(CAST(g.n AS text), '0') || ' of ' || COALESCE(CAST(g.micros AS text), '0')
            || ' to account ' || COALESCE(CAST(g.account_id AS text), 'none')
        FROM billing_relayedcall c LEFT JOIN {CHARGES} g ON g.reference = c.id
        WHERE CASE WHEN c.state = 'settled' AND c.actual_micros > 0
                   THEN g.n IS NULL OR g.n <> 1 OR g.micros <> c.actual_micros OR g.account_id <> c.account_id
                   ELSE g.n IS NOT NULL END""",
    "the usage of a key, day and model = sum of its settled calls": f"""
        SELECT 'key ' || key_id || ' ' || day || ' ' || model,
            'off by ' || sum(calls) || ' calls, ' || sum(cost_micros) || ' of cost'
        FROM (
            SELECT key_id, CAST(day AS text) AS day, model, calls, cost_micros, {", ".join(token_usage.COUNTS)}
            FROM billing_relayusage
            UNION ALL
            SELECT key_id, {{day}} AS day, model, -count(*), -sum(actual_micros),
                {", ".join(f"-sum({name})" for name in token_usage.COUNTS)}
            FROM billing_relayedcall WHERE state = 'settled' GROUP BY 1, 2, 3
        ) u GROUP BY key_id, day, model
        HAVING {" OR ".join(f"sum({name}) <> 0" for name in ("calls", "cost_micros", *token_usage.COUNTS))}""",
    "the sum of a budget = sum of its window's holds": """
        SELECT holder || ' ' || holder_id || ' ' || period || ' ' || starts_on,
            'kept ' || sum(kept) || ', holds ' || sum(spent)
        FROM ({budgets}) b GROUP BY holder, holder_id, period, starts_on HAVING sum(kept) <> sum(spent)""",
    "an account knows whether it or one of its keys has a budget": """
        SELECT a.name, 'has_budgets is wrong' FROM accounts_account a
        WHERE a.has_budgets <> (a.budget_day_micros IS NOT NULL OR a.budget_month_micros IS NOT NULL OR EXISTS (
            SELECT 1 FROM accounts_apikey k WHERE k.account_id = a.id
            AND (k.budget_day_micros IS NOT NULL OR k.budget_month_micros IS NOT NULL)))""",
    "an account has no more live tasks than it knows of": """
        SELECT a.name, 'at most ' || a.live_at_most || ', live ' || count(*) FROM accounts_account a
        JOIN tasks_task t ON t.account_id = a.id AND t.status IN ('queued', 'running')
        GROUP BY a.id, a.name, a.live_at_most HAVING count(*) > a.live_at_most""",
    "an ended task has one terminal event of its status, a live one none": f"""
        SELECT t.id, t.status || ' with ' || count(e.id) || ' terminal events' FROM tasks_task t
        LEFT JOIN tasks_taskevent e ON e.task_id = t.id AND e.status IN ({ENDS})
        GROUP BY t.id, t.status
        HAVING count(e.id) <> CASE WHEN t.status IN ('queued', 'running') THEN 0 ELSE 1 END
            OR max(e.status) <> t.status""",
    "an ended task with a callback_url has one delivery, any other none": """
        SELECT t.id, t.status || ' with ' || count(d.id) || ' deliveries' FROM tasks_task t
        LEFT JOIN callbacks_delivery d ON d.task_id = t.id GROUP BY t.id, t.status, t.callback_url
        HAVING count(d.id) <>
            CASE WHEN t.callback_url IS NOT NULL AND t.status NOT IN ('queued', 'running') THEN 1 ELSE 0 END""",
}
COUNTS = {
    "tasks": "tasks_task",
    "relayed_calls": "billing_relayedcall",
    "entries": "billing_ledgerentry",
    "open_holds": "billing_hold WHERE state = 'open'",
    "seals": "billing_ledgerseal",
}
GUARDED = "the ledger and its seals are guarded against changes"
SEALED = "what is sealed is as it was sealed"


def check() -> Report:
    """Run every rule in one statement: one picture of the database, while others go on writing. Then look at the
    guards and verify the seals, a page of entries at a time; neither moves with what is written meanwhile."""
    parts = {"{day}": call_statements.day(), "{budgets}": budget_sums.kept_and_spent()}
    rules = {name: reduce(lambda rule, part: rule.replace(*part), parts.items(), rule) for name, rule in RULES.items()}
    rules |= figure_rules.rules()
    names = list(rules)
    rows = sql.fetch(
        " UNION ALL ".join(
            [f"SELECT {n}, b.* FROM ({rules[name]} LIMIT {SHOWN}) b" for n, name in enumerate(names)]
            + [f"SELECT -1, '{name}', CAST(count(*) AS text) FROM {table}" for name, table in COUNTS.items()]
        )
    )
    counts = {subject: int(detail) for n, subject, detail in rows if n < 0}
    breaches = [Breach(rule=names[n], subject=subject, detail=detail) for n, subject, detail in rows if n >= 0]
    breaches += [Breach(rule=GUARDED, subject=name, detail=detail) for name, detail in ledger_triggers.defects()]
    found = islice(seals.breaches(), SHOWN)
    breaches += [Breach(rule=SEALED, subject=subject, detail=detail) for subject, detail in found]
    return Report(**counts, breaches=tuple(breaches))
