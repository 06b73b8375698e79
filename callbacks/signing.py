"""Signatures of callbacks (pure): one MAC over `<delivery>.<timestamp>.<raw body>`, sent in two families of headers.

One is the interface's own. The other is of Standard Webhooks, whose libraries take `whsec_` + base64 of the key.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

REPLAY_WINDOW_SECONDS = 300


def mac(secret: str, *, delivery_id: str, timestamp: str, body: bytes) -> bytes:
    """HMAC-SHA256 with the Task API key as the secret."""
    signed = b".".join((delivery_id.encode(), timestamp.encode(), body))
    return hmac.new(secret.encode(), signed, hashlib.sha256).digest()


@dataclass(frozen=True, slots=True)
class SignedAttempt:
    """What the headers of one attempt are made of. The timestamp is its own, not the first attempt's."""

    delivery: str
    timestamp: str
    mac: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackHeader:
    """One header of a callback: what is sent, and what the reference says of it (`schema` is JSON Schema)."""

    name: str
    part: Literal["delivery", "timestamp", "signature"]
    meaning: str
    schema: Mapping[str, Any]
    example: object
    value: Callable[[SignedAttempt], str]


DELIVERY = {"$ref": "#/components/schemas/DeliveryId"}
MOMENT = {"type": "integer", "minimum": 1}
HEADERS = (
    CallbackHeader(
        name="X-SERVICE-Delivery",
        part="delivery",
        meaning="The delivery, the same on every attempt, equal to `id`.",
        schema=DELIVERY,
        example="task_01k5q8z3v7h2m4n6p8r0s2t4w6.1",
        value=lambda attempt: attempt.delivery,
    ),
    CallbackHeader(
        name="X-SERVICE-Timestamp",
        part="timestamp",
        meaning="Unix time of this attempt, equal to `created_at`.",
        schema=MOMENT,
        example=1795255446,
        value=lambda attempt: attempt.timestamp,
    ),
    CallbackHeader(
        name="X-SERVICE-Signature",
        part="signature",
        meaning="`v1=` and the signature in hexadecimal.",
        schema={"type": "string", "pattern": "^v1=[0-9a-f]{64}$"},
        example="v1=9b2c5f8c1d7e0a3b6c4d9f2e8a1b7c5d3e6f0a9b8c7d6e5f4a3b2c1d0e9f8a7b",
        value=lambda attempt: f"v1={attempt.mac.hex()}",
    ),
    CallbackHeader(
        name="webhook-id",
        part="delivery",
        meaning="As `X-SERVICE-Delivery`.",
        schema=DELIVERY,
        example="task_01k5q8z3v7h2m4n6p8r0s2t4w6.1",
        value=lambda attempt: attempt.delivery,
    ),
    CallbackHeader(
        name="webhook-timestamp",
        part="timestamp",
        meaning="As `X-SERVICE-Timestamp`.",
        schema=MOMENT,
        example=1795255446,
        value=lambda attempt: attempt.timestamp,
    ),
    CallbackHeader(
        name="webhook-signature",
        part="signature",
        meaning="`v1,` and the same signature in base64.",
        schema={"type": "string", "pattern": "^v1,[A-Za-z0-9+/]{43}=$"},
        example="v1,X4xyX4xyX4xyX4xyX4xyX4xyX4xyX4xyX4xyX4xyX4w=",
        value=lambda attempt: f"v1,{base64.b64encode(attempt.mac).decode()}",
    ),
)


def headers(secret: str, *, delivery_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Everything that identifies and signs one attempt."""
    stamp = str(timestamp)
    made = mac(secret, delivery_id=delivery_id, timestamp=stamp, body=body)
    attempt = SignedAttempt(delivery_id, stamp, made)
    return {header.name: header.value(attempt) for header in HEADERS}


def named(part: str) -> str:
    """The headers that carry a part, for texts: `X-SERVICE-Delivery or webhook-id`."""
    return " or ".join(header.name for header in HEADERS if header.part == part)


def is_genuine(signature: str, made: bytes) -> bool:
    """Whether a signature header of either family is this MAC; compared in constant time.

    A Standard Webhooks header may hold several signatures, separated by spaces.
    """
    attempt = SignedAttempt("", "", made)
    spellings = [header.value(attempt) for header in HEADERS if header.part == "signature"]
    return any(
        hmac.compare_digest(part.encode(), spelling.encode()) for part in signature.split() for spelling in spellings
    )
