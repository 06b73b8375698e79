"""Looks at our pages with a real browser: for the tests of `tests/pages/`, and for `make screenshots`."""
