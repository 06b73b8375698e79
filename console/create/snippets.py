"""Request as code: curl, Python and JavaScript."""

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any

from console.create import document
from tasks.request.values import UnstoredFile

CURL = """curl {url} \\
  -H "Authorization: Bearer $DARKROOM_KEY" \\
  -H "Content-Type: application/json" \\
  -d {body}
"""
PYTHON = """import os

import requests

answer = requests.post(
    {url},
    headers={{"Authorization": f"Bearer {{os.environ['DARKROOM_KEY']}}"}},
    json={body},
    timeout=60,
)
answer.raise_for_status()
print(answer.json()["id"])
"""
JAVASCRIPT = """const answer = await fetch({url}, {{
  method: "POST",
  headers: {{
    "Authorization": `Bearer ${{process.env.DARKROOM_KEY}}`,
    "Content-Type": "application/json",
  }},
  body: JSON.stringify({body}),
}});
if (!answer.ok) throw new Error(await answer.text());
console.log((await answer.json()).id);
"""
PROTO = re.compile(r'(?<!\\)"__proto__":')  # in a literal it would set the prototype


def shown(body: dict[str, Any]) -> dict[str, Any]:
    """Replace each file's bytes in the document by a text."""
    return dict(document.with_files_as(body, _stand_in(body["modality"])))


def _stand_in(modality: str) -> Any:
    def told(file: UnstoredFile) -> str:
        if modality == "image":
            return f"data:{file.content_type};base64,THE-BYTES-OF-YOUR-FILE"
        return f"https://files.example.com/your-picture.{file.content_type.removeprefix('image/')}"

    return told


def write(body: dict[str, Any], *, base_url: str) -> Mapping[str, str]:
    """Write the snippets by name; they read the key from the environment."""
    plain, url = shown(body), f"{base_url}/v1/tasks"
    text = json.dumps(plain, indent=2, ensure_ascii=False).replace("\n", "\n  ")
    script = PROTO.sub('["__proto__"]:', text)
    return {
        "curl": CURL.format(url=shlex.quote(url), body=shlex.quote(text)),
        "python": PYTHON.format(url=json.dumps(url), body=_python(plain, "    ")),
        "javascript": JAVASCRIPT.format(url=json.dumps(url), body=script),
    }


def _python(value: Any, indent: str) -> str:
    """Write a Python literal; texts are written as in JSON, which Python reads the same way."""
    deeper = f"{indent}    "
    if isinstance(value, dict) and value:
        rows = [f"{deeper}{_python(name, '')}: {_python(item, deeper)},\n" for name, item in value.items()]
        return "{\n" + "".join(rows) + indent + "}"
    if isinstance(value, list) and value:
        return "[\n" + "".join(f"{deeper}{_python(item, deeper)},\n" for item in value) + indent + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
