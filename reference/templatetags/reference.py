"""Template filters for the document's prose, paths and names: `{% load reference %}`"""

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
    """Allows line breaks in a path or name after each of its joints."""
    return mark_safe(JOINT.sub(r"\1<wbr>", escape(text)))  # noqa: S308 (escaped)


@register.filter
def place_words(place: str) -> str:
    return PLACES[place]


@register.filter
def x_title(scheme: Mapping[str, str]) -> str:
    """Returns the title of a way to authenticate; templates cannot read fields with a hyphen."""
    return scheme["x-title"]
