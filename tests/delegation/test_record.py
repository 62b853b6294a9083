import builtins
import re
from dataclasses import fields

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from skliquid import LiquidEnsembleClassifier
from skliquid.delegation.record import IncrementRecord, TrainingRecord


@pytest.fixture(scope="module")
def fitted(binary):
    X, y = binary
    ensemble = LiquidEnsembleClassifier(
        SGDClassifier(),
        n_estimators=20,
        n_final=4,
        increment_size=60,
        competence="training",
        random_state=0,
        mechanism="max",
    )
    return ensemble.fit(X[:400], y[:400], eval_set=(X[400:], y[400:]))


def test_the_record_holds_what_happened_at_each_increment(fitted):
    record = fitted.record_
    assert len(record) == 7
    assert record.reached_n_final
    assert [increment.increment for increment in record] == list(range(1, 8))
    assert record[-1].graph is fitted.delegation_graph_
    for increment in record:
        assert len(increment.accuracy) == len(increment.competence) == len(increment.voters)
        assert increment.graph.delegation[increment.delegators].tolist() == (
            increment.delegates.tolist()
        )
        assert 0 < increment.largest_share <= 1
        assert 0.5 < increment.eval_accuracy <= 1


def test_every_row_is_used_once(fitted):
    rows = np.concatenate([increment.rows for increment in fitted.record_])
    assert sorted(rows) == list(range(400))
    assert [increment.n_rows for increment in fitted.record_] == [60] * 6 + [40]


def test_costs_add_up(fitted):
    cost = fitted.training_cost_
    assert cost.increments == sum(len(i.voters) * i.n_rows for i in fitted.record_)
    assert cost.final_fit == sum(voter.n_iter_ for voter in fitted.estimators_) * 400
    assert cost.total == cost.increments + cost.final_fit


def test_tables_have_one_row_per_increment_and_one_row_per_voter(fitted):
    table = fitted.record_.to_pandas()
    assert table["n_representatives"].tolist() == [i.n_representatives for i in fitted.record_]
    assert table["cost"].sum() == fitted.training_cost_.increments
    assert table["eval_accuracy"].notna().all()
    assert table["accuracy_of_voters"].tolist() == [i.accuracy.mean() for i in fitted.record_]
    assert (table["accuracy_of_voters"] <= table["accuracy_of_the_best"]).all()
    voters = fitted.record_.voters_to_pandas()
    assert len(voters) == table["n_trained"].sum()
    assert voters.groupby("increment")["weight"].sum().unique().tolist() == [20]
    assert (voters["delegate"] != voters["voter"]).sum() == 16


def test_tables_have_a_column_for_each_recorded_number(fitted):
    assert list(fitted.record_.to_pandas()) == [
        "increment",
        "n_rows",
        "n_trained",
        "accuracy_of_voters",
        "accuracy_of_the_best",
        "n_delegated",
        "n_returned",
        "n_representatives",
        "minimum_majority",
        "largest_share",
        "gini",
        "cost",
        "eval_accuracy",
        "log_loss",
    ]
    names = ["increment", "voter", "accuracy", "competence", "delegate", "weight"]
    assert list(fitted.record_.voters_to_pandas()) == names
    numbers = {value.name for value in fields(IncrementRecord) if value.type in (int, float)}
    assert numbers <= set(fitted.record_.to_pandas())
    assert TrainingRecord(n_final=1).to_pandas().empty
    assert TrainingRecord(n_final=1).voters_to_pandas().empty


def test_without_pandas_the_error_names_the_extra(fitted, monkeypatch):
    real_import = builtins.__import__

    def no_pandas(name, *args, **kwargs):
        if name == "pandas":
            raise ImportError
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_pandas)
    with pytest.raises(ImportError, match=r"pip install '\.\[pandas\]'"):
        fitted.record_.to_pandas()


def test_the_record_prints_in_one_line(fitted):
    assert repr(fitted.record_).startswith(
        "TrainingRecord(7 increments, 20 voters -> 4 representatives"
    )


def test_a_record_knows_whether_n_final_was_reached(binary):
    X, y = binary
    slow = LiquidEnsembleClassifier(
        n_estimators=20, n_final=4, delegation_rate=0.05, increment_size=200, random_state=0
    ).fit(X, y)
    assert len(slow.estimators_) == 18
    assert not slow.record_.reached_n_final


def test_the_record_shows_a_sentence_small_curves_and_a_table_in_notebooks(fitted):
    record = fitted.record_
    assert record.summary() == (
        f"Of 20 voters 4 are left as representatives after 7 increments, for "
        f"{record.cost.total:,} sample visits."
    )
    page = record._repr_html_()
    assert record.summary() in page
    assert page.count("<svg") == 5  # one of them of the accuracy on the evaluation set
    assert page.count("<tr>") == 5 + 1 + 7
    assert TrainingRecord(3)._repr_html_().startswith("<div><p>No increments yet.")


def test_the_summary_counts_votes_by_estimator(binary):
    ensemble = LiquidEnsembleClassifier(random_state=0).fit(*binary)
    counts = re.search(r"votes by estimator: (.+)\), for", ensemble.record_.summary())[1]
    assert sum(int(part.split()[-1]) for part in counts.split(", ")) == 24


def test_records_of_before_have_no_descriptions_and_can_be_shown(fitted):
    record = TrainingRecord(3, increments=[*fitted.record_], n_increments=7)
    assert record.voters == ()
    assert "Of 20 voters 4 are left" in record._repr_html_()


def test_a_record_replays_itself(fitted):
    assert "<iframe" in fitted.record_.replay(title="Spam")._repr_html_()
