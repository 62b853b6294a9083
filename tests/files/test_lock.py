import errno
import os
import re
import subprocess
import sys

import pytest

from skliquid.files.lock import file_lock

HOLDER = """
import sys
from pathlib import Path
from skliquid.files.lock import file_lock
with file_lock(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def holder(path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "locked\n"
    return process


def enter(path):
    with file_lock(path):
        pass


def test_the_lock_file_says_who_holds_it_and_is_gone_afterwards(tmp_path):
    with file_lock(tmp_path / "a"):
        words = (tmp_path / "a.lock").read_text()
    assert re.fullmatch(rf"process {os.getpid()} on \S+, started \d{{4}}-\d\d-\d\d .*,", words)
    assert not list(tmp_path.iterdir())


def test_another_process_is_named_and_its_lock_left_alone(tmp_path):
    with holder(tmp_path / "a") as process:
        for _ in range(2):
            with pytest.raises(BlockingIOError, match=rf"a: process {process.pid} on .* has not"):
                enter(tmp_path / "a")
        enter(tmp_path / "b")
        process.communicate("")
    enter(tmp_path / "a")


def test_a_process_that_is_killed_leaves_no_lock(tmp_path):
    with holder(tmp_path / "a") as process:
        process.kill()
        process.wait()
    assert (tmp_path / "a.lock").exists()
    enter(tmp_path / "a")
    assert not list(tmp_path.iterdir())


def test_a_lock_that_is_removed_between_opening_and_locking_is_not_taken(tmp_path, monkeypatch):
    from skliquid.files import lock

    calls, take = [], lock._lock

    def removed_meanwhile(descriptor):
        calls.append(descriptor)
        if len(calls) == 1:
            (tmp_path / "a.lock").unlink()
        take(descriptor)

    monkeypatch.setattr(lock, "_lock", removed_meanwhile)
    with file_lock(tmp_path / "a"), pytest.raises(BlockingIOError):
        enter(tmp_path / "a")
    assert len(calls) == 3


def test_where_files_cannot_be_locked_a_warning_says_so(tmp_path, monkeypatch):
    def no_locks(_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("skliquid.files.lock._lock", no_locks)
    with pytest.warns(UserWarning, match=r"a.lock cannot be locked here \(No locks available\)"):
        enter(tmp_path / "a")


def test_the_file_of_another_program_is_not_printed_as_it_is(tmp_path):
    with file_lock(tmp_path / "a"):
        (tmp_path / "a.lock").write_bytes(b"\x1b[31m" + b"x" * 10_000 + b"\xff")
        with pytest.raises(BlockingIOError) as caught:
            enter(tmp_path / "a")
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links are followed here")
def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path):
    (tmp_path / "precious").write_text("words")
    (tmp_path / "a.lock").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match=r"a.lock cannot be written \("):
        enter(tmp_path / "a")
    assert (tmp_path / "precious").read_text() == "words"
