from pathlib import Path

import pytest

from skliquid.cli.reports import default_name
from skliquid.files.checkpoint import check_output


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("base.csv", "base.skliquid"),
        ("in/base.CSV.GZ", "base.skliquid"),
        ("sales.2023.parquet", "sales.2023.skliquid"),
        ("sales.2023", "sales.2023.skliquid"),
        ("/", "model.skliquid"),
    ],
)
def test_a_model_is_named_after_its_data(data, name):
    assert default_name(Path(data)) == name


def test_a_model_of_this_folder_is_named_after_it(tmp_path, monkeypatch):
    (tmp_path / "sales").mkdir()
    monkeypatch.chdir(tmp_path / "sales")
    assert default_name(Path()) == "sales.skliquid"


def test_a_link_to_an_input_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("a")
    (tmp_path / "b.csv").symlink_to(tmp_path / "a.csv")
    with pytest.raises(ValueError, match="--out must not be a file that is needed"):
        check_output(tmp_path / "b.csv", [tmp_path / "a.csv"], name="--out")


def test_the_folder_of_an_output_is_made(tmp_path):
    check_output(tmp_path / "new" / "deep" / "o.csv", [], name="--out")
    assert (tmp_path / "new" / "deep").is_dir()


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path, monkeypatch):
    def denied(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("skliquid.files.checkpoint.TemporaryFile", denied)
    with pytest.raises(
        ValueError, match=r"folder that can be written to: .* \(Permission denied\)"
    ):
        check_output(tmp_path / "o.csv", [], name="--out")
