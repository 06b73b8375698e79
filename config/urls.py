"""Paths of the WSGI side; the front in `front/application.py` serves assets, waits, health and metrics itself."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

urlpatterns = [
    path("", include("tasks_api.urls")),  # first: most requests are theirs
    path("", RedirectView.as_view(url="/console/")),
    path("admin/", admin.site.urls),
    path("console", RedirectView.as_view(url="/console/")),
    path("console/", include("console.urls")),
    path("docs", RedirectView.as_view(url="/docs/")),
    path("docs/", include("reference.urls")),
]
handler400 = "front.error_responses.bad_request"
handler404 = "front.error_responses.not_found"
handler500 = "front.error_responses.server_error"
