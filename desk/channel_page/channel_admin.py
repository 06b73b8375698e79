"""Admin of channels. Nothing that is needed to follow a paid job can be deleted, and changing a credential needs the
right to it, a fresh confirmation and a reason."""

from typing import Any, ClassVar

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from adapters import registry
from catalog import standing
from catalog.channel_admin import ChannelAdmin, CredentialInline
from catalog.models import Credential
from catalog.secret_forms import CredentialForm, CredentialFormSet
from desk.access import proof
from desk.access.guarded_admin import REASON_LENGTH, ProvedDeletion, frozen, may
from desk.channel_page import channel_facts
from desk.channel_page.actions import CHANNEL_ACTIONS
from desk.channel_page.forms import ChannelForm
from desk.kit import in_use
from desk.kit.actions import ActionPages
from pages.admin_pages import OwnForm

SAY_WHY = "Enter a reason: the history records it."


class ReasonedCredentialForm(CredentialForm):
    change_reason = forms.CharField(required=False, max_length=REASON_LENGTH, label="reason for the change")


class KeptCredentialFormSet(CredentialFormSet):
    def clean(self) -> None:
        super().clean()
        kept = in_use.credentials() if self.deleted_forms else ()  # reads all paid calls
        needed = [form.instance for form in self.deleted_forms if form.instance.pk in kept]
        reasons = [
            f"{row}: jobs that it bought are still followed, or their outcome is unknown. Disable it instead."
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
        """List the forms that change, add or delete a credential."""
        return [form for form in self.forms if form.has_changed() or form in self.deleted_forms]

    def story(self) -> list[str]:
        """Describe what happened to each credential and why, for the history."""
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


class KeptChannelAdmin(OwnForm, ProvedDeletion, ActionPages, ChannelAdmin):
    form = ChannelForm
    change_form_template = "admin/catalog/channel/change_form.html"
    row_actions = CHANNEL_ACTIONS
    nothing_yet = (
        "No channel yet",
        "A channel is a provider's address and credential. No task runs without one.",
    )
    inlines = (KeptCredentialInline,)
    fieldsets: ClassVar[Any] = ()

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Build the form; without the right to credentials, the address of an existing channel is fixed."""
        form = type("ChannelFormOfPage", (ChannelForm,), {})  # a class per request: `frozen` changes it
        return form if obj is None or may(request, "change_credentials") else frozen(form, "base_url")

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        return ()

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Ask for the adapter first, then show the form with its options."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        if request.method == "GET" and request.GET.get("adapter") not in registry.ADAPTERS:
            known = [(name, getattr(adapter, "summary", "")) for name, adapter in sorted(registry.ADAPTERS.items())]
            return self.page(request, "admin/catalog/channel/choose.html", title="Add a channel", adapters=known)
        return super().add_view(request, form_url, extra_context)

    def fill(self, request: HttpRequest, context: Any, obj: Any) -> None:
        form = context["adminform"].form
        shown = [each.formset for each in context["inline_admin_formsets"]]  # none for who may not see credentials
        context["options"] = [form[name] for name in form.fields if name.startswith("options-")]
        context["formset"], now = next(iter(shown), None), timezone.now()
        context["may_credentials"] = may(request, "change_credentials")
        context["credentials"] = [
            {"form": each, "state": standing.of_credential(each.instance, now)}
            for formset in shown
            for each in formset.initial_forms
        ]
        if obj is not None:
            row = self.get_queryset(request).select_related("health", "group_link__group").get(pk=obj.pk)
            context["facts"], context["test"] = channel_facts.read(row, now), channel_facts.last_test(obj, now)
            context["test_url"] = next((button.url for button in self.among(request, obj, {"test"})), "")
            context["title"], context["subtitle"] = row.name, None

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
