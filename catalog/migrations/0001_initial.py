"""Models, plans, channels with their credentials, routes, and what groups of general keys offer."""

from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Now


def create_version(apps, editor):
    """Create the one row of its table."""
    apps.get_model("catalog", "CatalogVersion").objects.create(id=1)


class Migration(migrations.Migration):
    initial = True
    dependencies = [("accounts", "0001_initial")]
    operations = [
        migrations.CreateModel(
            name="CatalogVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.BigIntegerField(db_default=1, default=1)),
            ],
        ),
        migrations.CreateModel(
            name="Plan",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200, unique=True)),
                ("price_multiplier", models.DecimalField(decimal_places=6, default=1, max_digits=12)),
            ],
            options={"constraints": [models.CheckConstraint(condition=Q(price_multiplier__gte=0), name="plan_multiplier_not_negative")]},
        ),
        migrations.CreateModel(
            name="MediaModel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200)),
                ("modality", models.CharField(choices=[("image", "Image"), ("video", "Video"), ("3d", "Three D")], max_length=10)),
                (
                    "pricing_mode",
                    models.CharField(
                        choices=[("image_matrix", "Image Matrix"), ("video_duration", "Video Duration"), ("per_request", "Per Request")],
                        max_length=20,
                    ),
                ),
                ("prices", models.JSONField(default=dict, help_text='USD by tier, resolution or "*".')),
                ("params", models.JSONField(blank=True, default=dict)),
                ("enabled", models.BooleanField(default=True)),
                ("default_plan", models.ForeignKey(on_delete=models.PROTECT, related_name="default_of", to="catalog.plan")),
                (
                    "standing",
                    models.CharField(
                        choices=[("on", "On"), ("paused", "Paused"), ("drained", "Drained")],
                        db_default="on",
                        default="on",
                        editable=False,
                        max_length=10,
                    ),
                ),
                ("standing_since", models.DateTimeField(editable=False, null=True)),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("modality", "name"), name="model_name_per_modality")]},
        ),
        migrations.CreateModel(
            name="ModelName",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("modality", models.CharField(choices=[("image", "Image"), ("video", "Video"), ("3d", "Three D")], max_length=10)),
                ("name", models.CharField(max_length=200)),
                ("is_primary", models.BooleanField(default=False)),
                ("model", models.ForeignKey(on_delete=models.CASCADE, related_name="names", to="catalog.mediamodel")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("modality", "name"), name="name_per_modality"),
                    models.UniqueConstraint(condition=Q(is_primary=True), fields=("model",), name="one_primary_name"),
                ]
            },
        ),
        migrations.CreateModel(
            name="Channel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200, unique=True)),
                ("adapter", models.CharField(max_length=50)),
                ("base_url", models.CharField(max_length=500)),
                ("options", models.JSONField(blank=True, default=dict)),
                ("max_running", models.PositiveIntegerField(blank=True, help_text="Strict; empty is unlimited.", null=True)),
                ("enabled", models.BooleanField(default=True)),
                (
                    "standing",
                    models.CharField(
                        choices=[("on", "On"), ("paused", "Paused"), ("drained", "Drained")],
                        db_default="on",
                        default="on",
                        editable=False,
                        max_length=10,
                    ),
                ),
                ("standing_since", models.DateTimeField(editable=False, null=True)),
            ],
        ),
        migrations.CreateModel(
            name="ChannelHealth",
            fields=[
                (
                    "channel",
                    models.OneToOneField(
                        on_delete=models.CASCADE, primary_key=True, related_name="health", serialize=False, to="catalog.channel"
                    ),
                ),
                ("cooldown_until", models.DateTimeField(null=True)),
                ("cooldowns", models.PositiveIntegerField(db_default=0, default=0)),
                ("unknown_total", models.PositiveIntegerField(db_default=0, default=0)),
                ("last_kind", models.CharField(db_default="", default="", max_length=30)),
                ("last_at", models.DateTimeField(null=True)),
                ("stream_options_refused_at", models.DateTimeField(null=True)),
                ("stream_options_refused_by", models.CharField(db_default="", default="", max_length=500)),
            ],
        ),
        migrations.CreateModel(
            name="Rest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("account_id", models.BigIntegerField(default=0)),
                ("cause", models.CharField(choices=[("rate", "Rate"), ("account", "Account"), ("model", "Model")], max_length=10)),
                ("credential_id", models.BigIntegerField(default=0)),
                ("upstream_model", models.CharField(default="", max_length=200)),
                ("refusals", models.PositiveIntegerField(default=1)),
                ("rests", models.PositiveIntegerField(default=0)),
                ("last_at", models.DateTimeField()),
                ("since", models.DateTimeField(null=True)),
                ("until", models.DateTimeField(null=True)),
                ("trial_until", models.DateTimeField(null=True)),
                ("trial_by", models.BigIntegerField(db_default=0, default=0)),
                ("trial_over", models.BooleanField(db_default=False, default=False)),
                ("by_account", models.BigIntegerField(default=0)),
                ("by_task", models.CharField(default="", max_length=40)),
                ("said", models.CharField(default="", max_length=300)),
                ("channel", models.ForeignKey(on_delete=models.CASCADE, related_name="rests", to="catalog.channel")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("channel", "account_id", "cause", "credential_id", "upstream_model"), name="rest_once")
                ]
            },
        ),
        migrations.CreateModel(
            name="Credential",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("ciphertext", models.TextField(editable=False)),
                ("last4", models.CharField(editable=False, max_length=4)),
                ("disabled_at", models.DateTimeField(blank=True, null=True)),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
                ("created_at", models.DateTimeField(db_default=Now(), editable=False)),
                ("channel", models.ForeignKey(on_delete=models.CASCADE, related_name="credentials", to="catalog.channel")),
                ("probe_at", models.DateTimeField(editable=False, null=True)),
                ("probes", models.PositiveIntegerField(db_default=0, default=0, editable=False)),
                ("origin", models.CharField(db_default="", default="", editable=False, max_length=510)),
                ("retired_at", models.DateTimeField(editable=False, null=True)),
                ("probed_at", models.DateTimeField(editable=False, null=True)),
                ("suspected_at", models.DateTimeField(editable=False, null=True)),
            ],
        ),
        migrations.CreateModel(
            name="ChannelTest",
            fields=[
                (
                    "channel",
                    models.OneToOneField(
                        on_delete=models.CASCADE, primary_key=True, related_name="last_test", serialize=False, to="catalog.channel"
                    ),
                ),
                ("number", models.PositiveIntegerField(default=0)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("sent", "Sent"),
                            ("accepted", "Accepted"),
                            ("answered", "Answered"),
                            ("refused", "Refused"),
                            ("unsent", "Unsent"),
                            ("unknown", "Unknown"),
                        ],
                        default="unsent",
                        max_length=10,
                    ),
                ),
                ("model_name", models.CharField(default="", max_length=200)),
                ("what", models.CharField(default="", max_length=200)),
                ("by", models.CharField(default="", max_length=150)),
                ("target", models.JSONField(default=dict)),
                ("request", models.JSONField(default=dict)),
                ("answer", models.JSONField(default=dict)),
                ("handle", models.JSONField(null=True)),
                ("cost_micros", models.BigIntegerField(null=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("answered_at", models.DateTimeField(null=True)),
                ("credential", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="+", to="catalog.credential")),
            ],
        ),
        migrations.CreateModel(
            name="ChannelModel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("upstream_model", models.CharField(max_length=200)),
                ("capabilities", models.JSONField(blank=True, default=dict)),
                ("cost", models.JSONField(blank=True, help_text="Our own cost in USD; never billed.", null=True)),
                ("enabled", models.BooleanField(default=True)),
                ("channel", models.ForeignKey(on_delete=models.CASCADE, related_name="channel_models", to="catalog.channel")),
                ("model", models.ForeignKey(on_delete=models.CASCADE, related_name="channel_models", to="catalog.mediamodel")),
                (
                    "extra_fields",
                    models.JSONField(
                        blank=True, default=list, help_text="Paths of upstream fields that callers may set though they have no price."
                    ),
                ),
                (
                    "fixed",
                    models.JSONField(
                        blank=True, default=dict, help_text="Upstream fields that are always sent so; callers may give no other value."
                    ),
                ),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("channel", "model"), name="channel_model_once")]},
        ),
        migrations.CreateModel(
            name="Route",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("priority", models.IntegerField(default=10)),
                ("weight", models.PositiveIntegerField(default=1)),
                (
                    "resubmit_ambiguous",
                    models.BooleanField(
                        default=False, help_text="Buy again after an outcome nobody knows. Costs money when the first one ran."
                    ),
                ),
                ("enabled", models.BooleanField(default=True)),
                ("channel", models.ForeignKey(on_delete=models.CASCADE, related_name="routes", to="catalog.channel")),
                ("model", models.ForeignKey(on_delete=models.CASCADE, related_name="routes", to="catalog.mediamodel")),
                ("plan", models.ForeignKey(on_delete=models.CASCADE, related_name="routes", to="catalog.plan")),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("plan", "model", "channel"), name="route_once")]},
        ),
        migrations.CreateModel(
            name="PlanChoice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.ForeignKey(on_delete=models.CASCADE, related_name="plan_choices", to="accounts.apikey")),
                ("model", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="catalog.mediamodel")),
                ("plan", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="catalog.plan")),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("key", "model"), name="choice_once")]},
        ),
        migrations.CreateModel(
            name="GroupOffer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("models_listed", models.JSONField(blank=True, null=True)),
                ("prices", models.JSONField(blank=True, default=dict)),
                ("image_prices", models.JSONField(blank=True, default=dict)),
                ("group", models.OneToOneField(on_delete=models.CASCADE, related_name="offer", to="accounts.group")),
                (
                    "extra_fields",
                    models.JSONField(
                        blank=True, default=list, help_text="Fields that pass though they may cost what the prices do not know."
                    ),
                ),
                (
                    "extra_betas",
                    models.JSONField(
                        blank=True,
                        db_default=models.Value([], models.JSONField()),
                        default=list,
                        help_text="Values of `anthropic-beta` that pass though they may cost what the prices do not know.",
                    ),
                ),
                ("tool_prices", models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict)),
            ],
        ),
        migrations.CreateModel(
            name="GroupChannel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("priority", models.IntegerField(default=10)),
                ("dialects", models.JSONField(blank=True, default=list)),
                ("group", models.ForeignKey(on_delete=models.CASCADE, related_name="channels", to="accounts.group")),
                ("channel", models.OneToOneField(on_delete=models.CASCADE, related_name="group_link", to="catalog.channel")),
                ("weight", models.PositiveIntegerField(default=1)),
                (
                    "upstream_models",
                    models.JSONField(blank=True, default=dict, help_text="Names that models have there, by their public names."),
                ),
                ("enabled", models.BooleanField(default=True)),
            ],
        ),
        migrations.RunPython(create_version, migrations.RunPython.noop),
    ]
