"""Session store whose sessions end a fixed time after the sign-in; Django renews its own at each write.

Rows and cookies are Django's; `SIGNED_IN_AT` adds the time of the sign-in in seconds since 1970.
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
        """Record the sign-in at the first save with a user."""
        if not must_create and SESSION_KEY in self and SIGNED_IN_AT not in self:
            self[SIGNED_IN_AT] = int(time.time())
            self.set_expiry(datetime.fromtimestamp(self[SIGNED_IN_AT] + settings.SESSION_COOKIE_AGE, UTC))
        super().save(must_create)

    def load(self) -> dict[str, Any]:
        """Load the session; one without a sign-in time has ended."""
        found: dict[str, Any] = super().load()
        return {} if SESSION_KEY in found and SIGNED_IN_AT not in found else found

    def cycle_key(self) -> None:
        """Restart the session's lifetime: Django calls this at sign-in and at a password change."""
        super().cycle_key()
        self.pop(SIGNED_IN_AT, None)
        self.set_expiry(None)
