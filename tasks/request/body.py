"""The top level of a submission: its fields and their form. What is in `params`, `tasks/request/params.py` checks."""

from typing import Any

from common import modalities, urls
from tasks.request.fields import RequestFields, refuse
from tasks.request.values import Metadata, SubmissionBody

NAMES = frozenset({"model", "modality", "params", "metadata", "callback_url"})
MAX_NAME = 200
MAX_METADATA_KEYS, MAX_METADATA_KEY, MAX_METADATA_TEXT = 50, 64, 512


def parse(document: dict[str, Any], policy: urls.UrlPolicy) -> SubmissionBody:
    """The checked top level. Raises InvalidRequest."""
    fields = RequestFields(values=document, path="")
    if not document.keys() <= NAMES:
        fields.refuse_unknown(NAMES, {"plan": "the plan is chosen for the key"})
    model = fields.required_text("model", longest=MAX_NAME)
    modality = fields.choice("modality", modalities.NAMES)
    params = document.get("params")
    if not isinstance(params, dict):
        refuse("params", "is required" if params is None else "must be an object")
    metadata, callback_url = document.get("metadata"), document.get("callback_url")
    return SubmissionBody(
        model=model,
        modality=modality,
        params=params,
        metadata=None if metadata is None else _metadata(metadata),
        callback_url=None if callback_url is None else _callback_url(fields, policy),
    )


def _metadata(given: object) -> Metadata:
    metadata = RequestFields.of(given, "metadata")
    if len(metadata.values) > MAX_METADATA_KEYS:
        refuse("metadata", f"must have at most {MAX_METADATA_KEYS} keys")
    for key, value in metadata.values.items():
        if len(key) > MAX_METADATA_KEY:
            refuse(metadata.at(key), f"must be a key of at most {MAX_METADATA_KEY} characters")
        if isinstance(value, dict | list):
            refuse(metadata.at(key), "must be a string, a number, a boolean or null")
        if isinstance(value, str) and len(value) > MAX_METADATA_TEXT:
            refuse(metadata.at(key), f"must be at most {MAX_METADATA_TEXT} characters long")
    return dict(metadata.values)


def _callback_url(fields: RequestFields, policy: urls.UrlPolicy) -> str:
    url = fields.required_text("callback_url")
    if problem := urls.problem(url, policy):
        refuse("callback_url", problem)
    return url
