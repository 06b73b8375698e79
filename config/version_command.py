"""`manage.py version [--json]`: the version of this code and the migrations of its database.

Django has a command of this name, which tells the version of Django; `manage.py` therefore asks here first. The version
is told also where settings are missing or the database is away. Then `applied` and `pending` are null, and stderr says
why.
"""

import logging
import sys
from collections.abc import Sequence

import django
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError

from common import money
from common.database import schema
from common.version import version

USAGE = "usage: manage.py version [--json]"


def main(arguments: Sequence[str]) -> int:
    """The exit status."""
    if unknown := [argument for argument in arguments if argument != "--json"]:
        print(f"CommandError: {unknown[0][:80]!r} is no argument; {USAGE}", file=sys.stderr)  # noqa: T201
        return 1
    found, said = read()
    applied, pending = (list(found.applied), list(found.pending)) if found else (None, None)
    answer = {"version": version(), "database": {"applied": applied, "pending": pending}}
    print(money.dumps(answer) if "--json" in arguments else "\n".join(lines(found)))  # noqa: T201
    if said:
        print(said, file=sys.stderr)  # noqa: T201
    return 0


def read() -> tuple[schema.Schema | None, str]:
    """The schema of the database, None where it cannot be read; and what is wrong with it in one line."""
    try:
        django.setup()
        logging.disable(logging.WARNING)  # the pool's, of each try to connect
        found = schema.read()
    except (ImproperlyConfigured, OSError) as error:
        return None, f"settings: {error}"
    except DatabaseError as error:
        return None, f"database: {str(error).splitlines()[0]}"
    return found, found.mismatch()


def lines(found: schema.Schema | None) -> list[str]:
    if found is None:
        return [f"version: {version()}", "applied: -", "pending: -"]
    pending = ", ".join(found.pending) or "none"
    return [f"version: {version()}", f"applied: {len(found.applied)}", f"pending: {pending}"]
