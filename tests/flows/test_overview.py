"""The programs on the reference's overview, run as they stand there."""

import os
import shutil
import subprocess
import sys

import pytest

from reference import snippets
from reference.views import PROGRAMS
from tools.children import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.once]
RUN_BY = {"curl": "sh", "Python": sys.executable, "JavaScript": "node"}


@pytest.mark.parametrize(("language", "file"), PROGRAMS)
def test_a_program_of_the_overview_makes_a_picture(service, settings, tmp_path, language, file):
    if not shutil.which(RUN_BY[language]):
        pytest.skip(f"{RUN_BY[language]} is not installed")
    settings.PUBLIC_BASE_URL = service.stack.base_url
    program = tmp_path / file.removesuffix(".txt")
    program.write_text(snippets.program(file).replace("dr-task-…", service.key))
    environment = {"PATH": os.environ["PATH"], "TASK_API_KEY": service.key}
    options = {"env": environment, "capture_output": True, "text": True, "timeout": PATIENCE, "check": False}
    ended = subprocess.run([RUN_BY[language], str(program)], **options)
    assert ended.returncode == 0, ended.stderr
    assert "succeeded" in ended.stdout
    assert f"{service.stack.base_url}/assets/" in ended.stdout
