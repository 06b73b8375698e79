"""What the parsers of all modalities are given and share: the rules of this request, its blobs, the check of a URL."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from common import urls
from tasks.request.fields import Fields, refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class ParamRules:
    """`catalog` is the model's `params` object; `own_asset` tells a valid signed asset URL of the submitting key."""

    catalog: Mapping[str, Any]
    urls: urls.UrlPolicy
    own_asset: Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """The decoded bytes of a Data URL at this position of `params.images`."""

    position: int
    content_type: str
    content: bytes = field(repr=False)


def public_url(fields: Fields, name: str, rules: ParamRules) -> str:
    """A required URL that we or a provider may fetch: public, or one of the key's own assets."""
    url = fields.required_text(name)
    if urls.is_own(url, rules.urls) and rules.own_asset(url):
        return url
    if problem := urls.problem(url, rules.urls):
        refuse(fields.at(name), problem)
    return url
