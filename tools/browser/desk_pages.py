"""Pages of the desk by name, with their paths in an installation that has rows to show."""

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskRows:
    """Rows of a SQLite installation, by what is worth viewing."""

    database: Path

    def first(self, statement: str) -> str:
        """Returns the first value that a statement finds. Raises LookupError."""
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
            row = connection.execute(f"{statement} LIMIT 1").fetchone()
        if row is None:
            raise LookupError(f"no row found by {statement}")
        return str(row[0])

    def has_worker(self) -> bool:
        """Tells whether a worker runs, or is about to."""
        try:
            return bool(self.first("SELECT id FROM tasks_worker WHERE stopped_at IS NULL"))
        except LookupError:
            return False


Where = Callable[[DeskRows], str]


def at(path: str) -> Where:
    """Returns a page that needs no row."""
    return lambda _: path


def row(path: str, statement: str) -> Where:
    """Returns the page of the row whose id a statement finds."""
    return lambda rows: path.format(rows.first(statement))


TASK = "/admin/tasks/task/{}/change/"
PAGES: Mapping[str, Where] = {
    "now": at("/admin/"),
    "tasks": at("/admin/tasks/task/"),
    "task": row(
        TASK,
        "SELECT t.id FROM tasks_task t JOIN tasks_asset a ON a.task_id = t.id AND a.deleted_at IS NULL "
        "ORDER BY t.modality, t.id DESC",
    ),
    "task-film": row(
        TASK,
        "SELECT t.id FROM tasks_task t JOIN tasks_asset a ON a.task_id = t.id AND a.deleted_at IS NULL "
        "WHERE t.modality = 'video' ORDER BY t.id DESC",
    ),
    "task-strange": row(
        TASK,
        "SELECT task_id FROM tasks_taskpayload WHERE params LIKE '%<script>%' ORDER BY task_id DESC",
    ),
    "task-long": row(TASK, "SELECT task_id FROM tasks_taskpayload WHERE length(params) > 9000 ORDER BY task_id DESC"),
    "task-failed": row(
        TASK, "SELECT id FROM tasks_task WHERE status = 'failed' AND callback_url IS NOT NULL ORDER BY id DESC"
    ),
    "task-refund": row(
        "/admin/tasks/task/{}/do/refund/",
        "SELECT id FROM tasks_task WHERE status = 'succeeded' AND actual_micros > 0 ORDER BY id DESC",
    ),
    "task-running": row(TASK, "SELECT id FROM tasks_task WHERE status IN ('running', 'queued') ORDER BY modality DESC"),
    "unknown": at("/admin/tasks/call/unknown/"),
    "calls": at("/admin/tasks/call/"),
    "callbacks": at("/admin/callbacks/delivery/"),
    "callback": row(
        "/admin/callbacks/delivery/{}/change/",
        "SELECT replace(id, '_', '_5F') FROM callbacks_delivery WHERE status = 'exhausted' ORDER BY id DESC",
    ),
    "callback-resend": row(
        "/admin/callbacks/delivery/{}/do/send/",
        "SELECT replace(id, '_', '_5F') FROM callbacks_delivery WHERE status = 'exhausted' ORDER BY id DESC",
    ),
    "models": at("/admin/catalog/mediamodel/"),
    "model": row(
        "/admin/catalog/mediamodel/{}/change/", "SELECT id FROM catalog_mediamodel WHERE name = 'aurora-image'"
    ),
    "model-add": at("/admin/catalog/mediamodel/add/"),
    "plans": at("/admin/catalog/plan/"),
    "plan": row("/admin/catalog/plan/{}/change/", "SELECT id FROM catalog_plan WHERE name = 'standard'"),
    "plan-add": at("/admin/catalog/plan/add/"),
    "plan-explain": row("/admin/catalog/plan/{}/explain/", "SELECT id FROM catalog_plan WHERE name = 'standard'"),
    "catalog-file": at("/admin/catalog-file/"),
    "channel-model": row("/admin/catalog/channelmodel/{}/change/", "SELECT id FROM catalog_channelmodel ORDER BY id"),
    "channel-choose": at("/admin/catalog/channel/add/"),
    "channels": at("/admin/catalog/channel/"),
    "channel": row("/admin/catalog/channel/{}/change/", "SELECT id FROM catalog_channel WHERE name = 'studio'"),
    "channel-troubled": row("/admin/catalog/channel/{}/change/", "SELECT id FROM catalog_channel WHERE name = 'reel'"),
    "channel-test": row("/admin/catalog/channel/{}/do/test/", "SELECT id FROM catalog_channel WHERE name = 'studio'"),
    "channel-pause": row("/admin/catalog/channel/{}/do/pause/", "SELECT id FROM catalog_channel WHERE name = 'studio'"),
    "channel-add": at("/admin/catalog/channel/add/?adapter=openai_images"),
    "channel-new": at("/admin/catalog/channel/add/?adapter=http_template"),
    "offer": row(
        "/admin/catalog/channelmodel/{}/change/",
        "SELECT o.id FROM catalog_channelmodel o JOIN catalog_channel c ON c.id = o.channel_id WHERE c.name = 'studio'",
    ),
    "offer-film": row(
        "/admin/catalog/channelmodel/{}/change/",
        "SELECT o.id FROM catalog_channelmodel o JOIN catalog_channel c ON c.id = o.channel_id WHERE c.name = 'reel'",
    ),
    "offer-add": row(
        "/admin/catalog/channelmodel/add/?channel={}", "SELECT id FROM catalog_channel WHERE name = 'studio'"
    ),
    "money": at("/admin/money/"),
    "bills": at("/admin/desk/providerbill/"),
    "bill": row("/admin/desk/providerbill/{}/change/", "SELECT id FROM desk_providerbill"),
    "bill-add": at("/admin/desk/providerbill/add/"),
    "accounts": at("/admin/accounts/account/"),
    "account": row(
        "/admin/accounts/account/{}/change/", "SELECT id FROM accounts_account WHERE name = 'Northlight Studio'"
    ),
    "account-credit": row(
        "/admin/accounts/account/{}/credit/", "SELECT id FROM accounts_account WHERE name = 'Northlight Studio'"
    ),
    "statement": row(
        "/admin/accounts/account/{}/statement/", "SELECT id FROM accounts_account WHERE name = 'Northlight Studio'"
    ),
    "keys": at("/admin/accounts/apikey/"),
    "key": row("/admin/accounts/apikey/{}/change/", "SELECT id FROM accounts_apikey WHERE name = 'web'"),
    "key-budgets": row("/admin/accounts/apikey/{}/do/budgets/", "SELECT id FROM accounts_apikey WHERE name = 'web'"),
    "key-add": at("/admin/accounts/apikey/add/"),
    "groups": at("/admin/accounts/group/"),
    "group": row("/admin/accounts/group/{}/change/", "SELECT id FROM accounts_group"),
    "ledger": at("/admin/billing/ledgerentry/"),
    "relayed-calls": at("/admin/billing/relayedcall/"),
    "service": at("/admin/tasks/servicestate/"),
    "operators": at("/admin/auth/user/"),
    "history": at("/admin/admin/logentry/"),
}
