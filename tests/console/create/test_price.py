"""The price before sending: what the API quotes for the same body, and the samples of programs that send it."""

import ast
import json
import re
import shlex
import subprocess
import sys

import pytest
from django.conf import settings

from billing.models import Hold
from console.create import snippets
from tasks import switches
from tasks.models import Task
from tests.console.create.forms import IMAGE, VIDEO
from tests.console.create.test_run import png
from tests.rows import make_account, make_key

URL = f"{settings.PUBLIC_BASE_URL}/v1/tasks"
HOSTILE = {
    "model": "aurora",
    "modality": "image",
    "params": {
        "prompt": 'it\'s $HOME `id` "quoted" \\ back\nline </script> \u2028 \u202e ü 🦊 {url} %s',
        "extra_body": {"__proto__": 1, "a b": [True, False, None, 1.5, -3, [], {}], '"__proto__":': "\\"},
    },
}


def quoted(visitor, form, model="aurora-image"):
    answer = visitor.post(f"/console/quote/{model}/", form, headers={"Accept": "application/json"})
    assert answer.status_code == 200, answer.content
    return answer.json()


def body_of_curl(text: str) -> dict:
    words = shlex.split(text)
    assert words[:2] == ["curl", URL]
    return json.loads(words[words.index("-d") + 1])


def body_of_python(text: str) -> dict:
    """What the program would hand to `requests.post`."""
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    (post,) = (call for call in calls if ast.unparse(call.func) == "requests.post")
    assert ast.literal_eval(post.args[0]) == URL
    return ast.literal_eval(next(each.value for each in post.keywords if each.arg == "json"))


def body_of_javascript(text: str) -> dict:
    literal = text[text.index("JSON.stringify(") + len("JSON.stringify(") : text.rindex("),\n});")]
    return json.loads(literal.replace('["__proto__"]:', '"__proto__":'))


READERS = {"curl": body_of_curl, "python": body_of_python, "javascript": body_of_javascript}


@pytest.mark.parametrize(("model", "form"), [("aurora-image", IMAGE), ("comet-video", VIDEO)])
def test_the_price_is_the_apis_for_the_same_body(visitor, api, image_model, video_model, model, form):
    found = quoted(visitor, form, model)
    body = body_of_curl(found["samples"]["curl"])
    quote = api.quote(body).json()
    assert float(found["cost"].removeprefix("$")) == quote["estimated_cost"]
    assert float(found["balance_after"].removeprefix("$")) == quote["balance_after"]
    assert (found["affordable"], found["plan"], found["error"]) == (True, "standard", None)
    assert (Task.objects.count(), Hold.objects.count()) == (0, 0)


def test_what_is_too_dear_is_quoted_all_the_same(sign_in, image_model):
    poor = make_key(make_account("poor", usd="0.01"))
    found = quoted(sign_in(poor), IMAGE)
    assert (found["cost"], found["affordable"], found["balance_after"]) == ("$0.16", False, "-$0.15")


def test_a_price_needs_no_prompt_and_no_open_service(visitor, image_model):
    switches.pause()
    assert quoted(visitor, {**IMAGE, "params.prompt": ""})["cost"] == "$0.16"


def test_a_refusal_names_the_field_of_the_form(visitor, image_model):
    found = quoted(visitor, {**IMAGE, "params.n": "many"})
    assert found["error"] == {"field": "params.n", "message": "How many must be an integer from 1 to 4."}
    assert (found["cost"], found["affordable"]) == ("", False)
    assert body_of_curl(found["samples"]["curl"])["params"]["n"] == "many"


def test_what_cannot_be_a_body_has_no_samples(visitor, image_model):
    found = quoted(visitor, {**IMAGE, "metadata": "{"})
    assert (found["error"]["field"], found["samples"]) == ("metadata", None)


def test_samples_hold_no_bytes_of_files(visitor, image_model):
    found = quoted(visitor, {**IMAGE, "params.images.file": png()})
    (image,) = body_of_python(found["samples"]["python"])["params"]["images"]
    assert image == {"image_url": "data:image/png;base64,THE-BYTES-OF-YOUR-FILE"}
    assert found["error"] is None


def test_a_key_that_is_gone_gets_no_price(visitor, key, image_model):
    key.record.secrets.all().delete()
    answer = visitor.post("/console/quote/aurora-image/", IMAGE, headers={"Accept": "application/json"})
    assert answer.status_code == 401


@pytest.mark.parametrize("language", READERS)
def test_a_sample_says_the_document_and_nothing_else(language):
    text = snippets.write(HOSTILE, base_url=settings.PUBLIC_BASE_URL)[language]
    assert READERS[language](text) == HOSTILE


def test_a_shell_hands_curl_the_document_unchanged():
    text = snippets.write(HOSTILE, base_url=settings.PUBLIC_BASE_URL)["curl"]
    script = f'curl() {{ {shlex.quote(sys.executable)} -c "import sys; print(sys.argv[-1])" "$@"; }}\n{text}'
    told = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True, encoding="utf-8").stdout
    assert json.loads(told) == HOSTILE


def test_a_sample_is_taken_by_the_api(visitor, api, image_model):
    body = body_of_python(quoted(visitor, IMAGE)["samples"]["python"])
    assert api.submit(body).status_code == 202


def test_a_proto_is_a_key_like_others_in_javascript():
    text = snippets.write(HOSTILE, base_url=settings.PUBLIC_BASE_URL)["javascript"]
    assert re.search(r'\["__proto__"\]: 1', text)
    assert '"\\"__proto__\\":"' in text
