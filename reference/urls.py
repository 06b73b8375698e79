"""Below /docs/, for everybody: no key is needed to read."""

from django.urls import path

from reference import views

app_name = "reference"
urlpatterns = [
    path("openapi.yaml", views.openapi_yaml, name="yaml"),
    path("openapi.json", views.openapi_json, name="json"),
]
