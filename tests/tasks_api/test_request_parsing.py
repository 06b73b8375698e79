"""Bodies that are no strict JSON object: 400 or 415 in the documented shape, and never a traceback."""

import gzip
import json
import logging

from tests.tasks_api.asking import error_of, image_task, refused

GOOD = json.dumps(image_task()).encode()
BAD = {
    "empty": (b"", "body"),
    "blank": (b" \n\t ", "body"),
    "null": (b"null", "body"),
    "array": (b"[]", "body"),
    "array-of-tasks": (b"[" + GOOD + b"]", "body"),
    "text": (b'"task"', "body"),
    "number": (b"1", "body"),
    "truncated": (GOOD[:-1], "body"),
    "trailing": (GOOD + b"{}", "body"),
    "byte-order-mark": (b"\xef\xbb\xbf" + GOOD, "byte order mark"),
    "invalid-utf-8": (GOOD.replace(b"fox", b"f\xffx"), "UTF-8"),
    "latin-1": (GOOD.replace(b"fox", "füchse".encode("latin-1")), "UTF-8"),
    "utf-16": (GOOD.decode().encode("utf-16"), "body"),
    "gzip-without-saying-so": (gzip.compress(GOOD), "body"),
    "duplicate-key": (b'{"model":"a",' + GOOD[1:], "model"),
    "duplicate-key-inside": (GOOD.replace(b'"prompt"', b'"prompt":"x","prompt"'), "params.prompt"),
    "deep-arrays": (b"[" * 100_000, "levels deep"),
    "deep-objects": (b'{"a":' * 2_000 + b"1" + b"}" * 2_000, "levels deep"),
    "65-levels": (b'{"params":' + b"[" * 64 + b"]" * 64 + b"}", "levels deep"),
    "nul": (GOOD.replace(b"fox", b"f\\u0000x"), "params.prompt"),
    "nul-in-a-key": (GOOD.replace(b'"prompt"', b'"pro\\u0000mpt":1,"prompt"'), "NUL"),
    "raw-nul": (GOOD.replace(b"fox", b"f\x00x"), "JSON"),
    "lone-surrogate": (GOOD.replace(b"fox", b"\\ud800"), "params.prompt"),
    "reversed-surrogates": (GOOD.replace(b"fox", b"\\udc00\\ud800"), "params.prompt"),
    "surrogate-in-a-key": (GOOD.replace(b'"prompt"', b'"\\udfff":1,"prompt"'), "surrogate"),
    "infinite": (GOOD.replace(b'"a fox"', b'"a fox","n":1e999'), "params.n"),
    "minus-infinite": (GOOD.replace(b'"a fox"', b'"a fox","n":-1e999'), "params.n"),
    "nan": (GOOD.replace(b'"a fox"', b'"a fox","n":NaN'), "params.n"),
    "infinity": (GOOD.replace(b'"a fox"', b'"a fox","n":Infinity'), "params.n"),
    "beyond-64-bit": (GOOD.replace(b'"a fox"', b'"a fox","n":9223372036854775808'), "params.n"),
    "5000-digits": (GOOD.replace(b'"a fox"', b'"a fox","n":' + b"9" * 5_000), "params.n"),
    "too-many-values": (b'{"params":[' + b"0," * 100_001 + b"0]}", "values"),
    "single-quotes": (b"{'model': 'a'}", "JSON"),
    "comment": (b"/* */" + GOOD, "JSON"),
    "control-character": (GOOD.replace(b"fox", b"f\nx"), "JSON"),
}


def test_a_bad_body_is_a_400_that_names_the_cause(api, image_model, caplog):
    caplog.set_level(logging.ERROR)
    for name, (body, cause) in BAD.items():
        response = api.submit(body)
        assert refused(response) == (400, "TASK_INVALID_REQUEST"), name
        assert cause in error_of(response)["message"], name
        assert not [record for record in caplog.records if record.exc_info], name


def test_a_quote_reads_its_body_in_the_same_way(api, image_model):
    response = api.quote(BAD["duplicate-key-inside"][0])
    assert refused(response) == (400, "TASK_INVALID_REQUEST")
    assert "params.prompt" in error_of(response)["message"]


def test_64_levels_are_read(api, image_model):
    deep: list = []
    for _ in range(60):
        deep = [deep]
    assert api.submit(image_task(extra_body={"style": deep})).status_code == 202


OTHER_TYPES = [
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "multipart/form-data",
    "text/plain",
    "text/json",
    "application/vnd.api+json",
    "application/json-seq",
    "application/*",
    "*/*",
    "application/json, text/plain",
    "application/json; charset=utf-16",
    'application/json; charset="utf-16"',
    "application/json; charset=latin-1",
    "application/json; charset=unheard-of",
    "application/json; charset=",
    "application/json;charset=utf-8;charset=utf-16",
    "",
    ";",
    "json",
    "a" * 9_000,
]


def test_only_json_in_utf_8_is_taken(api, image_model):
    for content_type in OTHER_TYPES:
        response = api.submit(GOOD, content_type=content_type)
        assert refused(response) == (415, "TASK_UNSUPPORTED_MEDIA_TYPE"), content_type[:60]


def test_json_may_say_that_it_is_utf_8(api, image_model):
    for parameters in ("", ";charset=utf-8", '; charset="UTF-8"', "; version=1", ";"):
        assert api.submit(GOOD, content_type=f"application/json{parameters}").status_code == 202, parameters
    assert api.submit(GOOD, content_type="Application/JSON").status_code == 202


def test_a_content_encoding_is_refused(api, image_model):
    for encoding in ("gzip", "deflate", "br", "identity, gzip", "x-unheard-of"):
        response = api.submit(gzip.compress(GOOD), Content_Encoding=encoding)
        assert refused(response) == (415, "TASK_UNSUPPORTED_MEDIA_TYPE"), encoding


def test_the_identity_encoding_is_no_encoding(api, image_model):
    assert api.submit(GOOD, Content_Encoding="identity").status_code == 202


def test_no_body_is_needed_where_none_is_read(api, image_model):
    task_id = api.submitted()
    assert api.send("POST", f"/v1/tasks/{task_id}/cancel", b"\xff{", content_type="text/plain").status_code == 200
    assert api.send("GET", f"/v1/tasks/{task_id}", b"\xff{").status_code == 200
