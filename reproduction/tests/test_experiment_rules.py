import pytest

from reproduction.experiment import load_experiment
from reproduction.tests.small_results import SMALL

BOOSTED = {"method": "adaboost", "estimator": "tree", "n_estimators": 10}
TRIANGLE = SMALL | {
    "increment_size": [10, 20],
    "delegation_rate": [0.2, 0.3],
    "n_estimators": [15, 20],
}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "table"}, "must give kind as one of datasets.*: got 'table'"),
        ({"title": 5}, "must give title as text: got 5. Correct it"),
        ({"colour": "red"}, "only title.*got 'colour'"),
        ({"protocols": ["theirs"]}, r"protocols, of paper, ours: got \['theirs'\]"),
        ({"protocols": "ours"}, "protocols, of paper, ours: got 'ours'"),
        ({"protocols": []}, r"protocols, of paper, ours: got \[\]"),
        ({"datasets": "heart"}, 'datasets as "all", or a list of names and files: got .heart'),
        ({"datasets": ["hart"]}, r"mine.toml: name must be .*'hart'.* Did you mean 'hea"),
        ({"trials": {"full": 0}}, "must give trials as counts.*got {'full': 0}"),
        ({"trials": {"full": True}}, "must give trials as counts.*got {'full': True}"),
        ({"trials": {}}, "must give trials as counts.*got {}"),
        ({"published": "foo"}, "must give published as one of comparison.*got 'foo'"),
        ({"slice": "x"}, "must give slice as a whole number: got 'x'"),
        ({"slice": 7}, "must give a slice that leaves some methods: got 7"),
        ({"methods": []}, r"must give methods as tables, each under \[\[methods\]\]: got None"),
        ({"kind": "datasets"}, "must hold, as a file of kind datasets, only.*got 'protocols'"),
        ({"vary": ["candidates"]}, "must hold, as a file of kind results, only.*got 'vary'"),
        ({"kind": "variations"}, "must give vary as a list of parameters.*got None"),
        ({"kind": "variations", "vary": ["u"]}, "vary as a list of parameters, of features_per"),
        (
            {"kind": "variations", "vary": ["candidates"], "protocols": ["paper"]},
            "must give every method candidates, which it varies",
        ),
        (
            {"kind": "variations", "vary": ["candidates"]},
            "must have one protocol in variations: got",
        ),
    ],
)
def test_mistakes_in_a_file_are_named(spec, changes, words):
    with pytest.raises(ValueError, match=words):
        load_experiment(spec(**changes))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("options = 3", r"must give options as a table, under \[options\]: got 3"),
        (
            "[options]\nn_voters = [3]\nn_examples = [3]\ncolour = 3",
            "must have options of harmful_states only n_voters.*'colour'",
        ),
        ("[options]\nn_voters = [11]", "must give n_examples as a list of whole.*got None"),
    ],
)
def test_mistakes_in_options_are_named(tmp_path, line, words):
    path = tmp_path / "mine.toml"
    path.write_text(f"kind = 'harmful_states'\n{line}\n")
    with pytest.raises(ValueError, match=words):
        load_experiment(path)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("trials = 5", "must give trials as counts.*got 5"),
        ("[methods]", r"must give methods as tables, each under \[\[methods\]\]: got {}"),
    ],
)
def test_mistakes_in_a_line_are_named(tmp_path, line, words):
    path = tmp_path / "mine.toml"
    lines = ["kind = 'results'", "protocols = ['ours']"]
    lines += [] if "trials" in line else ["trials = {full = 1}"]
    path.write_text("\n".join([*lines, line]) + "\n")
    with pytest.raises(ValueError, match=words):
        load_experiment(path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"method": "forest"}, "must use methods of liquid, adaboost: got 'forest'"),
        ({"rate": 1}, "must give liquid methods only .*: got 'rate'"),
        ({"mechanism": "best"}, r"mine.toml: mechanism must be one of"),
        ({"mechanism": "no.such:thing"}, "cannot be imported"),
        ({"mechanism": 3}, "must give mechanism as text: got 3"),
        ({"mechanism": []}, r"must give mechanism a value: got \[\]"),
        ({"label": 7}, "must give label as text: got 7"),
        ({"increment_size": 0}, "must give increment_size as a whole number above zero: got 0"),
        ({"increment_size": "20"}, "must give increment_size as a whole .*: got '20'"),
        ({"delegation_rate": 2.0}, "must give delegation_rate as a number from 0 to 1: got 2.0"),
        ({"estimator": "forest"}, "must give estimator as one of sgd, tree: got 'forest'"),
        ({"competence": "foo"}, "must give competence as one of .*: got 'foo'"),
        ({"curves": 0}, "must give curves as true or false: got 0"),
        ({"n_final": [4, 21]}, "must give n_final as no more than n_estimators, 20: got 21"),
        ({"other_weights": True}, "must leave out the final fit where it has other_weights"),
    ],
)
def test_mistakes_in_a_method_are_named(spec, changes, words):
    with pytest.raises(ValueError, match=words):
        load_experiment(spec(methods=[SMALL | changes]))


