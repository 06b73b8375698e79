"""Forms as SDKs send them."""


def form(*parts: tuple[str, str | bytes], boundary: str = "a-boundary") -> tuple[bytes, str]:
    """Body and Content-Type; bytes are files, named as a client without a name for them does."""
    raw = b"".join(f"--{boundary}\r\n".encode() + _part(name, given) + b"\r\n" for name, given in parts)
    return raw + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def _part(name: str, given: str | bytes) -> bytes:
    head = f'Content-Disposition: form-data; name="{name}"'
    if isinstance(given, str):
        return f"{head}\r\n\r\n{given}".encode()
    return f'{head}; filename="upload"\r\nContent-Type: application/octet-stream\r\n\r\n'.encode() + given
