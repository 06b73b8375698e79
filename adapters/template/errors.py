"""What the errors of a described provider mean: by its codes, its texts and the HTTP status, as the template says."""

import re
from typing import Any

from adapters.base import ENDS_JOB, ErrorKind, UpstreamError, text
from adapters.kit import error_kinds, error_shapes
from adapters.kit.error_kinds import SpokenError
from adapters.kit.jobs import poll_fault
from adapters.template.form import Template
from adapters.template.paths import alternatives, first, values

STATUS = re.compile(r"[1-5][0-9]{2}")
NO_WORDS = "HTTP "  # how the message begins that stands for a body without one


def spoken(template: Template, document: Any, status: int, *, paid: bool = False) -> SpokenError:
    """The error of an answer. Where its code means nothing, `type` is the text or the status that means something."""
    error = template.part("error")
    found, message = _words(template, document)
    code = next((code for code in found if code in error.get("map", {})), found[0] if found else "")
    by_status = str(status) if str(status) in error.get("map", {}) else ""
    # A text may quote the prompt: of a paid call that may have run it tells only where the template names the status.
    any_status = not (paid and error_kinds.leaves_open(status))
    telling = _telling(template, message, status, any_status=any_status)
    return SpokenError(code=code, type=telling or by_status, message=message)


def _words(template: Template, document: Any) -> tuple[list[str], str]:
    """The codes and the message; where the template has no paths for them, in the shapes that most providers share."""
    error = template.part("error")
    if "code" not in error and "message" not in error:
        usual = error_kinds.spoken_error(document)
        return list(filter(None, (usual.code, usual.type))), usual.message
    found = map(text, values(document, error.get("code", ())))
    messages = map(text, values(document, error.get("message", ())))
    return list(filter(None, found)), next(filter(None, messages), "")


def codes(template: Template, code: str) -> ErrorKind | None:
    """The meaning of a code, or of what `spoken` put in the place of one."""
    error = template.part("error")
    of_texts = {rule["contains"]: rule["kind"] for rule in error.get("texts", ())}
    kind = error.get("map", {}).get(code) or of_texts.get(code)
    return ErrorKind(kind) if kind else None


def _telling(template: Template, message: str, status: int, *, any_status: bool) -> str:
    """The text of a rule that the message contains, if its status fits. `any_status`: also of a rule without one."""
    for rule in template.part("error").get("texts", ()):
        fits = rule["status"] == status if "status" in rule else any_status
        if fits and rule["contains"].lower() in message.lower():
            return str(rule["contains"])
    return ""


def is_own(template: Template, document: Any) -> bool:
    """Whether an error body is the provider's own: what `error.shape` names is there; without it a code, or a message
    below another field. A text at the root, or the HTTP status as a code, is what proxies say too."""
    error = template.part("error")
    if "shape" in error:
        return all(first(document, path) is not None for path in alternatives(error["shape"]))
    if "code" not in error and "message" not in error:
        return error_shapes.error_object(document)
    paths = alternatives(error["code"] if "code" in error else error["message"])
    below = [path for path in paths if "." in path]
    at_root = [path for path in paths if "." not in path] if "code" in error else []
    own_codes = (text(code) for code in values(document, at_root))
    return any(map(text, values(document, below))) or any(code and not STATUS.fullmatch(code) for code in own_codes)


def ended(template: Template, document: Any, state: str) -> UpstreamError:
    """The error of a job that ended as failed or canceled."""
    return _final(template, document, ErrorKind.PROVIDER_FAILED, f"the job ended as {state}")


def empty(template: Template, document: Any) -> UpstreamError:
    """The error of a job that succeeded without a result; some say why in the place of it."""
    return _final(template, document, ErrorKind.EMPTY_RESULT, "the job succeeded without a result")


def _final(template: Template, document: Any, otherwise: ErrorKind, message: str) -> UpstreamError:
    error = spoken(template, document, 0)
    told = codes(template, error.code) or codes(template, error.type)
    kind = told if told and told in ENDS_JOB else otherwise
    return UpstreamError(kind, error.message or message, code=error.code)


def of_result(template: Template, error: UpstreamError) -> UpstreamError:
    """A refusal at the address of the result, once the job has ended. What the protocol says of the job ends it; what
    a gateway may have said is a poll fault."""
    if is_gone(template, error):
        return error.as_kind(ErrorKind.EMPTY_RESULT)
    if error.code in template.part("result").get("failed_codes", ()):
        return error.as_kind(ErrorKind.PROVIDER_FAILED)
    told = codes(template, error.code)
    is_said = told is not None and told in ENDS_JOB
    has_words = bool(error.code) or not error.message.startswith(NO_WORDS)
    is_refused = error.http_status in (400, 422) and error.kind in ENDS_JOB and has_words
    return error.as_kind(error.kind) if is_said or is_refused else poll_fault(error, is_unknown=False)


def is_gone(template: Template, error: UpstreamError) -> bool:
    """Whether the provider says, in its own words, that it has no such job."""
    said = f"{error.code}\n{error.message}".lower()
    words = template.part("error").get("gone", ())
    return error.http_status in (404, 410) and any(word.lower() in said for word in words)
