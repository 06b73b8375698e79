"""Snapshot of the whole catalog as a plain tree without secrets, so that two can be compared."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from accounts.models import ApiKey
from catalog import snapshot
from catalog.file import dump
from catalog.models import Credential
from catalog.snapshot import Catalog

Key = tuple[str, str]  # modality, name


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Number of plans that serve a model, and of keys that would pay by them."""

    plans: int = 0
    keys: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSnapshot:
    """Catalog at one moment: `tree` is a catalog file's without credentials; `credentials` are those in use by channel,
    as (id, last characters); `reach` counts plans and keys of a model by modality and name."""

    tree: Mapping[str, Any]
    credentials: Mapping[str, tuple[tuple[int, str], ...]]
    reach: Callable[[Key], Reach]


def take() -> TreeSnapshot:
    """Take a snapshot as the caller's transaction sees it."""
    catalog = snapshot.load()
    keys = list(
        ApiKey.objects.filter(binding=ApiKey.Binding.TASK, task_api=True, disabled_at=None).values_list("id", flat=True)
    )
    return TreeSnapshot(
        tree=dump.tree(None),
        credentials=_credentials(),
        reach=partial(_reach, catalog, keys),
    )


def _credentials() -> dict[str, tuple[tuple[int, str], ...]]:
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for row in Credential.objects.filter(retired_at=None).select_related("channel").order_by("id"):
        found[row.channel.name].append((row.pk, str(row)))
    return {channel: tuple(rows) for channel, rows in found.items()}


def _reach(catalog: Catalog, keys: Sequence[int], name: Key) -> Reach:
    for model in catalog.models():
        if (model.modality, model.name) == name:
            plans = [catalog.plan_for(key, model)[0].id for key in keys]
            served = sum(bool(catalog.routes(plan, model.id)) for plan in plans)
            return Reach(plans=catalog.plans_serving(model.id), keys=served)
    return Reach()
