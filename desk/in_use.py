"""Channels and credentials that are needed to follow paid jobs. Neither the admin nor a catalog file removes them."""

from django.db.models import QuerySet

from tasks.models import Call, Task


def channels() -> set[int]:
    """The ids of channels with a running task or a paid job that is still followed."""
    running = Task.objects.filter(status=Task.Status.RUNNING).values_list("channel_id", flat=True)
    followed = _followed().values_list("channel_id", flat=True)
    return {channel for channel in {*running, *followed} if channel is not None}


def credentials() -> set[int]:
    """The ids of credentials that bought a job which is still followed."""
    followed = _followed().values_list("credential_id", flat=True)
    return {credential for credential in followed if credential is not None}


def _followed() -> QuerySet[Call]:
    return Call.objects.filter(state__in=[Call.State.INTENT, Call.State.ACCEPTED, Call.State.LATE])
