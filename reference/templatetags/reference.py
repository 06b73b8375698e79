"""Prose, paths and names of the document in templates. `{% load reference %}`"""

import re
from collections.abc import Mapping

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from reference.markdown import line, rendered

PLACES = {"path": "In the path", "query": "In the query", "header": "Headers", "cookie": "Cookies"}
JOINT = re.compile(r"([/._:])(?=\w|\{)")

register = template.Library()
register.filter("prose", rendered)
register.filter("line", line)


@register.filter
def breakable(text: str) -> SafeString:
    """A path or a name that may go on in the next line after each of its joints."""
    return mark_safe(JOINT.sub(r"\1<wbr>", escape(text)))  # noqa: S308 (escaped)


@register.filter
def place_words(place: str) -> str:
    return PLACES[place]


@register.filter
def x_title(scheme: Mapping[str, str]) -> str:
    """The name of a way to show a key; templates read no field with a hyphen."""
    return scheme["x-title"]
