import pickle
import sys
from pathlib import Path
from types import ModuleType

import pytest

from skliquid.streams.whole_file import read_whole, write_whole


class Unwritable:
    def __reduce__(self):
        raise pickle.PicklingError("power cut")


def read(path, expected=list):
    return read_whole(path, expected, parameter="checkpoint")


def test_an_object_comes_back(tmp_path):
    write_whole(tmp_path / "deep" / "a", ["words"])
    assert read(tmp_path / "deep" / "a") == ["words"]


def test_a_write_that_breaks_off_leaves_what_was_there(tmp_path):
    write_whole(tmp_path / "a", ["words"])
    with pytest.raises(ValueError, match=r"must be picklable: power cut. Define your functions"):
        write_whole(tmp_path / "a", [[0] * 100_000, Unwritable()])
    assert read(tmp_path / "a") == ["words"]
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("content", [b"", b"not a pickle", pickle.dumps("words")[:-3]])
def test_files_of_other_programs_are_refused(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(ValueError, match=r"checkpoint must be .* was not written by skliquid"):
        read(tmp_path / "a")


def test_a_file_of_another_version_is_refused(tmp_path):
    path = tmp_path / "a"
    write_whole(path, [])
    path.write_bytes(path.read_bytes().replace(b"skliquid 6", b"skliquid 5", 1))
    with pytest.raises(ValueError, match=r"a is of another version. Train again, or use"):
        read(path)


def test_a_single_flipped_bit_is_noticed(tmp_path):
    path = tmp_path / "a"
    write_whole(path, ["words"])
    content = path.read_bytes()
    for position in range(len(content)):
        flipped = bytearray(content)
        flipped[position] ^= 16
        path.write_bytes(flipped)
        with pytest.raises(ValueError, match="checkpoint must be a file as skliquid wrote it"):
            read(path)


def test_a_file_that_was_cut_off_is_noticed(tmp_path):
    write_whole(tmp_path / "a", list(range(1000)))
    (tmp_path / "a").write_bytes((tmp_path / "a").read_bytes()[:-300])
    with pytest.raises(ValueError, match="a has changed, or was cut off"):
        read(tmp_path / "a")


def test_missing_code_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "own", ModuleType("own"))
    sys.modules["own"].Rule = type("Rule", (), {"__module__": "own"})
    write_whole(tmp_path / "a", sys.modules["own"].Rule())
    monkeypatch.delitem(sys.modules, "own")
    with pytest.raises(ValueError, match=r"need code that is missing: .*a does \(No module named"):
        read(tmp_path / "a", object)


def test_a_full_disk_is_reported(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("joblib.dump", full)
    with pytest.raises(OSError, match=r"a cannot be written \(.*No space left on device\)"):
        write_whole(tmp_path / "a", [])
    assert not list(tmp_path.iterdir())


def test_an_object_of_another_type_is_refused(tmp_path):
    write_whole(tmp_path / "a", ["words"])
    with pytest.raises(ValueError, match=r"a holds a list. Give another path"):
        read(tmp_path / "a", dict)
    with pytest.raises(FileNotFoundError, match="must be an existing file: nowhere is not"):
        read(Path("nowhere"), dict)
