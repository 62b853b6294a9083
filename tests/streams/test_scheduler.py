"""Training on files that the workers of a Dask cluster read."""

import pytest
from clusters import cluster_of

from skliquid import LiquidEnsembleClassifier, train_on
from skliquid.dask import ClusterError
from skliquid.files.saving import digest


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with cluster_of(tmp_path_factory.mktemp("cluster"), 2) as cluster:
        yield cluster


@pytest.fixture
def folder(table, write):
    """Files of different sizes, one of them without a row."""
    for k, (first, last) in enumerate(((0, 100), (100, 100), (100, 900), (900, 1200))):
        path = write(table[first:last], f"folder/{k}.parquet")
    return path.parent


def model_of(source, **options):
    ensemble = LiquidEnsembleClassifier(max_rows=500, random_state=0)
    return train_on(source, **{"target": "ill", "ensemble": ensemble} | options)


@pytest.mark.parametrize("options", [{}, {"test_size": 0.2, "column_types": {"town": "category"}}])
def test_a_cluster_gives_the_bits_of_one_machine(cluster, folder, options):
    seen = []
    here = model_of(folder, **options)
    there = model_of(folder, scheduler=cluster.address, report=seen.append, **options)
    assert digest(there) == digest(here)
    stages = list(dict.fromkeys(progress.stage for progress in seen))
    assert stages[:3] == ["counting", "reading", "choosing"]
    assert [one.share for one in seen if one.stage == "counting"][-1] == 1


def test_csv_files_are_read_by_workers_too(cluster, table, write, monkeypatch):
    table.loc[::13, "ill"] = None
    write(table[:700], "folder/a.csv")
    folder = write(table[700:], "folder/b.csv").parent
    options = {"missing_values": ["Oslo"]}
    expected = digest(model_of(folder, **options))
    monkeypatch.chdir(folder.parent)  # workers are elsewhere
    assert digest(model_of("folder", scheduler=cluster.client, **options)) == expected


def test_trees_of_files_grow_on_workers(cluster, folder, monkeypatch):
    expected = digest(model_of(folder))
    monkeypatch.setattr("skliquid.dask.cluster.MIN_CELLS", 0)
    monkeypatch.setattr("skliquid.native.grow_sequences", None)  # in this process
    assert digest(model_of(folder, scheduler=cluster.address)) == expected


def test_a_broken_file_is_named(cluster, folder):
    path = folder / "2.parquet"
    content = path.read_bytes()
    path.write_bytes(content[:4] + bytes(len(content) // 2) + content[4 + len(content) // 2 :])
    with pytest.raises(ValueError, match=r"Data must be readable: .*2.parquet is not"):
        model_of(folder, scheduler=cluster.address)


def test_a_file_that_workers_do_not_find_is_named(cluster, folder):
    def report(progress):
        if progress.stage == "counting" and progress.share == 1:
            (folder / "2.parquet").unlink()

    with pytest.raises((OSError, ValueError), match=r"2.parquet") as caught:
        model_of(folder, scheduler=cluster.address, report=report)
    assert "worker" in str(caught.value)


@pytest.mark.parametrize(
    ("source", "options"),
    [("SELECT 1 AS ill, 2 AS a", {}), ("folder", {"online": True})],
)
def test_queries_and_online_training_need_no_scheduler(folder, source, options):
    source = folder if source == "folder" else source
    with pytest.raises(ValueError, match=r"scheduler \(--scheduler\) must go with files, and wit"):
        model_of(source, scheduler="tcp://127.0.0.1:1", **options)


def test_a_wrong_address_is_refused(folder):
    with pytest.raises(ClusterError, match="address of a scheduler must be like tcp://"):
        model_of(folder, scheduler="nowhere:1:2")
