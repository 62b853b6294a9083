from experiments.test_tables import BOOSTED, DIRECT, MAX, experiment, results
from skliquid.experiments.findings import findings
from skliquid.experiments.spec import Row

ROWS = (Row("Whole", DIRECT), Row("Max", MAX), Row("Boost", BOOSTED))


def found(kind="results", rows=ROWS):
    mine = experiment(kind, rows=rows)
    methods = [row.method for row in rows]
    return findings([(mine, [pair for pair in results() if pair[0].method in methods])])


def test_the_best_of_both_sorts_are_compared_and_the_gap_is_reported():
    words = " ".join(found())
    assert (
        "Mine, our rules: the best delegating ensemble is more accurate than the best AdaBoost"
        in words
    )
    assert "on 0 of 1 datasets." in words
    assert "mechanisms, Direct included, lie furthest apart on heart, by 0.100" in words


def test_what_was_not_run_is_not_mentioned():
    other = DIRECT | {"mechanism": "random"}
    assert found(rows=[Row("Max", MAX)]) == []
    assert "Direct" not in " ".join(found(rows=[Row("Max", MAX), Row("Random", other)]))
    assert not any("least concentrated" in each for each in found("curves", [Row("D", DIRECT)]))
    assert any("least concentrated" in each for each in found("curves", [Row("M", MAX)]))
