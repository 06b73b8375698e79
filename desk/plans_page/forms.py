"""Forms of a plan's page: the plan and its routes."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, ClassVar

from django import forms

from catalog import validation
from catalog.models import Channel, ChannelModel, MediaModel, Plan, Route
from catalog.ruled_form import RuledForm
from pages.admin_pages import KnownRows


class PlanForm(RuledForm):
    rules: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "name": validation.name,
        "price_multiplier": validation.multiplier,
    }

    class Meta:
        model = Plan
        fields = ("name", "price_multiplier")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["price_multiplier"] = plain(self.instance.price_multiplier)


def plain(number: Decimal) -> str:
    """Format a number without trailing zeros."""
    return format(number.normalize(), "f")


class RouteForm(forms.ModelForm):  # type: ignore[type-arg]
    """Form of a route. A stored route keeps its model and channel."""

    model = forms.ModelChoiceField(MediaModel.objects.order_by("modality", "name"))
    channel = forms.ModelChoiceField(Channel.objects.filter(group_link=None).order_by("name"))

    class Meta:
        model = Route
        fields = ("model", "channel", "priority", "weight", "resubmit_ambiguous", "enabled")
        labels: ClassVar[Any] = {"resubmit_ambiguous": "Buy again after an unknown outcome"}
        help_texts: ClassVar[Any] = {"resubmit_ambiguous": "Costs twice if the first call did run."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.fields["model"] = forms.ModelChoiceField(MediaModel.objects.all(), disabled=True)
            self.fields["channel"] = forms.ModelChoiceField(Channel.objects.all(), disabled=True)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        model, channel = cleaned.get("model"), cleaned.get("channel")
        is_new = not self.instance.pk
        if is_new and model and channel and not ChannelModel.objects.filter(model=model, channel=channel).exists():
            self.add_error("channel", f"{channel} does not offer {model}: add the model to the channel first.")
        return cleaned


class RouteFormSet(KnownRows, forms.BaseInlineFormSet):  # type: ignore[type-arg]
    """Formset of a plan's routes."""
