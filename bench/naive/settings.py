"""Settings of a small project: persistent connections, no middleware."""

import os

import environ

SECRET_KEY = "the naive reference of the benchmark has no secrets"
DEBUG = False
ALLOWED_HOSTS = ["*"]
INSTALLED_APPS = ["rest_framework", "bench.naive"]
MIDDLEWARE: list[str] = []
ROOT_URLCONF = "bench.naive.urls"
DATABASES = {"default": environ.Env().db_url_config(os.environ["NAIVE_DATABASE_URL"])}
DATABASES["default"]["CONN_MAX_AGE"] = None
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["bench.naive.authentication.KeyAuthentication"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "UNAUTHENTICATED_USER": None,
}
