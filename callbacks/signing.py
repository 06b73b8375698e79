"""Signatures of callbacks (pure): one MAC over `<delivery>.<timestamp>.<raw body>`, sent in two families of headers.

One is the interface's own. The other is of Standard Webhooks, whose libraries take `whsec_` + base64 of the key.
"""

import base64
import hashlib
import hmac

REPLAY_WINDOW_SECONDS = 300


def mac(secret: str, *, delivery_id: str, timestamp: str, body: bytes) -> bytes:
    """HMAC-SHA256 with the Task API key as the secret."""
    signed = b".".join((delivery_id.encode(), timestamp.encode(), body))
    return hmac.new(secret.encode(), signed, hashlib.sha256).digest()


def headers(secret: str, *, delivery_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Everything that identifies and signs one attempt. The timestamp is its own, not the first attempt's."""
    stamp = str(timestamp)
    made = mac(secret, delivery_id=delivery_id, timestamp=stamp, body=body)
    return {
        "X-SERVICE-Delivery": delivery_id,
        "X-SERVICE-Timestamp": stamp,
        "X-SERVICE-Signature": f"v1={made.hex()}",
        "webhook-id": delivery_id,
        "webhook-timestamp": stamp,
        "webhook-signature": f"v1,{base64.b64encode(made).decode()}",
    }


def is_genuine(signature: str, made: bytes) -> bool:
    """Whether a signature header of either family is this MAC; compared in constant time.

    A Standard Webhooks header may hold several signatures, separated by spaces.
    """
    spellings = (f"v1={made.hex()}", f"v1,{base64.b64encode(made).decode()}")
    return any(
        hmac.compare_digest(part.encode(), spelling.encode()) for part in signature.split() for spelling in spellings
    )
