"""Rows some of whose columns only statements of their own move: a whole row that is saved leaves them as they are."""

from typing import Any, ClassVar


class KeptColumns:
    """For a model, before its base. A stale copy, such as the one that a form was opened with, would else undo what
    moved `KEPT` meanwhile. Whoever names `update_fields` writes these."""

    KEPT: ClassVar[tuple[str, ...]] = ()

    def save(self, *args: Any, **kwargs: Any) -> None:
        row: Any = self
        if not row._state.adding and not args and "update_fields" not in kwargs:
            kept = {"id", *self.KEPT}
            kwargs["update_fields"] = [each.name for each in row._meta.concrete_fields if each.name not in kept]
        super().save(*args, **kwargs)  # type: ignore[misc]
