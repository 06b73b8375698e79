"""Authenticates by the key's hash; a separate module, because REST framework loads it before any view."""

import hashlib

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from bench.naive.models import NaiveKey


class KeyAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[NaiveKey, None]:
        secret = request.headers.get("Authorization", "").removeprefix("Bearer ")
        key = (
            NaiveKey.objects.select_related("account")
            .filter(digest=hashlib.sha256(secret.encode()).hexdigest())
            .first()
        )
        if key is None:
            raise AuthenticationFailed()
        return key, None
