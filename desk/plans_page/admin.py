"""Admin of plans: routes by model in the order of priority, prices for keys, and explanation of requests; and admin of
the keys' plan choices."""

import json
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from catalog.file import dump
from catalog.models import Plan, PlanChoice, Route
from desk.catalog_file import words
from desk.plans_page import plan_facts
from desk.plans_page.explain_form import ExplainForm
from desk.plans_page.explaining import Explained
from desk.plans_page.forms import PlanForm, RouteForm, RouteFormSet, plain
from pages.admin_pages import LightPages, OwnForm


class RouteInline(admin.TabularInline):  # type: ignore[type-arg]
    model = Route
    form = RouteForm
    formset = RouteFormSet
    ordering = ("model", "priority", "id")
    extra = 1

    @property
    def media(self) -> forms.Media:
        return forms.Media()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Route]:
        rows: QuerySet[Route] = super().get_queryset(request)
        return rows.select_related("model", "channel", "plan")


class PlanAdmin(OwnForm, admin.ModelAdmin):  # type: ignore[type-arg]
    form = PlanForm
    inlines = (RouteInline,)
    change_form_template = "admin/catalog/plan/change_form.html"
    change_list_template = "admin/catalog/plan/change_list.html"
    actions = None
    list_per_page = 500
    search_fields = ("name",)
    ordering = ("name",)
    fieldsets: ClassVar[Any] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Plan]:
        enabled = Q(routes__enabled=True)
        choosers = PlanChoice.objects.filter(plan=OuterRef("pk")).order_by().values("plan")
        plans: QuerySet[Plan] = super().get_queryset(request).prefetch_related("default_of")
        return plans.annotate(
            count=Count("routes", filter=enabled, distinct=True),
            served=Count("routes__model", filter=enabled, distinct=True),
            choosers=Coalesce(Subquery(choosers.annotate(keys=Count("key", distinct=True)).values("keys")), 0),
        )

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        answer: Any = super().changelist_view(request, extra_context)
        if "cl" in (getattr(answer, "context_data", None) or {}):
            rows = [
                {"plan": plan, "multiplier": plain(plan.price_multiplier)}
                for plan in answer.context_data["cl"].result_list
            ]
            answer.context_data |= {"title": "Plans", "plans": rows}
        return answer

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return self.form

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        return ()

    def save_model(self, request: HttpRequest, obj: Plan, form: Any, change: bool) -> None:
        form.before = _entry(Plan.objects.get(pk=obj.pk)) if change else None
        super().save_model(request, obj, form, change)

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        """Describe each change with old and new value."""
        told = words.compare_plans(form.before, _entry(form.instance)) if form.before else []
        return " ".join(each.text for each in told) or super().construct_change_message(request, form, formsets, add)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.explain)
        return [path("<int:plan_id>/explain/", view, name="catalog_plan_explain"), *super().get_urls()]

    def fill(self, request: HttpRequest, context: Any, obj: Any) -> None:
        formset = context["inline_admin_formsets"][0].formset
        context["formset"] = formset
        context["new_routes"] = [form for form in formset.forms if not form.instance.pk]
        if obj is not None:
            context |= {"title": str(obj), "subtitle": None}
            context["groups"] = plan_facts.groups(obj, formset.forms)
            context["unserved"] = plan_facts.unserved(obj, context["groups"])
            context["explain_form"] = ExplainForm(plan=obj, user=request.user)
            context["explain_url"] = reverse("admin:catalog_plan_explain", args=[obj.pk])

    def explain(self, request: HttpRequest, plan_id: int) -> HttpResponse:
        """Explain where a request would go; nothing is stored or sent."""
        plan = self.get_object(request, str(plan_id))
        if plan is None:
            raise Http404
        if not self.has_view_permission(request, plan):
            raise PermissionDenied
        form = ExplainForm(request.POST if request.method == "POST" else None, plan=plan, user=request.user)
        explained = form.explained() if form.is_valid() else None
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": plan,
            "title": f"Explain a request under {plan}",
            "explain_form": form,
            "explain_url": request.path,
            **_shown(explained),
        }
        return TemplateResponse(request, "admin/catalog/plan/explain.html", context)


def _entry(plan: Plan) -> Any:
    """Get the plan's entry of the catalog file."""
    return next(entry for entry in dump.plans() if entry["name"] == plan.name)


def _shown(explained: Explained | None) -> dict[str, Any]:
    if explained is None:
        return {}
    upstream = explained.answer["request"]
    body = json.dumps(upstream["body"], indent=2, ensure_ascii=False) if upstream else ""
    kept = sum(route["kept"] for route in explained.answer["routes"])
    return {"explained": explained, "body": body, "kept": kept}


class PlanChoiceAdmin(LightPages, admin.ModelAdmin):  # type: ignore[type-arg]
    change_form_template = "admin/light_change_form.html"
    list_display = ("key", "model", "plan")
    list_filter = ("plan",)
    list_select_related = ("key", "model", "plan")
    search_fields = ("key__name", "model__name", "plan__name")
    raw_id_fields = ("key",)
