"""What tests and the views of `tests/front/urls.py` agree on."""

LARGE = 32 * 1024 * 1024
