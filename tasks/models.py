"""The task and everything that hangs on it. Only `tasks/lifecycle.py`, `queue.py` and `starting.py` change a status."""

from typing import Literal, get_args

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks.figures.models import DayFigure as DayFigure
from tasks.figures.models import FigureCursor as FigureCursor
from tasks.figures.models import MinuteFigure as MinuteFigure

LiveStatus = Literal["queued", "running"]
EndedStatus = Literal["succeeded", "failed", "timeout", "canceled"]
LIVE: tuple[str, ...] = get_args(LiveStatus)
ENDED: tuple[str, ...] = get_args(EndedStatus)


class ServiceState(models.Model):
    """One row: what an operator has switched off."""

    paused = models.BooleanField(default=False, db_default=False)
    message = models.CharField(max_length=500, blank=True, default="", db_default="")
    retry_after_seconds = models.PositiveIntegerField(default=60, db_default=60)
    api_disabled = models.BooleanField(default=False, db_default=False)
    max_running = models.PositiveIntegerField(null=True, blank=True, help_text="Over all tasks; empty is unlimited.")

    def __str__(self) -> str:
        return "disabled" if self.api_disabled else "paused" if self.paused else "open"


class RouteSet(models.Model):
    """A set of routes, shared by all tasks that may take exactly these: the claim groups by it."""

    digest = models.CharField(max_length=64, unique=True)
    routes = models.JSONField(help_text="Their ids, in ascending order.")

    def __str__(self) -> str:
        return self.digest[:12]


class Worker(models.Model):
    """A worker process. Its heartbeat is the lease of every task and call it owns."""

    id = models.CharField(max_length=32, primary_key=True)
    host = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    lanes = models.CharField(max_length=100)
    started_at = models.DateTimeField(db_default=Now())
    heartbeat_at = models.DateTimeField(db_default=Now())
    stopped_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.host}:{self.pid}"


class SwallowedErrors(models.Model):
    """How many errors reached no caller at one place of the code (`common/swallowed.py`), of all processes."""

    where = models.CharField(max_length=100, primary_key=True)
    count = models.BigIntegerField()

    def __str__(self) -> str:
        return self.where


class ClaimTurn(models.Model):
    """One row: the key that got the last seat, where the next round of claims starts."""

    last_key = models.BigIntegerField(default=0, db_default=0)

    def __str__(self) -> str:
        return str(self.last_key)


