"""What an operator switches for all callers: pauses submissions, switches the Task API off.

`accounts/authentication.py` reads it.
"""

from tasks.models import ServiceState


def pause(*, message: str = "", retry_after_seconds: int = 60) -> ServiceState:
    """Refuse submissions; reads, streams, cancel and downloads go on. Clients are shown the message, or a default."""
    return _switch(paused=True, message=message, retry_after_seconds=retry_after_seconds)


def resume() -> ServiceState:
    return _switch(paused=False, message="")


def disable_api() -> ServiceState:
    """Refuse every `/v1/tasks*` path."""
    return _switch(api_disabled=True)


def enable_api() -> ServiceState:
    return _switch(api_disabled=False)


def _switch(**fields: object) -> ServiceState:
    return ServiceState.objects.update_or_create(id=1, defaults=fields)[0]
