"""Rules: what the file of an experiment may hold, and which methods go together."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from skliquid.competence import COMPETENCE
from skliquid.datasets import DATASET_NAMES
from skliquid.datasets.own_file import check_name
from skliquid.experiments.methods import ESTIMATORS, mechanism_named
from skliquid.experiments.protocols import PROTOCOLS, VARIATIONS
from skliquid.mechanisms import CANDIDATES
from skliquid.mechanisms.probability import gain_per_weight
from skliquid.pools.linear_pool import STOPPING_RULES

WITHOUT_TRIALS = ("datasets", "harmful_states", "delegation_cost", "diagrams")
KINDS = (*WITHOUT_TRIALS, "search", "curves", "results", "variations")
PUBLISHED = ("comparison", "accuracy_maximizing", "cost_minimizing")
_NEEDED_FOR_TRIALS = ("protocols", "trials", "methods")
_OF_VARIATIONS = ("vary", "measure")
_OF_TRIALS = (*_NEEDED_FOR_TRIALS, "datasets", "published", "slice", "rules", *_OF_VARIATIONS)
_AXES = ("increment_size", "delegation_rate", "n_estimators")


class _Rule(NamedTuple):
    """What a value must be: in words, and as a test."""

    words: str
    holds: Callable[[Any], bool]


def _one_of(names: Sequence[str] | Mapping[str, Any]) -> _Rule:
    return _Rule(f"one of {', '.join(names)}", lambda value: value in tuple(names))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _is_list(value: Any, holds: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(map(holds, value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


_TEXT = _Rule("text", _is_text)
_FLAG = _Rule("true or false", lambda value: isinstance(value, bool))
_COUNT = _Rule("a whole number above zero", _is_count)
_COUNTS = _Rule("a list of whole numbers above zero", lambda value: _is_list(value, _is_count))
_SHARE = _Rule("a number from 0 to 1", _is_share)
_RATE = _Rule("a number between 0 and 1", lambda value: _is_share(value) and 0 < value < 1)
_FEATURES = _Rule(
    'a whole number above zero, a share between 0 and 1, or "all"',
    lambda value: value == "all" or _is_count(value) or _RATE.holds(value),
)
_MATRIX = _Rule(
    "rows of numbers from 0 to 1, all of one length",
    lambda value: (
        _is_list(value, lambda row: _is_list(row, _is_share)) and len(set(map(len, value))) == 1
    ),
)

_OF_A_FILE = {
    "title": _TEXT,
    "kind": _one_of(KINDS),
    "caption": _TEXT,
    "protocols": _Rule(
        f"a list of protocols, of {', '.join(PROTOCOLS)}",
        lambda value: _is_list(value, lambda each: each in tuple(PROTOCOLS)),
    ),
    "datasets": _Rule(
        '"all", or a list of names and files',
        lambda value: value == "all" or _is_list(value, _is_text),
    ),
    "trials": _Rule(
        "counts above zero, like {full = 50, quick = 2}",
        lambda value: (
            isinstance(value, dict)
            and len(value) > 0
            and set(value) <= {"full", "quick"}
            and all(map(_is_count, value.values()))
        ),
    ),
    "methods": _Rule(
        "tables, each under [[methods]]",
        lambda value: _is_list(value, lambda each: isinstance(each, dict)),
    ),
    "published": _one_of(PUBLISHED),
    "slice": _Rule("a whole number", lambda value: type(value) is int),
    "options": _Rule("a table, under [options]", lambda value: isinstance(value, dict)),
    "rules": _Rule(
        f"tables by protocol, of {', '.join(PROTOCOLS)}, like [rules.paper]",
        lambda value: (
            isinstance(value, dict)
            and set(value) <= set(PROTOCOLS)
            and all(isinstance(each, dict) for each in value.values())
        ),
    ),
    "vary": _Rule(
        f"a list of parameters, of {', '.join(VARIATIONS)}",
        lambda value: _is_list(value, lambda each: each in VARIATIONS),
    ),
    "measure": _one_of(("accuracy", "cost")),
}
_OF_OPTIONS = {
    "harmful_states": {"n_voters": _COUNTS, "n_examples": _COUNTS},
    "delegation_cost": {
        "n_voters": _COUNT,
        "n_final": _COUNTS,
        "first_rate": _RATE,
        "last_rate": _RATE,
    },
    "diagrams": {"accuracy": _MATRIX, "n_final": _COUNT},
}
_OF_A_METHOD = {
    "method": _TEXT,
    "mechanism": _TEXT,
    "increment_size": _COUNT,
    "delegation_rate": _SHARE,
    "n_estimators": _COUNT,
    "n_final": _COUNT,
    "estimator": _one_of(ESTIMATORS),
    "competence": _one_of(COMPETENCE),
    "goes_on": _FLAG,
    "final_fit": _FLAG,
    "curves": _FLAG,
    "features_per_voter": _FEATURES,
    "candidates": _one_of(CANDIDATES),
    "weight_of": _one_of(("guru", "candidate")),
    "stopping_rule": _one_of(STOPPING_RULES),
    "boosting": _one_of(("SAMME", "SAMME.R")),
    "label": _TEXT,
}
_NEEDED: dict[str, tuple[str, ...]] = {
    "liquid": ("method", "mechanism", *_AXES, "n_final"),
    "adaboost": ("method", "estimator", "n_estimators"),
}
_OF_LIQUID = ("features_per_voter", "candidates", "weight_of", "stopping_rule")
PARAMETERS: dict[str, tuple[str, ...]] = {
    "liquid": (
        *_NEEDED["liquid"],
        *("estimator", "competence", "goes_on", "final_fit", "curves", *_OF_LIQUID, "label"),
    ),
    "adaboost": (*_NEEDED["adaboost"], "boosting", "label"),
}
"""What each method knows."""


def check_content(path: Path, content: Mapping[str, Any]) -> None:
    """Raise unless all that a file holds is known, and what it should be."""
    _check_names(path, content, _OF_A_FILE, "hold")
    kind = content.get("kind")
    _check(path, {**content, "kind": kind}, _OF_A_FILE)
    of_others: Sequence[str] = () if kind == "variations" else _OF_VARIATIONS
    of_others = _OF_TRIALS if kind in WITHOUT_TRIALS else of_others
    known = [name for name in _OF_A_FILE if name not in of_others]
    _check_names(path, content, known, f"hold, as a file of kind {kind},")
    for name in () if kind in WITHOUT_TRIALS else _NEEDED_FOR_TRIALS:
        if name not in content:
            raise _wrong(path, f"give {name}, or there are no trials", None, "Add them")
    for name in content.get("datasets", []):
        file = name.partition("::")[0]
        if content["datasets"] != "all" and file not in DATASET_NAMES:
            _with_path(path, check_name, file)
    _check_options(path, str(kind), content.get("options", {}))
    for protocol, rules in content.get("rules", {}).items():
        _check_names(path, rules, VARIATIONS, f"have rules of {protocol}")
        _check(path, rules, _OF_A_METHOD)


def check_entry(path: Path, entry: Mapping[str, Any]) -> None:
    """Raise unless a method, with lists for what is to be spread out, has what it needs."""
    kind = entry.get("method")
    if kind not in tuple(PARAMETERS):
        raise _wrong(path, f"use methods of {', '.join(PARAMETERS)}", kind, "Choose one")
    for name in _NEEDED[kind]:
        if name not in entry:
            raise _wrong(path, f"give every {kind} method {name}", dict(entry), "Add it")
    _check_names(path, entry, PARAMETERS[kind], f"give {kind} methods")
    for name, value in entry.items():
        if value == []:
            raise _wrong(path, f"give {name} a value", value, "Put one into the list")


def check_method(path: Path, method: Mapping[str, Any]) -> None:
    """Raise unless every parameter of a method is allowed, alone and with the others."""
    _check(path, method, _OF_A_METHOD)
    if method["method"] != "liquid":
        return
    mechanism = _with_path(path, mechanism_named, method["mechanism"])
    divides = getattr(mechanism, "probability", gain_per_weight) is gain_per_weight
    if method.get("weight_of") == "candidate" and divides:
        rule = "compare the weight of gurus in mechanisms that divide by it, or are revocable"
        raise _wrong(path, rule, method["mechanism"], "Leave out weight_of")
    if method["n_final"] > method["n_estimators"]:
        rule = f"give n_final as no more than n_estimators, {method['n_estimators']}"
        raise _wrong(path, rule, method["n_final"], "Lower n_final or raise n_estimators")


def check_together(path: Path, content: Mapping[str, Any], methods: Sequence[Any]) -> None:
    """Raise unless the methods of a file differ, and can be shown as its kind is."""
    kind = content["kind"]
    if not methods and kind not in WITHOUT_TRIALS:
        rule = "give a slice that leaves some methods"
        raise _wrong(path, rule, content.get("slice"), "Give another, or none")
    for k, method in enumerate(methods):
        if method in methods[:k]:
            rule = "have methods that differ by more than their labels"
            raise _wrong(path, rule, method, "Leave one of the two out")
        if kind in ("curves", "search") and method["method"] != "liquid":
            raise _wrong(path, f"have liquid methods only in {kind}", method, "Leave it out")
        if kind == "curves" and not method.get("curves", True):
            raise _wrong(path, "have the curves that it shows", False, "Leave out curves")
    if kind in _CHECKS_OF_KINDS:
        _CHECKS_OF_KINDS[kind](path, content, methods)


def _check_search(path: Path, content: Mapping[str, Any], methods: Sequence[Any]) -> None:
    """Raise unless each mechanism has one accuracy in each cell of one triangle."""
    if len(set(content["protocols"])) > 1:
        raise _wrong(path, "have one protocol in a search", content["protocols"], "Choose one")
    for method in methods:
        if not method.get("final_fit", True):
            raise _wrong(path, "have the final fit that it shows", False, "Leave out final_fit")
    levels = {axis: sorted({method[axis] for method in methods}) for axis in _AXES}
    for axis, of_axis in levels.items():
        if len(of_axis) < 2:
            rule = f"give {axis} as a list, being an axis of the search"
            raise _wrong(path, rule, of_axis[0], "Add another value")
    cells = [tuple(method[axis] for axis in _AXES) for method in methods]
    pairs = {(method["mechanism"], cell) for method, cell in zip(methods, cells, strict=True)}
    if len(pairs) < len(methods):
        rule = f"have methods in a search that differ only in mechanism, {', '.join(_AXES)}"
        raise _wrong(path, rule, methods[0], "Search them in a file each")
    totals = {sum(map(list.index, levels.values(), cell)) for cell in cells}
    if len(totals) > 1:
        rule = "give a slice, the sum of the places of each cell in its lists, to make a triangle"
        raise _wrong(path, rule, content.get("slice"), f"Choose one of {sorted(totals)}")


def _check_variations(path: Path, content: Mapping[str, Any], methods: Sequence[Any]) -> None:
    """Raise unless trials are under one protocol and every method says what is varied."""
    if "vary" not in content:
        raise _wrong(path, 'say what it varies, like vary = ["candidates"]', None, "Add it")
    if len(set(content["protocols"])) > 1:
        raise _wrong(path, "have one protocol with variations", content["protocols"], "Choose one")
    for method, name in product(methods, content["vary"]):
        if name not in method:
            raise _wrong(path, f"give every method {name}, which it varies", method, "Add it")
    told_by = ("mechanism", "estimator", *_AXES[:2], *content["vary"])
    size = {"liquid": (), "adaboost": ("n_estimators",)}
    cells = [tuple(m.get(name) for name in (*told_by, *size[m["method"]])) for m in methods]
    if len(set(cells)) < len(cells):
        rule = f"have methods that differ in {', '.join(told_by)}"
        raise _wrong(path, rule, methods[0], "Put others into a file of their own")
    if content.get("measure") == "cost":
        _check_costs(path, methods)


def _check_costs(path: Path, methods: Sequence[Any]) -> None:
    """Raise unless costs can be compared with those of Direct."""
    if not all(method.get("final_fit", True) for method in methods):
        raise _wrong(path, "have the final fit, which costs include", False, "Leave out final_fit")
    if not any(method.get("mechanism") == "direct" for method in methods):
        raise _wrong(path, "have direct, to which costs are relative", None, "Add it")


_CHECKS_OF_KINDS: dict[str, Callable[[Path, Mapping[str, Any], Sequence[Any]], None]] = {
    "search": _check_search,
    "variations": _check_variations,
}


def _check_options(path: Path, kind: str, options: Mapping[str, Any]) -> None:
    rules = _OF_OPTIONS.get(kind, {})
    if options and not rules:
        raise _wrong(path, f"have no options, its kind being {kind}", options, "Leave them out")
    _check_names(path, options, rules, f"have options of {kind}")
    _check(path, {name: options.get(name) for name in rules}, rules)


def _check_names(
    path: Path, given: Mapping[str, Any], known: Mapping[str, Any] | Sequence[str], what: str
) -> None:
    for name in given:
        if name not in known:
            raise _wrong(path, f"{what} only {', '.join(known)}", name, "Leave it out")


def _check(path: Path, given: Mapping[str, Any], rules: Mapping[str, _Rule]) -> None:
    for name, value in given.items():
        if not rules[name].holds(value):
            raise _wrong(path, f"give {name} as {rules[name].words}", value, "Correct it")


def _with_path(path: Path, check: Callable[[str], Any], value: str) -> Any:
    """Return ``check(value)``, and let what it raises name the file."""
    try:
        return check(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error


def _wrong(path: Path, rule: str, value: object, way_out: str) -> ValueError:
    """Return the error that names the file, the rule, the value and the way out."""
    return ValueError(f"{path} must {rule}: got {value!r}. {way_out}.")
