"""Writes docs/openapi.yaml: the document of the interface as one file, as /docs/openapi.yaml serves it.

Run by `make docs`; a test keeps the file as it would be written.
"""

from pathlib import Path

from reference import document

FILE = Path(__file__).resolve().parent.parent / "docs" / "openapi.yaml"

if __name__ == "__main__":
    FILE.write_text(document.as_yaml(), encoding="utf-8")
    print(f"wrote {FILE.name}")
