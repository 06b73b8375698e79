"""No file has the marks of a merge that was not finished."""

import re
import subprocess

from tools.stack import ROOT

MARKS = re.compile(r"^(<{7} |>{7} |={7}$)", re.MULTILINE)


def test_no_file_has_marks_of_an_unfinished_merge():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    texts = [ROOT / name for name in listed.split("\0") if name.endswith((".md", ".py", ".toml", ".yaml", ".html"))]
    assert texts
    assert [str(path) for path in texts if path.exists() and MARKS.search(path.read_text())] == []
