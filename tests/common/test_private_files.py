"""Files and folders for their owner alone."""

import os
import subprocess
import sys
from pathlib import Path

from common import private_files
from config.settings import VAR_DIR
from tests.umask import careless, open_to_others, others_may
from tools.stack import ROOT


def test_folders_and_files_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    with careless():
        private_files.make_folder(tmp_path / "a" / "b")
        private_files.make_folder(tmp_path / "a" / "b")
        with open(tmp_path / "a" / "b" / "c", "xb", opener=private_files.opener) as file:
            file.write(b"c")
    assert open_to_others(tmp_path) == []
    assert (tmp_path / "a" / "b" / "c").read_bytes() == b"c"


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    private_files.make_folder(tmp_path / "a")
    assert others_may(tmp_path)


def test_what_is_there_is_tightened_and_stays_what_it_is_to_its_owner(tmp_path: Path) -> None:
    for name, mode, tight in (("file", 0o664, 0o600), ("script", 0o755, 0o700), ("read-only", 0o444, 0o400)):
        path = tmp_path / name
        path.touch()
        path.chmod(mode)
        private_files.tighten(path)
        assert path.stat().st_mode & 0o777 == tight, name
    private_files.tighten(tmp_path / "nothing")


def test_a_process_makes_and_tightens_its_folders_when_it_starts(tmp_path: Path) -> None:
    database = tmp_path / "new" / "folder" / "darkroom.sqlite3"
    environment = {**os.environ, "DEBUG": "true", "DATABASE_URL": f"sqlite:///{database}"}
    command = [sys.executable, "manage.py", "migrate", "accounts", "0001", "--verbosity", "0"]
    subprocess.run(command, cwd=ROOT, env=environment, umask=0, check=True)
    assert database.exists()
    assert open_to_others(tmp_path) == []
    assert not others_may(VAR_DIR)
