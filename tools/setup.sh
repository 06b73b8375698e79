#!/bin/sh
# Makes .venv where it is missing, with the Python that the first argument names, and installs the packages of a lock
# file, the second argument, into it; then touches the stamp, the third. Says what to do where that Python cannot: too
# old, or without the modules that make environments.
set -eu

python=${1:-python3}
lock=${2:-requirements-dev.lock}
venv=${VENV:-.venv}
stamp=${3:-$venv/.installed}
cd "$(dirname "$0")/.."

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

command -v "$python" >/dev/null 2>&1 ||
    fail "There is no $python here. Install Python 3.11 or newer, or name one: make setup PYTHON=/path/to/python3"

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$python is $("$python" --version 2>&1), but Darkroom needs Python 3.11 or newer." \
        "Where a newer one is installed under another name: make setup PYTHON=python3.13"

"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "$python cannot make virtual environments: its module venv or ensurepip is missing." \
        "Debian, Ubuntu: apt install python3-venv    Fedora: dnf install python3    then run make setup again."

if ! "$venv/bin/python" -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "Making $venv with $("$python" --version)"
    "$python" -m venv --clear "$venv"
fi

install() {
    # uv takes a sixth of pip's time. It does not read pip's configuration, so pip has the last word.
    if command -v uv >/dev/null 2>&1; then
        uv pip install --quiet --python "$venv/bin/python" --require-hashes -r "$lock" && return
        echo "uv could not; trying pip"
    fi
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"
}

echo "Installing the $(grep -c '==' "$lock") packages of $lock into $venv"
install
touch "$stamp"
