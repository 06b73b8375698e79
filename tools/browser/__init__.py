"""Checks our pages in a real browser, for `tests/pages/` and `make screenshots`."""
