"""Channels in the admin. Nothing can be deleted that is still needed to follow a paid job, and no credential changes
without the right to it, a fresh proof and a reason."""

from typing import Any

from django import forms
from django.http import HttpRequest

from catalog.admin import ChannelAdmin, ChannelModelInline, CredentialInline
from catalog.models import Credential
from catalog.secret_forms import CredentialForm, CredentialFormSet
from desk import in_use, proof
from desk.guarded_admin import REASON_LENGTH, GuardedAdmin, ProvedDeletion, frozen, may

SAY_WHY = "Say why: the history keeps it."


class ReasonedCredentialForm(CredentialForm):
    change_reason = forms.CharField(required=False, max_length=REASON_LENGTH, label="why you change it")


class KeptCredentialFormSet(CredentialFormSet):
    def clean(self) -> None:
        super().clean()
        kept = in_use.credentials()
        needed = [form.instance for form in self.deleted_forms if form.instance.pk in kept]
        reasons = [
            f"{row}: jobs that it bought are still followed, or their outcome is unknown: disable it instead."
            for row in needed
        ]
        if reasons:
            raise forms.ValidationError(reasons)
        for form in self.touched():
            if form.cleaned_data.get("change_reason"):
                continue
            if form in self.deleted_forms:  # of which Django heeds no error of a field
                raise forms.ValidationError(f"{form.instance}: {SAY_WHY}")
            if "change_reason" not in form.errors:
                form.add_error("change_reason", SAY_WHY)

    def touched(self) -> list[Any]:
        """The forms that change, add or delete a credential."""
        return [form for form in self.forms if form.has_changed() or form in self.deleted_forms]

    def story(self) -> list[str]:
        """What happened to each credential and why, for the history."""
        return [f"{_what(form, self.deleted_forms)}: {form.cleaned_data['change_reason']}" for form in self.touched()]


def _what(form: Any, deleted: list[Any]) -> str:
    if form in deleted:
        return f"Deleted credential {form.instance}"
    done = ["entered"] if form.cleaned_data["secret"] else []
    done += [f"{switch}d"] if (switch := form.cleaned_data["switch"]) else []
    return f"Credential {form.instance} {' and '.join(done) or 'left as it is'}"


class KeptCredentialInline(CredentialInline):
    form = ReasonedCredentialForm
    formset = KeptCredentialFormSet
    fields = (*CredentialInline.fields, "change_reason")  # type: ignore[assignment]

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may(request, "change_credentials")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may(request, "change_credentials")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may(request, "change_credentials")


class KeptChannelAdmin(ProvedDeletion, GuardedAdmin, ChannelAdmin):
    inlines = (KeptCredentialInline, ChannelModelInline)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Without the right a channel with credentials stays where they are sent to."""
        form = super().get_form(request, obj, change=change, **kwargs)
        return form if obj is None or may(request, "change_credentials") else frozen(form, "base_url")

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        if formset.model is not Credential or not formset.touched():
            return super().save_formset(request, form, formset, change)
        proof.demand(request)
        super().save_formset(request, form, formset, change)
        for line in formset.story():
            self.log_change(request, form.instance, line)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Counts channels in use as protected: Django then deletes nothing and shows why."""
        *found, protected = super().get_deleted_objects(objs, request)
        kept = in_use.channels()
        reasons = [f"{row}: its jobs are still followed: disable it instead" for row in objs if row.pk in kept]
        return *found, [*protected, *reasons]