class Task(models.Model):
    """One job of one key. `attempt` is the fence: a worker that has lost the task cannot write to it."""

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        TIMEOUT = "timeout"
        CANCELED = "canceled"

    id = models.CharField(max_length=31, primary_key=True)
    key = models.ForeignKey("accounts.ApiKey", on_delete=models.PROTECT, db_index=False, related_name="tasks")
    secret = models.ForeignKey("accounts.KeySecret", on_delete=models.PROTECT, db_index=False, related_name="+")
    account = models.ForeignKey("accounts.Account", on_delete=models.PROTECT, db_index=False, related_name="tasks")
    origin = models.CharField(max_length=10, default="async", db_default="async")
    model_name = models.CharField(max_length=200)
    media_model = models.ForeignKey(
        "catalog.MediaModel", on_delete=models.SET_NULL, null=True, db_index=False, related_name="+"
    )
    modality = models.CharField(max_length=10)
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED, db_default=Status.QUEUED)
    attempt = models.PositiveIntegerField(default=0, db_default=0)
    route_set = models.ForeignKey(RouteSet, on_delete=models.PROTECT, db_index=False, related_name="+")
    open_routes = models.ForeignKey(RouteSet, on_delete=models.PROTECT, db_index=False, related_name="+")
    channel = models.ForeignKey(
        "catalog.Channel", on_delete=models.SET_NULL, null=True, db_index=False, related_name="+"
    )
    route_id = models.BigIntegerField(null=True)
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, null=True, db_index=False, related_name="+")
    not_before = models.DateTimeField(null=True)
    requeues = models.PositiveIntegerField(default=0, db_default=0)
    seconds_left = models.FloatField(null=True, help_text="Of the execution deadline, after earlier attempts.")
    idempotency_key = models.CharField(max_length=255, null=True)
    body_digest = models.CharField(max_length=64)
    estimated_micros = models.BigIntegerField()
    actual_micros = models.BigIntegerField(null=True)
    price = models.JSONField()
    deadline_at = models.DateTimeField()
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    error = models.JSONField(null=True)
    progress = models.PositiveSmallIntegerField(null=True)
    callback_url = models.CharField(max_length=2048, null=True)
    metadata = models.JSONField(null=True)
    input_bytes = models.BigIntegerField(
        default=0, db_default=0, help_text="Of stored inputs, while they count against the account."
    )
    retry_of = models.ForeignKey("self", on_delete=models.PROTECT, null=True, db_index=False, related_name="retries")

    class Meta:
        indexes = [
            # By key and id; the rest spares a page that filters the rows of the tasks that it does not show.
            models.Index(name="task_list", fields=["key", "id", "status", "modality", "model_name", "origin"]),
            models.Index(name="task_limits", fields=["account", "key", "status"], condition=Q(status__in=LIVE)),
            models.Index(
                name="task_owing", fields=["account"], condition=Q(status__in=LIVE, callback_url__isnull=False)
            ),
            models.Index(name="task_claim", fields=["key", "open_routes", "id"], condition=Q(status="queued")),
            models.Index(name="task_inputs", fields=["account", "input_bytes"], condition=Q(input_bytes__gt=0)),
            models.Index(
                name="task_inputs_due", fields=["id"], condition=Q(input_bytes__gt=0, finished_at__isnull=False)
            ),
            models.Index(name="task_channel", fields=["channel"], condition=Q(status="running")),
            models.Index(name="task_worker", fields=["worker"], condition=Q(status="running")),
            # Not by the status: PostgreSQL would read all of it to count the few live tasks of an account.
            models.Index(name="task_deadline", fields=["deadline_at"], condition=Q(finished_at__isnull=True)),
            models.Index(name="task_eta", fields=["media_model", "finished_at"], condition=Q(status="succeeded")),
            models.Index(name="task_retry", fields=["retry_of", "id"], condition=Q(retry_of__isnull=False)),
        ]
        constraints = [
            models.UniqueConstraint(
                name="task_idempotency", fields=["key", "idempotency_key"], condition=Q(idempotency_key__isnull=False)
            ),
            models.CheckConstraint(name="task_status_known", condition=Q(status__in=LIVE + ENDED)),
            models.CheckConstraint(
                name="task_ended_has_end",
                condition=Q(status__in=ENDED, finished_at__isnull=False, actual_micros__isnull=False)
                | Q(status__in=LIVE, finished_at__isnull=True, actual_micros__isnull=True),
            ),
            models.CheckConstraint(
                name="task_money_not_negative",
                condition=Q(estimated_micros__gte=0) & (Q(actual_micros__isnull=True) | Q(actual_micros__gte=0)),
            ),
        ]

    def __str__(self) -> str:
        return self.id


class TaskPayload(models.Model):
    """The wide part of a task, apart so that claim and end rewrite narrow rows."""

    task = models.OneToOneField(Task, on_delete=models.PROTECT, primary_key=True, related_name="payload")
    params = models.JSONField(null=True, help_text="The request's params; Data URLs replaced by storage references.")
    trace = models.JSONField(null=True, help_text="Why each candidate route was kept or skipped.")
    result = models.JSONField(null=True)
    pruned_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(name="payload_kept", fields=["task"], condition=Q(pruned_at__isnull=True))]

    def __str__(self) -> str:
        return self.task_id


