"""Tasks with their payloads, calls, events and assets; workers; the state of the service; figures of ended tasks."""

from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Now

from common.postgresql.migrations import tidied_early, unchecked, without_pattern_index


def create_single_rows(apps, editor):
    """Create the rows of tables that have one."""
    apps.get_model("tasks", "ServiceState").objects.create(id=1)
    apps.get_model("tasks", "ClaimTurn").objects.create(id=1)


STATUSES = [(status, status.capitalize()) for status in ("queued", "running", "succeeded", "failed", "timeout", "canceled")]
CALL_STATES = [(state, state.capitalize()) for state in ("intent", "accepted", "done", "refused", "unknown", "late", "lost")]


class Migration(migrations.Migration):
    initial = True
    dependencies = [("accounts", "0001_initial"), ("catalog", "0001_initial")]
    operations = [
        migrations.CreateModel(
            name="MinuteFigure",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model_name", models.CharField(max_length=200)),
                ("modality", models.CharField(max_length=10)),
                ("channel_id", models.BigIntegerField()),
                ("outcome", models.CharField(max_length=10)),
                ("bucket", models.SmallIntegerField()),
                ("tasks", models.BigIntegerField()),
                ("earned_micros", models.BigIntegerField()),
                ("cost_micros", models.BigIntegerField()),
                ("waited_ms", models.BigIntegerField(help_text="From submission to the first start, or to the end without one.")),
                ("at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("at", "model_name", "modality", "channel_id", "outcome", "bucket"), name="minute_figure_once")
                ]
            },
        ),
        migrations.CreateModel(
            name="DayFigure",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model_name", models.CharField(max_length=200)),
                ("modality", models.CharField(max_length=10)),
                ("channel_id", models.BigIntegerField()),
                ("outcome", models.CharField(max_length=10)),
                ("bucket", models.SmallIntegerField()),
                ("tasks", models.BigIntegerField()),
                ("earned_micros", models.BigIntegerField()),
                ("cost_micros", models.BigIntegerField()),
                ("waited_ms", models.BigIntegerField(help_text="From submission to the first start, or to the end without one.")),
                ("at", models.DateField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("at", "model_name", "modality", "channel_id", "outcome", "bucket"), name="day_figure_once")
                ]
            },
        ),
        migrations.CreateModel(
            name="FigureCursor",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("last_event_id", models.BigIntegerField()),
                ("minutes_since", models.DateField()),
            ],
        ),
        migrations.CreateModel(
            name="ServiceState",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("paused", models.BooleanField(db_default=False, default=False)),
                ("message", models.CharField(blank=True, db_default="", default="", max_length=500)),
                ("retry_after_seconds", models.PositiveIntegerField(db_default=60, default=60)),
                ("api_disabled", models.BooleanField(db_default=False, default=False)),
                ("max_running", models.PositiveIntegerField(blank=True, help_text="Over all tasks; empty is unlimited.", null=True)),
            ],
        ),
        migrations.CreateModel(
            name="RouteSet",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("routes", models.JSONField(help_text="Their ids, in ascending order.")),
            ],
        ),
        migrations.CreateModel(
            name="Worker",
            fields=[
                ("id", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("host", models.CharField(max_length=255)),
                ("pid", models.PositiveIntegerField()),
                ("lanes", models.CharField(max_length=100)),
                ("started_at", models.DateTimeField(db_default=Now())),
                ("heartbeat_at", models.DateTimeField(db_default=Now())),
                ("stopped_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="SwallowedErrors",
            fields=[("where", models.CharField(max_length=100, primary_key=True, serialize=False)), ("count", models.BigIntegerField())],
        ),
        migrations.CreateModel(
            name="ClaimTurn",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("last_key", models.BigIntegerField(db_default=0, default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Task",
            fields=[
                ("id", models.CharField(max_length=31, primary_key=True, serialize=False)),
                ("origin", models.CharField(db_default="async", default="async", max_length=10)),
                ("model_name", models.CharField(max_length=200)),
                ("modality", models.CharField(max_length=10)),
                (
                    "status",
                    models.CharField(
                        choices=STATUSES,
                        db_default="queued",
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("attempt", models.PositiveIntegerField(db_default=0, default=0)),
                ("route_id", models.BigIntegerField(null=True)),
                ("not_before", models.DateTimeField(null=True)),
                ("requeues", models.PositiveIntegerField(db_default=0, default=0)),
                ("idempotency_key", models.CharField(max_length=255, null=True)),
                ("body_digest", models.CharField(max_length=64)),
                ("estimated_micros", models.BigIntegerField()),
                ("actual_micros", models.BigIntegerField(null=True)),
                ("price", models.JSONField()),
                ("deadline_at", models.DateTimeField()),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("error", models.JSONField(null=True)),
                ("progress", models.PositiveSmallIntegerField(null=True)),
                ("callback_url", models.CharField(max_length=2048, null=True)),
                ("metadata", models.JSONField(null=True)),
                ("account", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="tasks", to="accounts.account")),
                (
                    "channel",
                    models.ForeignKey(db_index=False, null=True, on_delete=models.SET_NULL, related_name="+", to="catalog.channel"),
                ),
                ("key", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="tasks", to="accounts.apikey")),
                (
                    "media_model",
                    models.ForeignKey(db_index=False, null=True, on_delete=models.SET_NULL, related_name="+", to="catalog.mediamodel"),
                ),
                ("open_routes", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="tasks.routeset")),
                (
                    "retry_of",
                    models.ForeignKey(db_index=False, null=True, on_delete=models.PROTECT, related_name="retries", to="tasks.task"),
                ),
                ("route_set", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="tasks.routeset")),
                ("secret", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="accounts.keysecret")),
                ("worker", models.ForeignKey(db_index=False, null=True, on_delete=models.PROTECT, related_name="+", to="tasks.worker")),
                ("seconds_left", models.FloatField(help_text="Of the execution deadline, after earlier attempts.", null=True)),
                (
                    "input_bytes",
                    models.BigIntegerField(db_default=0, default=0, help_text="Of stored inputs, while they count against the account."),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["key", "id", "status", "modality", "model_name", "origin"], name="task_list"),
                    models.Index(condition=Q(status__in=("queued", "running")), fields=["account", "key", "status"], name="task_limits"),
                    models.Index(condition=Q(callback_url__isnull=False, status__in=("queued", "running")), fields=["account"], name="task_owing"),
                    models.Index(condition=Q(status="queued"), fields=["key", "open_routes", "id"], name="task_claim"),
                    models.Index(condition=Q(input_bytes__gt=0), fields=["account", "input_bytes"], name="task_inputs"),
                    models.Index(condition=Q(finished_at__isnull=False, input_bytes__gt=0), fields=["id"], name="task_inputs_due"),
                    models.Index(condition=Q(status="running"), fields=["channel"], name="task_channel"),
                    models.Index(condition=Q(status="running"), fields=["worker"], name="task_worker"),
                    models.Index(condition=Q(finished_at__isnull=True), fields=["deadline_at"], name="task_deadline"),
                    models.Index(condition=Q(status="succeeded"), fields=["media_model", "finished_at"], name="task_eta"),
                    models.Index(condition=Q(retry_of__isnull=False), fields=["retry_of", "id"], name="task_retry"),
                ],
                "constraints": [
                    models.UniqueConstraint(condition=Q(idempotency_key__isnull=False), fields=("key", "idempotency_key"), name="task_idempotency"),
                    models.CheckConstraint(
                        condition=Q(status__in=("queued", "running", "succeeded", "failed", "timeout", "canceled")),
                        name="task_status_known",
                    ),
                    models.CheckConstraint(
                        condition=Q(
                            actual_micros__isnull=False,
                            finished_at__isnull=False,
                            status__in=("succeeded", "failed", "timeout", "canceled"),
                        )
                        | Q(actual_micros__isnull=True, finished_at__isnull=True, status__in=("queued", "running")),
                        name="task_ended_has_end",
                    ),
                    models.CheckConstraint(
                        condition=Q(estimated_micros__gte=0) & (Q(actual_micros__isnull=True) | Q(actual_micros__gte=0)),
                        name="task_money_not_negative",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TaskPayload",
            fields=[
                (
                    "task",
                    models.OneToOneField(on_delete=models.PROTECT, primary_key=True, related_name="payload", serialize=False, to="tasks.task"),
                ),
                ("params", models.JSONField(help_text="The request's params; Data URLs replaced by storage references.", null=True)),
                ("trace", models.JSONField(help_text="Why each candidate route was kept or skipped.", null=True)),
                ("result", models.JSONField(null=True)),
                ("pruned_at", models.DateTimeField(null=True)),
            ],
            options={"indexes": [models.Index(condition=Q(pruned_at__isnull=True), fields=["task"], name="payload_kept")]},
        ),
        migrations.CreateModel(
            name="Call",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("attempt", models.PositiveIntegerField()),
                ("position", models.PositiveSmallIntegerField(db_default=0, default=0)),
                ("route_id", models.BigIntegerField()),
                ("target", models.JSONField(help_text="The channel's identity, frozen: adapter, base_url, upstream_model, options.")),
                ("request_digest", models.CharField(max_length=64)),
                (
                    "state",
                    models.CharField(
                        choices=CALL_STATES,
                        db_default="intent",
                        default="intent",
                        max_length=10,
                    ),
                ),
                ("handle", models.JSONField(help_text="The provider's handle of an accepted job.", null=True)),
                ("next_poll_at", models.DateTimeField(null=True)),
                ("faults", models.PositiveIntegerField(db_default=0, default=0)),
                ("copy_faults", models.PositiveIntegerField(db_default=0, default=0)),
                ("outcome", models.JSONField(null=True)),
                ("cost_micros", models.BigIntegerField(null=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("answered_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "channel",
                    models.ForeignKey(db_index=False, null=True, on_delete=models.SET_NULL, related_name="+", to="catalog.channel"),
                ),
                (
                    "credential",
                    models.ForeignKey(db_index=False, null=True, on_delete=models.SET_NULL, related_name="+", to="catalog.credential"),
                ),
                ("task", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="calls", to="tasks.task")),
                ("worker", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="tasks.worker")),
                ("passed", models.JSONField(help_text="[route, reason] of each route that was drawn before this one.", null=True)),
                ("result", models.JSONField(help_text="What a finished call made: URLs, or files of ours.", null=True)),
                ("finished_at", models.DateTimeField(help_text="When the provider was found to have finished it.", null=True)),
                (
                    "mismatch",
                    models.TextField(db_default="", default="", help_text="How what the provider reports differs from what was billed."),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=Q(state__in=["accepted", "late"]), fields=["worker", "next_poll_at"], name="call_due"),
                    models.Index(condition=Q(state="unknown"), fields=["state"], name="call_unknown"),
                    models.Index(condition=Q(state="lost"), fields=["id"], name="call_lost"),
                    models.Index(condition=~Q(mismatch=""), fields=["id"], name="call_mismatch"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("task", "attempt", "position"), name="call_once"),
                    models.CheckConstraint(
                        condition=Q(state__in=["intent", "accepted", "done", "refused", "unknown", "late", "lost"]), name="call_state_known"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TaskEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "status",
                    models.CharField(
                        choices=STATUSES,
                        max_length=10,
                    ),
                ),
                ("attempt", models.PositiveIntegerField()),
                ("at", models.DateTimeField(db_default=Now())),
                ("key", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="accounts.apikey")),
                ("task", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="events", to="tasks.task")),
            ],
            options={
                "indexes": [models.Index(fields=["key", "id"], name="event_key"), models.Index(fields=["task", "id"], name="event_task")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=Q(status__in=("succeeded", "failed", "timeout", "canceled")), fields=("task",), name="event_terminal_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Asset",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveSmallIntegerField()),
                ("kind", models.CharField(max_length=10)),
                ("storage_key", models.CharField(max_length=200)),
                ("content_type", models.CharField(max_length=100)),
                ("size_bytes", models.BigIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("width", models.PositiveIntegerField(null=True)),
                ("height", models.PositiveIntegerField(null=True)),
                ("duration_seconds", models.FloatField(null=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("deleted_at", models.DateTimeField(null=True)),
                ("task", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="assets", to="tasks.task")),
            ],
            options={
                "indexes": [
                    models.Index(condition=Q(deleted_at__isnull=True), fields=["created_at"], name="asset_retention"),
                    models.Index(fields=["storage_key"], name="asset_storage_key"),
                ],
                "constraints": [models.UniqueConstraint(fields=("task", "position"), name="asset_position")],
            },
        ),
        migrations.RunPython(create_single_rows, migrations.RunPython.noop),
        unchecked("tasks_task", "account_id", "key_id", "open_routes_id", "route_set_id", "secret_id", "worker_id"),
        unchecked("tasks_taskpayload", "task_id"),
        unchecked("tasks_call", "task_id", "worker_id"),
        unchecked("tasks_taskevent", "key_id", "task_id"),
        unchecked("tasks_asset", "task_id"),
        without_pattern_index("tasks_task", "id"),
        without_pattern_index("tasks_taskpayload", "task_id"),
        tidied_early("tasks_task"),
        tidied_early("tasks_taskpayload"),
        tidied_early("tasks_taskevent"),
        tidied_early("tasks_call"),
        tidied_early("tasks_asset"),
    ]
