"""Admin of users and groups. Changing them can grant any right, so it needs a fresh confirmation."""

from typing import Any

from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.http import HttpRequest

from desk.access import proof
from desk.access.guarded_admin import GuardedAdmin


class ProvedWrites(GuardedAdmin):
    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        proof.demand(request)
        super().save_model(request, obj, form, change)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        proof.demand(request)
        return super().get_deleted_objects(objs, request)


class DeskUserAdmin(ProvedWrites, UserAdmin):  # type: ignore[type-arg]
    """Admin of users, who are deactivated but never deleted: Django would delete their history as well."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @proof.asked
    def user_change_password(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if request.user.has_perm("auth.change_user"):
            proof.demand(request)
        return super().user_change_password(request, *args, **kwargs)


class DeskGroupAdmin(ProvedWrites, GroupAdmin):
    pass
