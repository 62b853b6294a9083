import io
import sys

import numpy as np
import pytest
from file_mutations import sealed
from safetensors.numpy import save as save_tensors

from skliquid import ModelFileError
from skliquid.files import container
from skliquid.files.container import Content


def written(text=b"{}", *arrays):
    file = io.BytesIO()
    container.write(Content(text, list(arrays)), file)
    return file.getvalue()


@pytest.fixture
def refused(tmp_path):
    def check(content, match):
        (tmp_path / "a").write_bytes(content)
        with pytest.raises(ModelFileError, match=match):
            container.read(tmp_path / "a")

    return check


def test_what_is_written_is_read(tmp_path):
    arrays = [np.arange(3.0), np.empty((0, 2), dtype=np.int32), np.array(True), np.float32([[1]])]
    (tmp_path / "a").write_bytes(written(b"\x00 any text", *arrays))
    text, found = container.read(tmp_path / "a")
    assert text == b"\x00 any text"
    for one, other in zip(found, arrays, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert np.array_equal(one, other)


def test_the_same_content_gives_the_same_bytes():
    assert written(b"1", np.arange(9), np.ones(2)) == written(b"1", np.arange(9), np.ones(2))


def test_every_changed_byte_is_noticed(tmp_path):
    whole = written(b"1", np.arange(2.0))
    for k in range(len(whole)):
        (tmp_path / "a").write_bytes(whole[:k] + bytes([whole[k] ^ 1]) + whole[k + 1 :])
        with pytest.raises(ModelFileError):
            container.read(tmp_path / "a")


def test_a_file_that_was_cut_off_is_noticed(refused):
    whole = written(b"1", np.arange(2.0))
    for length in (0, 1, 8, 20, len(whole) - 1):
        refused(whole[:length], "cannot be read|must be a model file|unchanged")
    refused(whole + b"0", "must be a model file")


def test_another_version_is_refused(refused):
    whole = written().replace(b'"skliquid":"5 ', b'"skliquid":"2 ')
    refused(sealed(whole), "must have version 3 to 5 of the file format: it has version 2")


def test_other_safetensors_files_are_refused(refused):
    refused(save_tensors({"a": np.ones(2)}), "it is another safetensors file")
    content = save_tensors({"a": np.ones(2)}, metadata={"skliquid": "3 " + "0" * 64})
    refused(sealed(content), "it has no document")
    content = save_tensors({"document": np.ones(2)}, metadata={"skliquid": "3 " + "0" * 64})
    refused(sealed(content), "it has no document")


def test_arrays_are_numbered(refused):
    tensors = {"document": np.frombuffer(b"1", dtype=np.uint8), "7": np.ones(1)}
    content = save_tensors(tensors, metadata={"skliquid": "3 " + "0" * 64})
    refused(sealed(content), "not numbered")


def test_without_safetensors_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(ImportError, match=r"pip install '\.\[files\]'"):
        written()
