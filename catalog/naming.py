"""Names and aliases of models: the ModelName rows that keep every name unique within its modality."""

from collections.abc import Collection, Iterable, Sequence

from django.db import transaction

from catalog.models import MediaModel, ModelName


def aliases(model: MediaModel) -> list[str]:
    """In the order in which they were given."""
    return [row.name for row in sorted(model.names.all(), key=lambda row: row.id) if not row.is_primary]


def taken(modality: str, names: Iterable[str], *, besides: Collection[int] = ()) -> list[str]:
    """Those of the names that a model other than `besides` (ids) already has in this modality."""
    rows = ModelName.objects.filter(modality=modality, name__in=list(names)).exclude(model_id__in=besides)
    return sorted(rows.values_list("name", flat=True))


def differ(model: MediaModel, wanted: Sequence[str]) -> bool:
    """Whether the rows say anything but the model's name and exactly these aliases in this order."""
    primary = [row.name for row in model.names.all() if row.is_primary]
    return primary != [model.name] or aliases(model) != list(wanted)


def clear(model: MediaModel) -> None:
    """Give up all names, so that other models may take them before `write`."""
    model.names.all().delete()


def write(model: MediaModel, wanted: Sequence[str]) -> None:
    """Make the rows say the model's name and these aliases.

    Raises IntegrityError where another model has one of them: ask `taken` first.
    """
    with transaction.atomic():
        clear(model)
        ModelName.objects.bulk_create(
            ModelName(model=model, modality=model.modality, name=name, is_primary=name == model.name)
            for name in (model.name, *wanted)
        )
