"""What is on offer: models under their names, channels to providers, plans and their routes. Edited in the admin.

Every write raises the catalog version in its own transaction, so that each process knows from one number whether
its snapshot still holds.
"""

from typing import Any

from django.db import models, transaction
from django.db.models import F
from django.db.models.functions import Now

from billing import modes
from catalog.health.models import ChannelHealth as ChannelHealth
from catalog.health.models import Rest as Rest
from catalog.health.models import forget_refusals
from common import modalities
from common.database.kept_columns import KeptColumns

MODALITIES = [(modality.name, modality.label) for modality in modalities.TABLE]
PRICING_MODES = [(name, name.replace("_", " ").title()) for name in modes.BY_NAME]


class CatalogVersion(models.Model):
    """One row: how often the catalog was written."""

    version = models.BigIntegerField(default=1, db_default=1)

    def __str__(self) -> str:
        return str(self.version)

    @classmethod
    def raise_it(cls) -> None:
        cls.objects.update(version=F("version") + 1)


class CatalogQuerySet(models.QuerySet[Any]):
    """Bulk writes raise the version too."""

    def update(self, **kwargs: Any) -> int:
        with transaction.atomic():
            CatalogVersion.raise_it()
            return super().update(**kwargs)

    update.alters_data = True  # type: ignore[attr-defined]

    def delete(self) -> tuple[int, dict[str, int]]:
        with transaction.atomic():
            CatalogVersion.raise_it()
            return super().delete()

    delete.alters_data = True  # type: ignore[attr-defined]
    delete.queryset_only = True  # type: ignore[attr-defined]

    def bulk_create(self, *args: Any, **kwargs: Any) -> list[Any]:
        with transaction.atomic():
            CatalogVersion.raise_it()
            return super().bulk_create(*args, **kwargs)


class CatalogRecord(models.Model):
    """A row of the catalog."""

    objects = CatalogQuerySet.as_manager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        with transaction.atomic():
            CatalogVersion.raise_it()
            super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        with transaction.atomic():
            CatalogVersion.raise_it()
            return super().delete(*args, **kwargs)


class Plan(CatalogRecord):
    """A way to serve models: its routes and its factor on their prices."""

    name = models.CharField(max_length=200, unique=True)
    price_multiplier = models.DecimalField(max_digits=12, decimal_places=6, default=1)

    class Meta:
        constraints = [
            models.CheckConstraint(name="plan_multiplier_not_negative", condition=models.Q(price_multiplier__gte=0))
        ]

    def __str__(self) -> str:
        return self.name


class OperatorStanding(models.TextChoices):
    """What an operator lets a channel or model do now; `catalog/pausing.py` says what each means."""

    ON = "on"
    PAUSED = "paused"
    DRAINED = "drained"


class PausableRecord(KeptColumns, CatalogRecord):
    """A row that an operator may pause or drain. Only `catalog/pausing.py` moves its standing: it is in no catalog file
    and no form."""

    standing = models.CharField(
        max_length=10,
        choices=OperatorStanding.choices,
        default=OperatorStanding.ON,
        db_default=OperatorStanding.ON,
        editable=False,
    )
    standing_since = models.DateTimeField(null=True, editable=False)
    KEPT = ("standing", "standing_since")  # lest a stale copy undo a pause

    class Meta:
        abstract = True


class MediaModel(PausableRecord):
    """A public model of one modality: price, parameters and default plan. Its names are ModelName rows."""

    name = models.CharField(max_length=200)
    modality = models.CharField(max_length=10, choices=MODALITIES)
    default_plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="default_of")
    pricing_mode = models.CharField(max_length=20, choices=PRICING_MODES)
    prices = models.JSONField(default=dict, help_text='USD by tier, resolution or "*".')
    params = models.JSONField(default=dict, blank=True)
    enabled = models.BooleanField(default=True)

    class Meta:
        constraints = [models.UniqueConstraint(name="model_name_per_modality", fields=["modality", "name"])]

    def __str__(self) -> str:
        return f"{self.name} ({self.modality})"


