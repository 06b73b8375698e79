"""What went wrong on the way to another server, in words for everyone. The raw error is for the operator alone."""

import ssl
from http.client import IncompleteRead

HOST_NAMES = (62, 64)  # OpenSSL: hostname mismatch, IP address mismatch
EXPIRED = 10


def of_fault(cause: BaseException, *, is_late: bool, was_sent: bool) -> str:
    """Words for the innermost error of an exchange. `was_sent`: the request may have reached the other side."""
    if is_late:
        return "the answer took too long" if was_sent else "the connection took too long"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return _of_certificate(cause)
    if isinstance(cause, ssl.SSLError):
        return "the TLS connection failed"
    if isinstance(cause, ConnectionRefusedError):
        return "the connection was refused"
    if isinstance(cause, ConnectionError | IncompleteRead):
        return "the connection broke off"
    if isinstance(cause, OSError) and cause.errno:
        return "the connection broke off" if was_sent else "the host cannot be reached"
    return "the answer is malformed" if was_sent else "the request could not be sent"


def _of_certificate(cause: ssl.SSLCertVerificationError) -> str:
    if cause.verify_code in HOST_NAMES:
        return "the certificate is not valid for this host"
    return "the certificate has expired" if cause.verify_code == EXPIRED else "the certificate is not trusted"
