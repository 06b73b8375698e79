"""Submissions over HTTP, and GET of a task."""

from bench.model import Row

ROWS: list[Row] = []