class ModelName(CatalogRecord):
    """A name or alias: one table, so that no two models of a modality share any."""

    model = models.ForeignKey(MediaModel, on_delete=models.CASCADE, related_name="names")
    modality = models.CharField(max_length=10, choices=MODALITIES)
    name = models.CharField(max_length=200)
    is_primary = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="name_per_modality", fields=["modality", "name"]),
            models.UniqueConstraint(name="one_primary_name", fields=["model"], condition=models.Q(is_primary=True)),
        ]

    def __str__(self) -> str:
        return self.name


class Channel(PausableRecord):
    """A provider's endpoint behind exactly one adapter."""

    name = models.CharField(max_length=200, unique=True)
    adapter = models.CharField(max_length=50)
    base_url = models.CharField(max_length=500)
    options = models.JSONField(default=dict, blank=True)
    max_running = models.PositiveIntegerField(null=True, blank=True, help_text="Strict; empty is unlimited.")
    enabled = models.BooleanField(default=True)

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """An operator has changed it: nothing of it rests any more."""
        with transaction.atomic():
            super().save(*args, **kwargs)
            forget_refusals(self.pk)


class Credential(KeptColumns, CatalogRecord):
    """What a channel authenticates with, encrypted; never shown again. A channel may have several and takes turns.

    `origin` is where it was entered for, and the only place that it is ever sent to. It never changes, nor do its
    values: another secret is another row. One that was replaced is retired, which also disables it, and from then on
    only follows the jobs that it bought. `probe_at` is set where the service itself disabled it: what an operator
    disabled is never probed. Before that it is suspected, since `suspected_at` and for `reason`, until a probe has
    confirmed that or passed (`probed_at`). `probes` count in a row, for the back-off. What changes here by itself does
    not raise the catalog version.
    """

    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="credentials")
    ciphertext = models.TextField(editable=False)
    last4 = models.CharField(max_length=4, editable=False)
    origin = models.CharField(max_length=510, default="", db_default="", editable=False)
    retired_at = models.DateTimeField(null=True, editable=False)
    disabled_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=200, blank=True, default="")
    suspected_at = models.DateTimeField(null=True, editable=False)
    probed_at = models.DateTimeField(null=True, editable=False)
    probe_at = models.DateTimeField(null=True, editable=False)
    probes = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    KEPT = ("ciphertext", "last4", "origin")  # lest a stale copy undo that the secret was encrypted anew

    def __str__(self) -> str:
        return f"…{self.last4}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """An operator has entered or switched it: nothing of its channel rests any more."""
        with transaction.atomic():
            super().save(*args, **kwargs)
            forget_refusals(self.channel_id)


class ChannelTest(models.Model):
    """The last call that an operator made to try a channel, of no task: what was sent and what came. Part of no
    version.

    `number` counts the channel's tests. `sent` is committed before the call: one that stays so has lost its answer.
    `what` is bought in words, `cost_micros` what the catalog says that it costs. Nothing in it is secret.
    """

    class State(models.TextChoices):
        SENT = "sent"
        ACCEPTED = "accepted"  # the provider works on it
        ANSWERED = "answered"
        REFUSED = "refused"  # surely nothing is bought, or what was bought failed
        UNSENT = "unsent"  # a fault of ours before anything went out
        UNKNOWN = "unknown"  # it may have been bought

    channel = models.OneToOneField(Channel, on_delete=models.CASCADE, primary_key=True, related_name="last_test")
    number = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State.choices, default=State.UNSENT)
    model_name = models.CharField(max_length=200, default="")
    what = models.CharField(max_length=200, default="")
    by = models.CharField(max_length=150, default="")
    credential = models.ForeignKey(Credential, on_delete=models.SET_NULL, null=True, related_name="+")
    target = models.JSONField(default=dict)
    request = models.JSONField(default=dict)
    answer = models.JSONField(default=dict)
    handle = models.JSONField(null=True)
    cost_micros = models.BigIntegerField(null=True)
    started_at = models.DateTimeField(null=True)
    answered_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.channel}, test {self.number}"


class ChannelModel(CatalogRecord):
    """A model as one channel offers it."""

    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="channel_models")
    model = models.ForeignKey(MediaModel, on_delete=models.CASCADE, related_name="channel_models")
    upstream_model = models.CharField(max_length=200)
    capabilities = models.JSONField(default=dict, blank=True)
    extra_fields = models.JSONField(
        default=list, blank=True, help_text="Paths of upstream fields that callers may set though they have no price."
    )
    fixed = models.JSONField(
        default=dict, blank=True, help_text="Upstream fields that are always sent so; callers may give no other value."
    )
    cost = models.JSONField(null=True, blank=True, help_text="Our own cost in USD; never billed.")
    enabled = models.BooleanField(default=True)

    class Meta:
        constraints = [models.UniqueConstraint(name="channel_model_once", fields=["channel", "model"])]

    def __str__(self) -> str:
        return f"{self.channel} · {self.model}"


class Route(CatalogRecord):
    """A plan's way from a model to a channel. Lower priority first; equal priorities share by weight."""

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="routes")
    model = models.ForeignKey(MediaModel, on_delete=models.CASCADE, related_name="routes")
    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="routes")
    priority = models.IntegerField(default=10)
    weight = models.PositiveIntegerField(default=1)
    resubmit_ambiguous = models.BooleanField(
        default=False, help_text="Buy again after an outcome nobody knows. Costs money when the first one ran."
    )
    enabled = models.BooleanField(default=True)

    class Meta:
        constraints = [models.UniqueConstraint(name="route_once", fields=["plan", "model", "channel"])]

    def __str__(self) -> str:
        return f"{self.plan}: {self.model} → {self.channel}"