class Call(models.Model):
    """One paid call: the intent before it, the provider's answer right after it, the outcome at its end."""

    class State(models.TextChoices):
        INTENT = "intent"
        ACCEPTED = "accepted"
        DONE = "done"
        REFUSED = "refused"
        UNKNOWN = "unknown"
        LATE = "late"
        LOST = "lost"

    task = models.ForeignKey(Task, on_delete=models.PROTECT, db_index=False, related_name="calls")
    attempt = models.PositiveIntegerField()
    position = models.PositiveSmallIntegerField(default=0, db_default=0)
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, db_index=False, related_name="+")
    channel = models.ForeignKey(
        "catalog.Channel", on_delete=models.SET_NULL, null=True, db_index=False, related_name="+"
    )
    credential = models.ForeignKey(
        "catalog.Credential", on_delete=models.SET_NULL, null=True, db_index=False, related_name="+"
    )
    route_id = models.BigIntegerField()
    target = models.JSONField(help_text="The channel's identity, frozen: adapter, base_url, upstream_model, options.")
    request_digest = models.CharField(max_length=64)
    passed = models.JSONField(null=True, help_text="[route, reason] of each route that was drawn before this one.")
    state = models.CharField(max_length=10, choices=State, default=State.INTENT, db_default=State.INTENT)
    handle = models.JSONField(null=True, help_text="The provider's handle of an accepted job.")
    result = models.JSONField(null=True, help_text="What a finished call made: URLs, or files of ours.")
    next_poll_at = models.DateTimeField(null=True)
    faults = models.PositiveIntegerField(default=0, db_default=0)
    copy_faults = models.PositiveIntegerField(default=0, db_default=0)
    outcome = models.JSONField(null=True)
    cost_micros = models.BigIntegerField(null=True)
    mismatch = models.TextField(
        default="", db_default="", help_text="How what the provider reports differs from what was billed."
    )
    created_at = models.DateTimeField(db_default=Now())
    answered_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True, help_text="When the provider was found to have finished it.")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="call_once", fields=["task", "attempt", "position"]),
            models.CheckConstraint(
                name="call_state_known",
                condition=Q(state__in=["intent", "accepted", "done", "refused", "unknown", "late", "lost"]),
            ),
        ]
        indexes = [
            models.Index(
                name="call_due", fields=["worker", "next_poll_at"], condition=Q(state__in=["accepted", "late"])
            ),
            models.Index(name="call_unknown", fields=["state"], condition=Q(state="unknown")),
            models.Index(name="call_lost", fields=["id"], condition=Q(state="lost")),
            models.Index(name="call_mismatch", fields=["id"], condition=~Q(mismatch="")),
        ]

    def __str__(self) -> str:
        return f"{self.task_id}/{self.attempt}/{self.position}"


class TaskEvent(models.Model):
    """One transition: history, stream source and callback trigger at once. Append-only."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, db_index=False, related_name="events")
    key = models.ForeignKey("accounts.ApiKey", on_delete=models.PROTECT, db_index=False, related_name="+")
    status = models.CharField(max_length=10, choices=Task.Status)
    attempt = models.PositiveIntegerField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            models.Index(name="event_key", fields=["key", "id"]),
            models.Index(name="event_task", fields=["task", "id"]),
        ]
        constraints = [
            models.UniqueConstraint(name="event_terminal_once", fields=["task"], condition=Q(status__in=ENDED))
        ]

    def __str__(self) -> str:
        return f"{self.task_id} {self.status}"


class Asset(models.Model):
    """One result file of a succeeded task."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, db_index=False, related_name="assets")
    position = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=10)
    storage_key = models.CharField(max_length=200)
    content_type = models.CharField(max_length=100)
    size_bytes = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    width = models.PositiveIntegerField(null=True)
    height = models.PositiveIntegerField(null=True)
    duration_seconds = models.FloatField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(name="asset_position", fields=["task", "position"])]
        indexes = [
            models.Index(name="asset_retention", fields=["created_at"], condition=Q(deleted_at__isnull=True)),
            models.Index(name="asset_storage_key", fields=["storage_key"]),
        ]

    def __str__(self) -> str:
        return f"{self.task_id}/{self.position}"
