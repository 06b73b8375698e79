"""Channels in the admin. Nothing can be deleted that is still needed to follow a paid job."""

from typing import Any

from django import forms
from django.http import HttpRequest

from catalog.admin import ChannelAdmin, ChannelModelInline, CredentialInline
from desk import in_use


class KeptCredentialFormSet(forms.BaseInlineFormSet):  # type: ignore[type-arg]
    def clean(self) -> None:
        super().clean()
        kept = in_use.credentials()
        needed = [form.instance for form in self.deleted_forms if form.instance.pk in kept]
        reasons = [f"{row}: the jobs that it bought are still followed: disable it instead." for row in needed]
        if reasons:
            raise forms.ValidationError(reasons)


class KeptCredentialInline(CredentialInline):
    formset = KeptCredentialFormSet


class KeptChannelAdmin(ChannelAdmin):
    inlines = (KeptCredentialInline, ChannelModelInline)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Counts channels in use as protected: Django then deletes nothing and shows why."""
        *found, protected = super().get_deleted_objects(objs, request)
        kept = in_use.channels()
        reasons = [f"{row}: its jobs are still followed: disable it instead" for row in objs if row.pk in kept]
        return *found, [*protected, *reasons]
