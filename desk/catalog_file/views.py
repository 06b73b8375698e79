"""Pages of the catalog as a file: the current one, a preview of another one's changes, and applying it.

Environment variables in a pasted text are not filled in, as a page could show the server's secrets.
"""

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from catalog.file import dump
from catalog.file.load import CatalogFileError
from catalog.models import CatalogVersion, Channel, MediaModel, Plan
from desk.access import proof
from desk.access.guarded_admin import may
from desk.catalog_file import changing
from desk.catalog_file.changing import CatalogMoved, Difference
from desk.catalog_file.forms import ApplyForm, FileForm, PreviewedFile, has_secrets

WRITTEN = ("mediamodel", "channel", "channelmodel", "plan", "route", "groupoffer", "groupchannel")
VIEW = ("catalog.view_mediamodel", "catalog.view_channel", "catalog.view_plan", "accounts.view_group")
SHOWN_HISTORY = 20
NO_RIGHT = (
    "The file enters, replaces or removes credentials, or changes the address of a channel that has some. This needs "
    "the right to change credentials."
)
MOVED = "The catalog has changed in the meantime. These are the differences to its current state: review them again."


def changes_needed(prune: bool) -> list[str]:
    """List the permissions of all rows that a file may write."""
    actions = ("add", "change", "delete") if prune else ("add", "change")
    rows = [("catalog", name) for name in WRITTEN] + [("accounts", "group")]
    return [f"{app}.{action}_{name}" for app, name in rows for action in actions]


def may_change(request: HttpRequest, *, prune: bool) -> bool:
    return request.user.has_perms(changes_needed(prune))  # type: ignore[no-any-return, unused-ignore]


class CatalogFilePages:
    """Views of the catalog file; `proof.asked` needs `admin_site`."""

    def __init__(self, admin_site: AdminSite) -> None:
        self.admin_site = admin_site

    def urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("catalog-file/", view(self.show), name="catalog_file"),
            path("catalog-file/differences/", view(self.compare), name="catalog_file_differences"),
            path("catalog-file/apply/", view(self.apply), name="catalog_file_apply"),
        ]

    def show(self, request: HttpRequest) -> HttpResponse:
        if not request.user.has_perms(VIEW):
            raise PermissionDenied
        return self._page(request, FileForm(initial={"text": dump.dump_without_credentials()}))

    def compare(self, request: HttpRequest) -> HttpResponse:
        """Show what a file would change. Nothing is written."""
        if request.method != "POST":
            return redirect("admin:catalog_file")
        prune = "prune" in request.POST
        if not may_change(request, prune=prune):
            raise PermissionDenied
        form = FileForm(request.POST, request.FILES)
        if not form.is_valid():
            return self._page(request, form)
        text = form.cleaned_data["given"]
        try:
            found = changing.preview(changing.read(text), prune=prune)
        except CatalogFileError as error:
            return self._page(request, _again(text, prune), problems=error.problems)
        return self._differences(request, text, prune, found)

    @proof.asked
    def apply(self, request: HttpRequest) -> HttpResponse:
        """Apply the previewed file, in one transaction with its history entry."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        form = ApplyForm(request.POST, user_id=request.user.pk)  # type: ignore[arg-type]
        is_whole = form.is_valid()
        looked_at: PreviewedFile | None = form.cleaned_data.get("looked_at")
        if looked_at is None:
            messages.error(request, "Preview the differences first.")
            return redirect("admin:catalog_file")
        if not may_change(request, prune=looked_at.prune):
            raise PermissionDenied
        proof.demand(request)
        if not is_whole:
            return self._look_again(request, looked_at, form)
        try:
            done = self._applied(request, looked_at, form.cleaned_data["reason"])
        except CatalogMoved:
            messages.warning(request, MOVED)
            return self._look_again(request, looked_at, form)
        messages.success(request, f"Applied: {_summary(done)}.")
        return redirect("admin:catalog_file")

    def _applied(self, request: HttpRequest, looked_at: PreviewedFile, reason: str) -> Difference:
        file = changing.read(looked_at.text)
        with transaction.atomic():
            done = changing.apply(file, prune=looked_at.prune, version=looked_at.version)
            if done.touches_credentials and not may(request, "change_credentials"):
                raise PermissionDenied
            row = CatalogVersion.objects.get()
            LogEntry.objects.log_actions(
                user_id=request.user.pk,  # type: ignore[arg-type]
                queryset=[row],
                action_flag=CHANGE,
                change_message=_story(done, reason),
            )
        return done

    def _look_again(self, request: HttpRequest, looked_at: PreviewedFile, form: ApplyForm) -> HttpResponse:
        """Show the differences to the current catalog."""
        try:
            found = changing.preview(changing.read(looked_at.text), prune=looked_at.prune)
        except CatalogFileError as error:
            return self._page(request, _again(looked_at.text, looked_at.prune), problems=error.problems)
        return self._differences(request, looked_at.text, looked_at.prune, found, sent=form)

    def _differences(
        self, request: HttpRequest, text: str, prune: bool, found: Difference, sent: ApplyForm | None = None
    ) -> HttpResponse:
        seen = PreviewedFile(text=text, prune=prune, version=found.version, user_id=request.user.pk)  # type: ignore[arg-type]
        initial = {"looked_at": seen.sealed(), "reason": sent.data.get("reason", "") if sent else ""}
        refusal = NO_RIGHT if found.touches_credentials and not may(request, "change_credentials") else ""
        return self._answer(
            request,
            "admin/catalog_file/differences.html",
            title="What the file would change",
            found=found,
            prune=prune,
            refusal=refusal,
            summary=_summary(found),
            errors=sent.errors.get("reason") if sent else None,
            form=ApplyForm(initial=initial, user_id=seen.user_id),
        )

    def _page(self, request: HttpRequest, form: FileForm, problems: Iterable[str] = ()) -> HttpResponse:
        counts = [kind.objects.count() for kind in (MediaModel, Channel, Plan)]
        version = ContentType.objects.get_for_model(CatalogVersion)
        history = LogEntry.objects.filter(content_type=version).select_related("user").order_by("-id")
        shown = dump.dump() if may(request, "change_credentials") else dump.dump_without_credentials()
        return self._answer(
            request,
            "admin/catalog_file/file.html",
            title="Catalog as a file",
            form=form,
            problems=list(problems),
            current=shown,
            counts=counts,
            may_change=may_change(request, prune=False),
            may_prune=may_change(request, prune=True),
            history=history[:SHOWN_HISTORY],
        )

    def _answer(self, request: HttpRequest, template: str, **context: Any) -> TemplateResponse:
        return TemplateResponse(request, template, self.admin_site.each_context(request) | context)


def _again(text: str, prune: bool) -> FileForm:
    """Rebuild the form, without a text that may hold secrets."""
    return FileForm(initial={"text": "" if has_secrets(text) else text, "prune": prune})


def _summary(found: Difference) -> str:
    changes = found.changes
    counts = {"created": changes.created, "changed": changes.changed, "removed": changes.removed}
    return ", ".join(f"{len(rows)} {word}" for word, rows in counts.items()) + f", {len(changes.unchanged)} left"


STORY = 5


def _story(found: Difference, reason: str) -> str:
    """Build the history entry: summary, reason, the first sentences and the number of further ones."""
    told = [sentence.text for sentence in found.sentences]
    more = f" And {len(told) - STORY} more." if len(told) > STORY else ""
    return f"Catalog file applied ({_summary(found)}): {reason} | {' '.join(told[:STORY])}{more}"
