"""Writes docs/openapi.yaml: the interface's document as one file, identical to /docs/openapi.yaml.

Run by `make docs`; a test keeps the file up to date.
"""

from pathlib import Path

from reference import document

FILE = Path(__file__).resolve().parent.parent / "docs" / "openapi.yaml"

if __name__ == "__main__":
    FILE.write_text(document.as_yaml(), encoding="utf-8")
    print(f"wrote {FILE.name}")
