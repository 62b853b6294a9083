import io
import sys
import tracemalloc
import zipfile
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest

from skliquid.datasets import DatasetNotAvailable, data_home
from skliquid.datasets.catalogue import CATALOGUE

ENTRY = CATALOGUE["online-shoppers"]


class Response(io.BytesIO):
    """What urlopen returns."""

    def __init__(self, data: bytes):
        super().__init__(data)
        self.length = len(data)


def zipped(compression: int = zipfile.ZIP_STORED, **files: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(f"{name}.csv", data)
    return stream.getvalue()


def answer(monkeypatch, data):
    def urlopen(address, timeout):
        assert address == ENTRY.archive
        assert timeout == data_home.TIMEOUT
        if isinstance(data, Exception):
            raise data
        return Response(data)

    monkeypatch.setattr(data_home, "urlopen", urlopen)


def test_the_data_home_is_the_chosen_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SKLIQUID_DATA_HOME", str(tmp_path))
    assert data_home.data_home() == tmp_path
    monkeypatch.setenv("SKLIQUID_DATA_HOME", "~/data")
    assert data_home.data_home() == Path.home() / "data"


@pytest.mark.skipif(sys.platform == "win32", reason="for other systems")
def test_the_data_home_is_in_the_cache_by_default(monkeypatch, tmp_path):
    monkeypatch.delenv("SKLIQUID_DATA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_home.data_home() == tmp_path / "skliquid"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert data_home.data_home() == Path.home() / ".cache" / "skliquid"


@pytest.mark.parametrize("compression", ["", ".gz", ".xz"])
@pytest.mark.parametrize("name", ["online-shoppers.csv", "online_shoppers_intention.csv"])
def test_a_file_is_found_under_our_name_and_that_of_uci(monkeypatch, tmp_path, name, compression):
    monkeypatch.setenv("SKLIQUID_DATA_HOME", str(tmp_path))
    assert data_home.find(ENTRY) is None
    (tmp_path / f"{name}{compression}").touch()
    assert data_home.find(ENTRY) == tmp_path / f"{name}{compression}"


def test_a_download_is_the_file_in_the_archive(monkeypatch):
    answer(monkeypatch, zipped(online_shoppers_intention=b"rows", readme=b"words"))
    assert data_home.download(ENTRY) == b"rows"


def raised(monkeypatch, data):
    """Return the error of a download that ends in one."""
    answer(monkeypatch, data)
    with pytest.raises(DatasetNotAvailable) as caught:
        data_home.download(ENTRY)
    return str(caught.value)


def test_a_response_that_says_it_is_too_large_is_not_read(monkeypatch):
    class Large(Response):
        def __init__(self):
            super().__init__(b"")
            self.length = data_home.MAX_BYTES + 1

        def read(self, size=-1):
            raise AssertionError

    monkeypatch.setattr(data_home, "urlopen", lambda address, timeout: Large())
    with pytest.raises(DatasetNotAvailable, match="holds more than 64 MB, the limit"):
        data_home.download(ENTRY)


def test_a_response_that_does_not_end_is_read_up_to_the_limit(monkeypatch):
    class Endless(Response):
        n_read, length = 0, None

        def __init__(self):
            io.BytesIO.__init__(self)

        def read(self, size=-1):
            Endless.n_read += size
            return bytes(size)

    monkeypatch.setattr(data_home, "MAX_BYTES", 1 << 20)
    monkeypatch.setattr(data_home, "urlopen", lambda address, timeout: Endless())
    with pytest.raises(DatasetNotAvailable, match="holds more than 1 MB"):
        data_home.download(ENTRY)
    assert Endless.n_read < 2 << 20


def test_an_archive_is_not_unpacked_beyond_the_limit(monkeypatch):
    archive = zipped(online_shoppers_intention=bytes(50 << 20), compression=zipfile.ZIP_DEFLATED)
    assert len(archive) < 1 << 20
    monkeypatch.setattr(data_home, "MAX_BYTES", 1 << 20)
    tracemalloc.start()
    assert "holds more than 1 MB" in raised(monkeypatch, archive)
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    size, liar = (50 << 20).to_bytes(4, "little"), (1000).to_bytes(4, "little")
    assert "Bad CRC-32" in raised(monkeypatch, archive.replace(size, liar))
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def encrypted(archive):
    """Return the archive with the flags that say that its members are encrypted."""
    archive = bytearray(archive)
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        archive[archive.index(mark) + place] |= 1
    return bytes(archive)


ODD = {
    "encrypted": (encrypted(zipped(online_shoppers_intention=b"rows")), "is encrypted"),
    "another method": (
        zipped(online_shoppers_intention=b"rows", compression=zipfile.ZIP_BZIP2),
        "is compressed by method 12",
    ),
    "changed": (zipped(online_shoppers_intention=b"rows").replace(b"rows", b"ROWS"), "Bad CRC-32"),
    "cut off": (zipped(online_shoppers_intention=b"rows")[:-30], "not a zip file"),
    "empty": (b"", "not a zip file"),
    "nested": (zipped(another=zipped(online_shoppers_intention=b"rows")), "There is no item named"),
    "absolute": (zipped(**{"/online_shoppers_intention": b"rows"}), "There is no item named"),
    "above": (zipped(**{"../online_shoppers_intention": b"rows"}), "There is no item named"),
}


@pytest.mark.parametrize(("data", "words"), ODD.values(), ids=ODD)
def test_an_odd_archive_is_an_error_that_says_why(monkeypatch, data, words):
    assert words in raised(monkeypatch, data)


def test_any_change_of_an_archive_gives_the_same_file_or_an_error(monkeypatch):
    rng, rows = np.random.default_rng(0), b"a,b\n1,2\n" * 20
    whole = zipped(online_shoppers_intention=rows, compression=zipfile.ZIP_DEFLATED)
    n_errors = 0
    for _ in range(1000):
        changed = bytearray(whole)
        for place in rng.integers(len(whole), size=rng.integers(1, 4)):
            changed[place] = rng.integers(256)
        answer(monkeypatch, bytes(changed))
        try:
            assert data_home.download(ENTRY) == rows
        except DatasetNotAvailable:
            n_errors += 1
    assert 0 < n_errors < 1000


@pytest.mark.parametrize(
    "data",
    [
        URLError("no network"),
        TimeoutError("too slow"),
        b"<html>moved</html>",
        zipped(another=b"rows"),
    ],
    ids=["no network", "too slow", "no archive", "no such file in it"],
)
def test_a_failed_download_raises_an_error_that_says_what_to_do(monkeypatch, tmp_path, data):
    monkeypatch.setenv("SKLIQUID_DATA_HOME", str(tmp_path))
    answer(monkeypatch, data)
    with pytest.raises(DatasetNotAvailable) as caught:
        data_home.download(ENTRY)
    message = str(caught.value)
    assert message.startswith("online-shoppers does not come with skliquid and could not be")
    assert message.endswith(
        "put the file online_shoppers_intention.csv of https://archive.ics.uci.edu/dataset/468 "
        f"into {tmp_path} and load it again."
    )
    assert isinstance(caught.value, FileNotFoundError)


def test_a_file_is_stored_completely_or_not_at_all(monkeypatch, tmp_path):
    home = tmp_path / "new" / "home"
    monkeypatch.setenv("SKLIQUID_DATA_HOME", str(home))
    data_home.store(b"first", "some.csv")
    data_home.store(b"second", "some.csv")
    assert (home / "some.csv").read_bytes() == b"second"

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left on device"):
        data_home.store(b"third", "some.csv")
    assert (home / "some.csv").read_bytes() == b"second"
    assert [path.name for path in home.iterdir()] == ["some.csv"]
