"""Below /docs/, for everybody: no key is needed to read."""

from django.urls import path

from reference import views

app_name = "reference"
urlpatterns = [
    path("docs", views.without_slash),
    path("docs/", views.overview, name="overview"),
    path("docs/openapi.yaml", views.openapi_yaml, name="yaml"),
    path("docs/openapi.json", views.openapi_json, name="json"),
    path("docs/<path:place>", views.section, name="section"),
]
