"""URLs below /docs/, readable without a key."""

from django.urls import path

from reference import views

app_name = "reference"
urlpatterns = [
    path("", views.overview, name="overview"),
    path("openapi.yaml", views.openapi_yaml, name="yaml"),
    path("openapi.json", views.openapi_json, name="json"),
    path("<path:place>", views.section, name="section"),
]
