"""Paths of the WSGI side; the front in `config/asgi.py` serves assets, waits, health and metrics itself."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("tasks_api.urls")),
]
handler400 = "common.handler.bad_request"
handler404 = "common.handler.not_found"
handler500 = "common.handler.server_error"
