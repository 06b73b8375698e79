"""Whatever is sent to /v1/videos: an answer in OpenAI's shape, and never a fault of ours."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tasks_api.openai.forms import form
from tests.tasks_api.test_fuzz import JSON, escaped
from tests.tasks_api.videos.asking import refusal
from tests.tasks_api.videos.test_video_submission import ASKED, create

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folder", "video_model")]
FUZZ = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
NAMES = st.sampled_from([*ASKED, "input_reference", "input_reference[image_url]", "input_reference[", "seed", "a.b"])
TEXTS = st.sampled_from(["4", "1280x720", "9" * 400, "1e5", "0x0", "99999x1", "true", "\ufeff", "💥", "params.x"])
CONTENTS = st.binary(max_size=20) | st.sampled_from([b"\x89PNG\r\n\x1a\n", b"GIF89a"])


def answered(response):
    assert response.status_code in {200, 400, 404, 405, 415, 429}, response.content[:500]
    if response.status_code >= 400:
        refusal(response)


@FUZZ
@given(st.dictionaries(NAMES, JSON | TEXTS, max_size=4))
def test_any_json_has_an_answer(api, fields):
    answered(create(api, {**ASKED, **fields}))


@FUZZ
@given(st.dictionaries(NAMES, TEXTS | CONTENTS, max_size=4))
def test_any_form_has_an_answer(api, parts):
    raw, content_type = form(*{**ASKED, **parts}.items())
    answered(api.send("POST", "/v1/videos", raw, content_type=content_type))


@FUZZ
@given(st.text(max_size=30), st.sampled_from(["GET", "DELETE", "POST"]))
def test_any_path_and_query_has_an_answer(api, text, method):
    answered(api.send(method, f"/v1/videos/{escaped(text)}"))
    answered(api.send(method, f"/v1/videos?after={escaped(text)}&{escaped(text)}"))
