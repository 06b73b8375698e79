"""Reading JSON with long strings, however it is cut into chunks."""

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.kit.spool import LONG_BYTES, Base64File, Spool

PICTURE = bytes(range(256)) * 400
ENCODED = base64.b64encode(PICTURE).decode()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def cut(body: bytes, size: int) -> list[bytes]:
    return [body[start : start + size] for start in range(0, len(body), size)]


@given(document=JSON, size=st.integers(1, 40), ascii_only=st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_document_of_short_strings_reads_as_json_does(
    tmp_path: Path, document: Any, size: int, ascii_only: bool
) -> None:
    body = json.dumps(document, ensure_ascii=ascii_only).encode()
    with Spool(tmp_path) as spool:
        assert spool.read(cut(body, size)) == document


@pytest.mark.parametrize(
    "encoded",
    [
        pytest.param(ENCODED, id="plain"),
        pytest.param(ENCODED.replace("/", "\\/"), id="slashes"),
        pytest.param(ENCODED.replace("+", "\\u002b"), id="escapes"),
    ],
)
def test_a_long_string_becomes_a_file(tmp_path: Path, encoded: str) -> None:
    body = f'{{"a": "x\\"y", "b64_json": "{encoded}", "z": 1}}'.encode()
    for size in (1, 7, 1000, 65536, 65537, 10**6):
        with Spool(tmp_path) as spool:
            document = spool.read(cut(body, size))
            path = spool.picture(document["b64_json"])
        assert (document["a"], document["z"]) == ('x"y', 1), size
        assert path is not None, size
        assert path.read_bytes() == PICTURE, size


def test_where_one_folder_takes_no_file_the_next_does(tmp_path: Path) -> None:
    with Spool(tmp_path / "gone", tmp_path) as spool:
        path = spool.picture(spool.read([json.dumps({"b64_json": ENCODED}).encode()])["b64_json"])
    assert path is not None
    assert (path.parent, path.read_bytes()) == (tmp_path, PICTURE)


def test_what_a_full_disk_does_not_take_goes_on_elsewhere(tmp_path: Path) -> None:
    full, other = tmp_path / "full", tmp_path / "other"
    full.mkdir()
    other.mkdir()
    file = Base64File([full, other])
    file.write(ENCODED[:1000].encode())
    reading = os.open(file.path, os.O_RDONLY)
    os.dup2(reading, file._file.fileno())  # every further write is a fault
    os.close(reading)
    file.write(ENCODED[1000:].encode())
    file.close()
    assert (file.path.parent, file.path.read_bytes()) == (other, PICTURE)
    assert list(full.iterdir()) == []


def test_what_no_disk_takes_leaves_nothing(tmp_path: Path) -> None:
    folders = [tmp_path / "full", tmp_path / "other"]
    body = json.dumps([ENCODED, ENCODED]).encode()

    def breaking(spool: Spool) -> Iterator[bytes]:
        yield body[: len(ENCODED) + LONG_BYTES + 100]
        assert spool._file is not None
        folder = os.open(tmp_path, os.O_RDONLY)
        os.dup2(folder, spool._file._file.fileno())  # it can neither be written nor read any more
        os.close(folder)
        yield body[len(ENCODED) + LONG_BYTES + 100 :]

    for count in (1, 2):
        for each in folders:
            each.mkdir(exist_ok=True)
        with pytest.raises(OSError, match=r"folder|directory"), Spool(*folders[:count]) as spool:
            spool.read(breaking(spool))
        assert [list(each.iterdir()) for each in folders] == [[], []], count


def test_a_fault_leaves_no_picture_that_was_handed_out_before(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    (token,) = spool.read([json.dumps([ENCODED]).encode()])
    assert spool.picture(token)
    with pytest.raises(ValueError, match="broken"), spool:
        raise ValueError("broken")
    assert list(tmp_path.iterdir()) == []


def test_line_breaks_and_missing_padding_are_forgiven(tmp_path: Path) -> None:
    lines = base64.encodebytes(PICTURE[:100_000]).decode().replace("=", "")
    with Spool(tmp_path) as spool:
        document = spool.read([json.dumps({"b64_json": lines}).encode()])
        path = spool.picture(document["b64_json"])
    assert path is not None
    assert path.read_bytes() == PICTURE[:100_000]


def test_a_long_string_that_is_no_base64_is_no_picture(tmp_path: Path) -> None:
    with Spool(tmp_path) as spool:
        document = spool.read([json.dumps({"text": "no, this is prose. " * 10_000}).encode()])
        assert spool.picture(document["text"]) is None
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_json_is_none_and_leaves_nothing(tmp_path: Path) -> None:
    for body in [b"", b"{", b'{"a": "' + b"A" * 100_000, b"nonsense", b'"\\', b'{"a": 1}}']:
        with Spool(tmp_path) as spool:
            assert spool.read([body]) is None, body
        assert list(tmp_path.iterdir()) == [], body


def test_an_endless_document_of_short_strings_is_given_up(tmp_path: Path) -> None:
    def endless() -> Any:
        yield b"["
        while True:
            yield (b'"' + b"x" * 500 + b'",') * 100

    with Spool(tmp_path) as spool:
        assert spool.read(endless()) is None


def test_of_many_long_strings_no_file_stays_open(tmp_path: Path) -> None:
    """Those of one answer alone could use up what a process may open."""
    before = os.listdir("/dev/fd")
    with Spool(tmp_path) as spool:
        document = spool.read([json.dumps([ENCODED] * 50).encode()])
        assert len(os.listdir("/dev/fd")) <= len(before) + 5
        assert all(spool.picture(token) for token in document)
