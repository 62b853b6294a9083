import os
import stat

import pytest
from small_disk import small_disk

from skliquid.files.atomic_write import atomic_write, remove_leftovers, replace_text


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write_half(path, error):
    with atomic_write(path) as file:
        file.write(b"half of the n")
        raise error


def test_the_new_file_is_there_when_the_block_ends_and_not_before(tmp_path):
    path = tmp_path / "new" / "folder" / "a"
    with atomic_write(path) as file:
        file.write(b"words")
        assert not path.exists()
    assert path.read_bytes() == b"words"
    assert names(path.parent) == ["a"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_block_that_raises_changes_nothing(tmp_path, error):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(error):
        write_half(path, error)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def test_two_writers_at_the_same_time_do_not_mix(tmp_path):
    path = tmp_path / "a"
    with atomic_write(path) as one:
        one.write(b"one, ")
        with atomic_write(path) as other:
            other.write(b"other")
        one.write(b"whole")
        assert path.read_bytes() == b"other"
    assert path.read_bytes() == b"one, whole"
    assert names(tmp_path) == ["a"]


def test_a_writer_that_fails_leaves_the_file_of_another_writer(tmp_path):
    path = tmp_path / "a"
    with atomic_write(path) as one:
        with pytest.raises(ValueError, match="no"), atomic_write(path):
            raise ValueError("no")
        one.write(b"one")
    assert path.read_bytes() == b"one"


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_the_mode_is_that_of_any_new_file(tmp_path, mask):
    before = os.umask(mask)
    try:
        with atomic_write(tmp_path / "a"):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o666 & ~mask


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "a").write_bytes(b"a file")
    with (
        pytest.raises(OSError, match=r"b cannot be written \(File exists\)\.$"),
        atomic_write(tmp_path / "a" / "b"),
    ):
        pass
    (tmp_path / "folder").mkdir()
    with (
        pytest.raises(OSError, match=r"folder cannot be written \(it is not a regular file\)\.$"),
        atomic_write(tmp_path / "folder"),
    ):
        pass
    assert names(tmp_path) == ["a", "folder"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_device_or_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=r"pipe cannot be written \(it is not a regular file\)\.$"):
        replace_text(tmp_path / "pipe", "words")
    assert (tmp_path / "pipe").is_fifo()


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with (
        small_disk(10_000),
        pytest.raises(OSError, match=r"a cannot be written \(File too large\)\.$"),
    ):
        replace_text(path, "new" * 10_000)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def test_leftovers_are_those_of_one_file(tmp_path):
    kept = ["a", ".ab.0123.part", ".a.part.csv", "a.0123.part"]
    for name in [*kept, ".a.0123.part", ".a.4567.part"]:
        (tmp_path / name).touch()
    remove_leftovers(tmp_path / "a")
    assert names(tmp_path) == sorted(kept)
