"""What `settings` adds: no attempt to deliver a callback is given up or claimed again because it is slow."""

from dataclasses import replace
from importlib import import_module

from django.apps import AppConfig


class Patience(AppConfig):
    name = "tests.flows"

    def ready(self) -> None:
        given = import_module("callbacks.sender").deliver.__kwdefaults__
        given["limits"] = replace(given["limits"], connect_seconds=3600.0, total_seconds=3600.0)
        import_module("callbacks.claims").LEASE_SECONDS = 7200
