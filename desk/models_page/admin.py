"""Admin of models: form, prices by plan, routes, and the public representation."""

import json
from typing import Any, ClassVar

from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest

from catalog import naming, pausing
from catalog.file import dump
from catalog.models import MediaModel
from common.money import PlainEncoder
from desk.catalog_file import words
from desk.channel_page.actions import pausing_actions
from desk.kit.actions import ActionPages
from desk.models_page import listed, model_facts, param_forms
from desk.models_page.forms import MediaModelForm
from pages.admin_pages import OwnForm


class MediaModelAdmin(OwnForm, ActionPages):
    form = MediaModelForm
    change_form_template = "admin/catalog/mediamodel/change_form.html"
    row_actions = pausing_actions("model")
    change_list_template = "admin/catalog/mediamodel/change_list.html"
    actions = None
    list_per_page = 500
    list_select_related = ("default_plan",)
    search_fields = ("names__name", "name")
    ordering = ("modality", "name")
    fieldsets: ClassVar[Any] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[MediaModel]:
        count = Count("routes", filter=Q(routes__enabled=True), distinct=True)
        models: QuerySet[MediaModel] = super().get_queryset(request).prefetch_related("names").annotate(count=count)
        return models

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        answer = super().changelist_view(request, extra_context)
        if "cl" in (getattr(answer, "context_data", None) or {}):
            answer.context_data |= {"title": "Models", "models": listed.read(answer.context_data["cl"].result_list)}
        return answer

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the plain form: the template draws the fields, disabled for users who may only view."""
        return self.form

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        return ()

    def save_model(self, request: HttpRequest, obj: MediaModel, form: Any, change: bool) -> None:
        before = dump.model(self._stored(obj)) if change else None
        super().save_model(request, obj, form, change)
        if naming.differ(obj, form.cleaned_data["aliases"]):
            naming.write(obj, form.cleaned_data["aliases"])
        form.story = words.compare_models(before, dump.model(self._stored(obj))) if before else []

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        """Describe each change with old and new value: operators look up prices in the history."""
        told = " ".join(difference.text for difference in form.story)
        return told or super().construct_change_message(request, form, formsets, add)

    def _stored(self, obj: MediaModel) -> MediaModel:
        """Load the model as stored, not as submitted."""
        stored: MediaModel = self.model.objects.select_related("default_plan").get(pk=obj.pk)
        return stored

    def fill(self, request: HttpRequest, context: Any, obj: Any) -> None:
        form = context["adminform"].form
        context["params"] = [
            {"modality": modality, "fields": [form[name] for each in found for name in each.names]}
            for modality in dict.fromkeys(each.modality for each in form.params)
            if (found := [each for each in form.params if each.modality == modality])
        ]
        context["other_params"] = form[param_forms.DROP] if param_forms.DROP in form.fields else None
        if obj is not None:
            context |= {"title": str(obj), "subtitle": None}
            stored = self._stored(obj)
            context["halted"] = pausing.told(stored)
            context["halted_means"] = pausing.MEANING[pausing.standing(stored)]
            context["facts"], context["face"] = model_facts.read(stored), model_facts.face(stored)
            context["face_json"] = json.dumps(context["face"].shown, indent=2, ensure_ascii=False, cls=PlainEncoder)
