import pickle
import sys
from pathlib import Path
from types import ModuleType

import pytest

from skliquid.streams.checkpoint import Checkpoint, Run, read_whole, write_whole


class Unwritable:
    def __reduce__(self):
        raise pickle.PicklingError("power cut")


def checkpoint(path, data="data", **settings):
    return Checkpoint(path, data, settings)


def test_a_checkpoint_comes_back(tmp_path):
    kept = checkpoint(tmp_path / "deep" / "a.checkpoint", n_final="5")
    assert kept.read() is None
    kept.write(Run("ensemble", "coding", "classes", n_rows=7))
    assert kept.read() == Run("ensemble", "coding", "classes", n_rows=7)


def test_a_write_that_breaks_off_leaves_what_was_there(tmp_path):
    kept = checkpoint(tmp_path / "a.checkpoint")
    kept.write(Run("ensemble", "coding", "classes", n_rows=7))
    with pytest.raises(ValueError, match=r"must be something that a file can hold: power cut"):
        kept.write(Run([0] * 100_000, Unwritable(), "classes"))
    assert kept.read().n_rows == 7
    assert [each.name for each in tmp_path.iterdir()] == ["a.checkpoint"]


def test_another_run_is_refused(tmp_path):
    path = tmp_path / "a.checkpoint"
    checkpoint(path, n_final="5").write(Run("ensemble", "coding", "classes"))
    with pytest.raises(ValueError, match=r"a.checkpoint was written for other files"):
        checkpoint(path, "other data", n_final="5").read()
    with pytest.raises(ValueError, match=r"n_final was another when .*a.checkpoint was written"):
        checkpoint(path, n_final="6").read()


@pytest.mark.parametrize("content", [b"", b"not a pickle", pickle.dumps("words")[:-3]])
def test_what_is_no_checkpoint_is_refused(tmp_path, content):
    path = tmp_path / "a.checkpoint"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"checkpoint must be a file that skliquid wrote: .*a.che"):
        checkpoint(path).read()


def test_a_checkpoint_of_another_version_is_refused(tmp_path):
    kept = checkpoint(tmp_path / "a.checkpoint")
    kept.write(Run("ensemble", "coding", "classes"))
    kept.path.write_bytes(kept.path.read_bytes().replace(b"skliquid 2", b"skliquid 1", 1))
    with pytest.raises(ValueError, match="that this version of skliquid reads"):
        kept.read()


def test_a_single_bit_that_flipped_is_noticed(tmp_path):
    kept = checkpoint(tmp_path / "a.checkpoint")
    kept.write(Run("ensemble", "coding", "classes"))
    content = kept.path.read_bytes()
    for position in range(len(content)):
        flipped = bytearray(content)
        flipped[position] ^= 16
        kept.path.write_bytes(flipped)
        with pytest.raises(ValueError, match="checkpoint must be a file that"):
            kept.read()


def test_a_file_that_was_cut_off_is_noticed(tmp_path):
    write_whole(tmp_path / "a", list(range(1000)))
    (tmp_path / "a").write_bytes((tmp_path / "a").read_bytes()[:-300])
    with pytest.raises(ValueError, match="model must be a file that is as it was written"):
        read_whole(tmp_path / "a", list, parameter="model")


def test_code_that_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "own", ModuleType("own"))
    sys.modules["own"].Rule = type("Rule", (), {"__module__": "own"})
    write_whole(tmp_path / "a", sys.modules["own"].Rule())
    monkeypatch.delitem(sys.modules, "own")
    with pytest.raises(ValueError, match=r"needs code that is missing \(No module named 'own'\)"):
        read_whole(tmp_path / "a", object, parameter="model")


def test_a_disk_that_is_full_is_named(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("joblib.dump", full)
    with pytest.raises(OSError, match=r"a cannot be written \(.*No space left on device\)"):
        write_whole(tmp_path / "a", [])
    assert not list(tmp_path.iterdir())


def test_an_object_of_another_kind_is_refused(tmp_path):
    write_whole(tmp_path / "a", ["words"])
    assert read_whole(tmp_path / "a", list, parameter="model") == ["words"]
    with pytest.raises(ValueError, match=r"a holds a list. Give another path"):
        read_whole(tmp_path / "a", dict, parameter="model")
    with pytest.raises(FileNotFoundError, match="model must be a file that is there: nowhere"):
        read_whole(Path("nowhere"), dict, parameter="model")
