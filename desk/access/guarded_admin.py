"""Base classes of the desk's admins: pages with password confirmation, and guarded deletion of rows."""

import copy
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse

from desk.access import proof

REASON_LENGTH = 500


def may(request: HttpRequest, right: str) -> bool:
    """Check a permission of `desk.models.Right`."""
    return bool(request.user.has_perm(f"desk.{right}"))


def frozen(form: Any, *names: str) -> Any:
    """Disable these fields of a form class, so that submitted values are ignored."""
    for name in form.base_fields.keys() & set(names):
        form.base_fields[name] = copy.copy(form.base_fields[name])  # it is shared with the class of all requests
        form.base_fields[name].disabled = True
    return form


class GuardedAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    @proof.asked
    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return super().changeform_view(request, *args, **kwargs)

    @proof.asked
    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return super().delete_view(request, *args, **kwargs)

    @proof.asked
    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return super().changelist_view(request, *args, **kwargs)

    def row_for(self, request: HttpRequest, row_id: int, *, right: str) -> Any:
        """Load a row for a form that needs this right and a fresh confirmation. Raises Http404, PermissionDenied and
        ProofNeeded."""
        row = self.get_object(request, str(row_id))
        if row is None:
            raise Http404
        if not (self.has_view_permission(request, row) and may(request, right)):
            raise PermissionDenied
        proof.demand(request)
        return row

    def page(self, request: HttpRequest, template: str, **context: Any) -> TemplateResponse:
        return TemplateResponse(
            request, template, self.admin_site.each_context(request) | {"opts": self.opts} | context
        )


class KeptAdmin(GuardedAdmin):
    """Admin of rows that are never deleted: tasks, money and history refer to them."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ProvedDeletion:
    """Mixin for rows whose deletion deletes credentials: it needs that right and a fresh confirmation."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may(request, "change_credentials") and bool(super().has_delete_permission(request, obj))  # type: ignore[misc]

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        proof.demand(request)
        return super().get_deleted_objects(objs, request)  # type: ignore[misc]