def test_options_are_for_kinds_that_have_some(spec):
    path = spec()
    path.write_text(path.read_text() + "[options]\nn_voters = 3\n")
    with pytest.raises(ValueError, match=r"as a file of kind results, only .*: got 'options'"):
        load_experiment(path)


def test_boosting_has_rules_too(spec):
    with pytest.raises(ValueError, match="must give estimator as one of sgd, tree: got None"):
        load_experiment(spec(methods=[{"method": "adaboost"}]))
    with pytest.raises(ValueError, match="must give estimator as one of sgd, tree: got 'forest'"):
        load_experiment(spec(methods=[BOOSTED | {"estimator": "forest"}]))


@pytest.mark.parametrize(
    "methods", [[SMALL, SMALL | {"label": "b"}], [SMALL | {"mechanism": ["max", "max"]}]]
)
def test_equal_methods_are_refused(spec, methods):
    with pytest.raises(ValueError, match="must have methods that differ by more than their labels"):
        load_experiment(spec(methods=methods))


@pytest.mark.parametrize(
    ("kind", "method", "words"),
    [
        ("curves", BOOSTED, "must have liquid methods only in curves"),
        ("curves", SMALL | {"curves": False}, "must have the curves that it shows: got False"),
        ("search", BOOSTED, "must have liquid methods only in search"),
        ("search", SMALL, "must give increment_size as a list, being an axis of the search: got"),
        (
            "search",
            TRIANGLE | {"final_fit": False},
            "must have the final_fit that it shows: got False",
        ),
        ("search", TRIANGLE | {"n_final": [3, 4]}, "methods in a search that differ only in mech"),
        ("weights", BOOSTED, "must have liquid methods only in weights"),
        ("weights", SMALL, "must have the other_weights that it shows: got False. Set other_w"),
        (
            "weights",
            SMALL | {"other_weights": True, "final_fit": False, "n_final": [3, 4]},
            "must have methods that differ in mechanism, increment_size, delegation_rate",
        ),
        ("search", TRIANGLE, r"must give a slice.*got None. Choose one of \[0, 1, 2, 3\]"),
    ],
)
def test_what_cannot_be_shown_is_refused(spec, kind, method, words):
    with pytest.raises(ValueError, match=words):
        load_experiment(spec(kind=kind, protocols=["paper"], methods=[method]))


def test_a_search_has_one_protocol(spec):
    path = spec(kind="search", methods=[TRIANGLE], slice=1)
    with pytest.raises(ValueError, match="must have one protocol in search"):
        load_experiment(path)
    path = spec(kind="search", methods=[TRIANGLE], slice=1, protocols=["ours"])
    assert len(load_experiment(path).rows) == 3


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("[rules.theirs]", r"must give rules as tables of paper, ours, like \[rules"),
        ("[rules.paper]\nu = 5", "must have rules of paper only features_per_voter, .*got 'u'"),
        ("[rules.paper]\nfeatures_per_voter = 0", 'or "all": got 0. Correct it'),
        ("[rules.paper]\nfeatures_per_voter = 1.5", 'or "all": got 1.5. Correct it'),
        ("[rules.paper]\ncandidates = 'all'", "one of representatives, voters: got 'all'"),
        ("[rules.paper]\nboosting = 'R'", "one of SAMME, SAMME.R: got 'R'"),
    ],
)
def test_mistakes_in_the_rules_of_a_protocol_are_named(spec, rules, words):
    path = spec()
    path.write_text(f"{path.read_text()}{rules}\n")
    with pytest.raises(ValueError, match=words):
        load_experiment(path)


def varied(spec, *methods, **changes):
    methods = [SMALL | {"candidates": "voters"} | method for method in methods]
    content = {"kind": "variations", "protocols": ["paper"], "vary": ["candidates"]} | changes
    return spec(methods=methods, **content)


@pytest.mark.parametrize(
    ("methods", "changes", "words"),
    [
        ([{"n_final": [3, 4]}], {}, "must have methods that differ in mechanism, estimator, incr"),
        ([{}], {"measure": "cost"}, "must have direct, to which costs are relative"),
        (
            [{"mechanism": "direct", "final_fit": False}],
            {"measure": "cost"},
            "must have the final_fit that it shows: got False",
        ),
    ],
)
def test_variations_that_cannot_be_compared_are_refused(spec, methods, changes, words):
    with pytest.raises(ValueError, match=words):
        load_experiment(varied(spec, *methods, **changes))


def test_methods_that_the_rules_of_the_file_make_equal_are_refused(spec):
    path = spec(methods=[SMALL, SMALL | {"candidates": "voters"}])
    assert len(load_experiment(path).rows) == 2
    path.write_text(f'{path.read_text()}[rules.paper]\ncandidates = "voters"\n')
    with pytest.raises(ValueError, match="must have methods that differ by more than their labels"):
        load_experiment(path)


@pytest.mark.parametrize("mechanism", ["proportional_weighted", "learning_slopes"])
def test_weights_that_may_be_zero_are_not_divided_by(spec, mechanism):
    methods = [SMALL | {"mechanism": mechanism, "weight_of": "candidate"}]
    with pytest.raises(ValueError, match=f"weight of gurus .*: got '{mechanism}'. Leave out"):
        load_experiment(spec(methods=methods))