class PlanChoice(CatalogRecord):
    """A key's explicit plan for one model; without it, or once it cannot serve, the model's default plan holds."""

    key = models.ForeignKey("accounts.ApiKey", on_delete=models.CASCADE, related_name="plan_choices")
    model = models.ForeignKey(MediaModel, on_delete=models.CASCADE, related_name="+")
    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(name="choice_once", fields=["key", "model"])]

    def __str__(self) -> str:
        return f"{self.key}: {self.model} by {self.plan}"


class GroupOffer(CatalogRecord):
    """What a group of general keys is offered: prices by model pattern, in USD per million tokens or for one picture,
    those of tools that the provider runs, in USD for one call, and the models that are listed."""

    group = models.OneToOneField("accounts.Group", on_delete=models.CASCADE, related_name="offer")
    models_listed = models.JSONField(null=True, blank=True)
    prices = models.JSONField(default=dict, blank=True)
    image_prices = models.JSONField(default=dict, blank=True)
    extra_fields = models.JSONField(
        default=list, blank=True, help_text="Fields that pass though they may cost what the prices do not know."
    )
    tool_prices = models.JSONField(default=dict, blank=True, db_default=models.Value({}, models.JSONField()))
    extra_betas = models.JSONField(
        default=list,
        blank=True,
        db_default=models.Value([], models.JSONField()),
        help_text="Values of `anthropic-beta` that pass though they may cost what the prices do not know.",
    )

    def __str__(self) -> str:
        return str(self.group)


class GroupChannel(CatalogRecord):
    """A channel of a group; it is of no other. Lower priority first; equal priorities share by weight.

    `dialects` are those that it speaks beside its platform's own, `upstream_models` other names that models have
    there, by their public ones.
    """

    group = models.ForeignKey("accounts.Group", on_delete=models.CASCADE, related_name="channels")
    channel = models.OneToOneField(Channel, on_delete=models.CASCADE, related_name="group_link")
    priority = models.IntegerField(default=10)
    weight = models.PositiveIntegerField(default=1)
    dialects = models.JSONField(default=list, blank=True)
    upstream_models = models.JSONField(
        default=dict, blank=True, help_text="Names that models have there, by their public names."
    )
    enabled = models.BooleanField(default=True)

    def __str__(self) -> str:
        return f"{self.group} → {self.channel}"
