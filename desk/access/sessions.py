"""Sessions that end a fixed time after the sign-in, however much they are used; Django's own are renewed by each write.

They are Django's rows and cookies. What is added is the moment of the sign-in: `SIGNED_IN_AT`, in seconds since 1970.
"""

import time
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends import db

SIGNED_IN_AT = "signed_in_at"


class SessionStore(db.SessionStore):
    def save(self, must_create: bool = False) -> None:
        """The first save with a user is the sign-in, through whichever door it came."""
        if not must_create and SESSION_KEY in self and SIGNED_IN_AT not in self:
            self[SIGNED_IN_AT] = int(time.time())
            self.set_expiry(datetime.fromtimestamp(self[SIGNED_IN_AT] + settings.SESSION_COOKIE_AGE, UTC))
        super().save(must_create)

    def load(self) -> dict[str, Any]:
        """A sign-in of unknown moment, from before there was this rule, has ended."""
        found: dict[str, Any] = super().load()
        return {} if SESSION_KEY in found and SIGNED_IN_AT not in found else found

    def cycle_key(self) -> None:
        """Django asks for it at every sign-in and at a change of the password, which both begin anew."""
        super().cycle_key()
        self.pop(SIGNED_IN_AT, None)
        self.set_expiry(None)
