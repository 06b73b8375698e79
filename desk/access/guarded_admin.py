"""The base of the desk's admins: pages that may ask for the password again, and rows that guard their deletion."""

import copy
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse

from desk.access import proof

REASON_LENGTH = 500


def may(request: HttpRequest, right: str) -> bool:
    """Whether the user has one of the permissions of `desk.models.Right`."""
    return bool(request.user.has_perm(f"desk.{right}"))


def frozen(form: Any, *names: str) -> Any:
    """The form's class, in which whatever is sent for these fields counts for nothing."""
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
        """The row, for a form of its own that the right and a fresh proof open. Raises Http404, PermissionDenied and
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
    """A model whose rows are never deleted: tasks, money and history hang on them."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ProvedDeletion:
    """Deleting a row takes credentials with it: it needs the right to change them, and a fresh proof."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may(request, "change_credentials") and bool(super().has_delete_permission(request, obj))  # type: ignore[misc]

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        proof.demand(request)
        return super().get_deleted_objects(objs, request)  # type: ignore[misc]
