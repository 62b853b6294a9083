import io
import sys
import zipfile
from pathlib import Path
from urllib.error import URLError

import pytest

from skliquid.datasets import DatasetNotAvailable, data_home
from skliquid.datasets.catalogue import CATALOGUE

ENTRY = CATALOGUE["online-shoppers"]


class Response(io.BytesIO):
    """What urlopen returns."""

    def __init__(self, data: bytes):
        super().__init__(data)
        self.length = len(data)


def zipped(**files: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
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


def test_a_download_needs_no_progress_bar(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    answer(monkeypatch, zipped(online_shoppers_intention=b"rows"))
    assert data_home.download(ENTRY) == b"rows"


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

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match=r"some.csv cannot be written \(No space left on device\)"):
        data_home.store(b"third", "some.csv")
    assert (home / "some.csv").read_bytes() == b"second"
    assert [path.name for path in home.iterdir()] == ["some.csv"]
