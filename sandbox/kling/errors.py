"""Errors of the Kling protocol, and its authentication."""

import base64
import hashlib
import hmac
import json
import secrets
import time
from typing import Any

from sandbox.steering import Word
from sandbox.wire import Refusal, Request, Response, json_response


def error(status: int, code: int, message: str) -> Response:
    """Returns an error answer."""
    headers = {"retry-after": "1"} if status == 429 else {}
    return json_response({"code": code, "message": message, "request_id": secrets.token_hex(16)}, status, headers)


def success(data: Any) -> Response:
    """Returns a success answer with data."""
    return json_response({"code": 0, "message": "SUCCEED", "request_id": secrets.token_hex(16), "data": data})


def invalid(message: str) -> Refusal:
    """Returns a 400 about a parameter."""
    return Refusal(error(400, 1201, message))


def error_for(word: Word) -> Response:
    """Returns the refusal for a steering word."""
    match word.name:
        case "moderated":
            return error(400, 1301, "The request is blocked by the content security policy.")
        case "rate-limited":
            return error(429, 1302, "Too many requests.")
        case "status" if word.number:
            return error(int(word.number), int(word.number), f"Status {int(word.number)}, as asked.")
        case _:
            return error(500, 5000, "Server internal error.")


def authenticate(request: Request, *, takes_tokens: bool) -> None:
    """Accepts any key but `wrong` and `broke`; where tokens are accepted, tokens of any access key whose secret is the
    key and `-secret`. Raises Refusal."""
    name = request.bearer
    if not name:
        raise Refusal(error(401, 1001, "Authorization is empty"))
    if name.count(".") == 2:
        if not takes_tokens:
            raise Refusal(error(401, 1002, "The current API does not support AK/SK"))
        name = access_key(name)
    if name == "wrong":
        raise Refusal(error(401, 1002, "Authorization is invalid"))
    if name == "broke":
        raise Refusal(error(429, 1102, "Account balance not enough"))


def access_key(token: str) -> str:
    """Returns the issuer of a valid token. Raises Refusal."""
    head, claims, signature = token.split(".")
    try:
        fields = json.loads(decoded(claims))
        issuer, expires, begins = str(fields["iss"]), float(fields["exp"]), float(fields["nbf"])
        is_hs256 = json.loads(decoded(head)) == {"alg": "HS256", "typ": "JWT"}
        digest = hmac.new(f"{issuer}-secret".encode(), f"{head}.{claims}".encode(), hashlib.sha256).digest()
        is_signed = hmac.compare_digest(digest, decoded(signature))
    except (ValueError, KeyError, TypeError) as problem:
        raise Refusal(error(401, 1002, "Authorization is invalid")) from problem
    if not (is_hs256 and is_signed):
        raise Refusal(error(401, 1000, "Authentication failed"))
    if begins > time.time():
        raise Refusal(error(401, 1003, "Authorization is not yet valid"))
    if expires < time.time():
        raise Refusal(error(401, 1004, "Authorization has expired"))
    return issuer


def decoded(segment: str) -> bytes:
    """Decodes base64url without padding. Raises ValueError."""
    return base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
