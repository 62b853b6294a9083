"""Rules for the TOML file of an experiment: allowed values, and methods that fit together."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from reproduction.methods import ESTIMATORS, mechanism_named
from reproduction.own_table import load_data
from reproduction.protocols import PROTOCOLS, VARIATIONS
from skliquid.datasets import DATASET_NAMES
from skliquid.mechanisms import CANDIDATES, MECHANISMS

AXES = ("increment_size", "delegation_rate", "n_estimators")
"""The parameters that a search varies."""


class _Rule(NamedTuple):
    """A rule for a value: in words, and as a test."""

    words: str
    holds: Callable[[Any], bool]


def _one_of(names: Collection[str]) -> _Rule:
    return _Rule(f"one of {', '.join(names)}", lambda value: value in tuple(names))


def _list_of(words: str, rule: _Rule) -> _Rule:
    return _Rule(words, lambda v: type(v) is list and len(v) > 0 and all(map(rule.holds, v)))


def _table_of(words: str, names: Collection[str], rule: _Rule) -> _Rule:
    values = _list_of("", rule).holds
    return _Rule(words, lambda v: type(v) is dict and {*v} <= {*names} and values([*v.values()]))


_TEXT = _Rule("text", lambda value: type(value) is str)
_TEXTS = _list_of("a list of texts", _TEXT)
_FLAG = _Rule("true or false", lambda value: type(value) is bool)
_TABLE = _Rule("a table, under [options]", lambda value: type(value) is dict)
_COUNT = _Rule("a whole number above zero", lambda value: type(value) is int and value > 0)
_COUNTS = _list_of("a list of whole numbers above zero", _COUNT)
_SHARE = _Rule("a number from 0 to 1", lambda v: type(v) in (int, float) and 0 <= v <= 1)
_RATE = _Rule("a number between 0 and 1", lambda v: type(v) is float and 0 < v < 1)

_METHOD_RULES = {
    **dict.fromkeys(("method", "mechanism", "label"), _TEXT),
    **dict.fromkeys(("increment_size", "n_estimators", "n_final"), _COUNT),
    "delegation_rate": _SHARE,
    "estimator": _one_of(ESTIMATORS),
    "competence": _one_of(("contribution", "prequential", "training")),
    **dict.fromkeys(("goes_on", "final_fit", "curves", "other_weights"), _FLAG),
    "features_per_voter": _Rule(
        'a whole number above zero, a share between 0 and 1, or "all"',
        lambda value: value == "all" or _COUNT.holds(value) or _RATE.holds(value),
    ),
    "candidates": _one_of(CANDIDATES),
    "weight_of": _one_of(("guru", "candidate")),
    "stopping_rule": _one_of(("loss", "objective")),
    "boosting": _one_of(("SAMME", "SAMME.R")),
}
_REQUIRED: dict[str, tuple[str, ...]] = {
    "liquid": ("method", "mechanism", *AXES, "n_final"),
    "adaboost": ("method", "estimator", "n_estimators"),
}
PARAMETERS: dict[str, tuple[str, ...]] = {
    "liquid": tuple(name for name in _METHOD_RULES if name != "boosting"),
    "adaboost": (*_REQUIRED["adaboost"], "boosting", "label"),
}
"""The parameters of each method."""

_ROWS = _list_of("rows of numbers from 0 to 1", _list_of("", _SHARE))
_MATRIX = _Rule(
    f"{_ROWS.words}, all of one length", lambda v: _ROWS.holds(v) and len({*map(len, v)}) == 1
)
_OPTION_RULES: dict[str, dict[str, _Rule]] = {
    "datasets": {},
    "harmful_states": {"n_voters": _COUNTS, "n_examples": _COUNTS},
    "delegation_cost": {"n_voters": _COUNT, "n_final": _COUNTS}
    | {"first_rate": _RATE, "last_rate": _RATE},
    "diagrams": {"accuracy": _MATRIX, "n_final": _COUNT},
}
WITHOUT_TRIALS = tuple(_OPTION_RULES)
_WITH_TRIALS = ("search", "curves", "results", "variations", "weights")
_COMMON_RULES = {
    "title": _TEXT,
    "kind": _one_of((*WITHOUT_TRIALS, *_WITH_TRIALS)),
    "caption": _TEXT,
}
_PROTOCOLS, _VARIED = ", ".join(PROTOCOLS), ", ".join(VARIATIONS)
_REQUIRED_FOR_TRIALS = {
    "protocols": _list_of(f"a list of protocols, of {_PROTOCOLS}", _one_of(PROTOCOLS)),
    "trials": _table_of("counts, like {full = 50, quick = 2}", ("full", "quick"), _COUNT),
    "methods": _list_of("tables, each under [[methods]]", _TABLE),
}
_TRIAL_RULES = _REQUIRED_FOR_TRIALS | {
    "datasets": _Rule(
        '"all", or a list of names and files', lambda value: value == "all" or _TEXTS.holds(value)
    ),
    "published": _one_of(("comparison", "accuracy_maximizing", "cost_minimizing")),
    "slice": _Rule("a whole number", lambda value: type(value) is int),
    "rules": _table_of(f"tables of {_PROTOCOLS}, like [rules.paper]", PROTOCOLS, _TABLE),
}
_VARIATION_RULES = {
    "vary": _list_of(f"a list of parameters, of {_VARIED}", _one_of(VARIATIONS)),
    "measure": _one_of(("accuracy", "cost")),
}
_NEEDED_PARTS = {
    "search": "final_fit",
    "curves": "curves",
    "cost": "final_fit",
    "weights": "other_weights",
}
"""The part of training that an experiment needs, by its kind or its measure."""

Content = Mapping[str, Any]
Methods = Sequence[Content]
Condition = tuple[bool, str, Any, str]
"""Whether it is fulfilled, the rule for the file, the value, and the way out."""


def check(path: Path, conditions: Iterable[Condition]) -> None:
    """Raise unless all ``conditions`` hold for the file at ``path``."""
    try:
        broken = next((condition for condition in conditions if not condition[0]), None)
    except (TypeError, ValueError) as error:  # from other modules, without the name of the file
        raise ValueError(f"{path}: {error}") from error
    if broken:
        _, rule, value, way_out = broken
        raise ValueError(f"{path} must {rule}: got {value!r}. {way_out}.")


def file_conditions(content: Content) -> Iterator[Condition]:
    """Yield the conditions for a file as a whole, without its methods."""
    kind, options = content.get("kind"), content.get("options", {})
    option_rules = _OPTION_RULES.get(str(kind), {})
    rules = _COMMON_RULES | ({"options": _TABLE} if option_rules else {})
    required = {"kind"}
    if kind not in WITHOUT_TRIALS:
        rules, required = rules | _TRIAL_RULES, {"kind", *_REQUIRED_FOR_TRIALS}
    if kind == "variations":
        rules, required = rules | _VARIATION_RULES, {*required, "vary"}
    yield from _table_conditions(content, rules, required, f"hold, as a file of kind {kind},")
    yield from _table_conditions(options, option_rules, option_rules, f"have options of {kind}")
    datasets = content.get("datasets", ())
    for name in () if datasets == "all" else datasets:
        file = name.partition("::")[0]
        if not (file in DATASET_NAMES or Path(file).is_file()):
            with suppress(FileNotFoundError):  # files are opened later, names are checked here
                load_data(file)
    variation_rules = {name: _METHOD_RULES[name] for name in VARIATIONS}
    for protocol, overridden in content.get("rules", {}).items():
        yield from _table_conditions(overridden, variation_rules, (), f"have rules of {protocol}")


def _table_conditions(
    given: Content, rules: Mapping[str, _Rule], required: Collection[str], what: str
) -> Iterator[Condition]:
    for name, (words, holds) in rules.items():
        if name in given or name in required:
            value = given.get(name)
            yield holds(value), f"give {name} as {words}", value, "Correct it"
    for name in given:
        yield name in rules, f"{what} only {', '.join(rules)}", name, "Leave it out"


def entry_conditions(entry: Content) -> Iterator[Condition]:
    """Yield the conditions for an entry under [[methods]], which may contain lists."""
    method, names = entry.get("method"), tuple(PARAMETERS)
    yield method in names, f"use methods of {', '.join(names)}", method, "Choose one"
    for name, value in entry.items():
        yield value != [], f"give {name} a value", value, "Put one into the list"


def method_conditions(method: Content) -> Iterator[Condition]:
    """Yield the conditions for the parameters of a method, alone and together."""
    name = method["method"]
    rules = {parameter: _METHOD_RULES[parameter] for parameter in PARAMETERS[name]}
    yield from _table_conditions(method, rules, _REQUIRED[name], f"give {name} methods")
    if name != "liquid":
        return
    mechanism, n_voters, n_final = (method[k] for k in ("mechanism", "n_estimators", "n_final"))
    divides = MECHANISMS["proportional_weighted"].probability  # by a weight that may be zero
    is_divided = mechanism_named(mechanism).probability is divides
    scores_one_pass = not method.get("final_fit", True)
    rule = "leave out the final fit where it has other_weights, which are for votes after one pass"
    is_possible = scores_one_pass or not method.get("other_weights", False)
    yield is_possible, rule, True, "Set final_fit = false"
    is_possible = not (is_divided and method.get("weight_of") == "candidate")
    rule = "compare the weight of gurus in mechanisms that divide by it, or are revocable"
    yield is_possible, rule, mechanism, "Leave out weight_of"
    rule = f"give n_final as no more than n_estimators, {n_voters}"
    yield n_final <= n_voters, rule, n_final, "Lower n_final or raise n_estimators"


def joint_conditions(content: Content, methods: Methods) -> Iterator[Condition]:
    """Yield the conditions for all methods of a file together, by how they are shown."""
    kind, part = content["kind"], content.get("slice")
    if kind in WITHOUT_TRIALS:
        return
    yield len(methods) > 0, "give a slice that leaves some methods", part, "Give another, or none"
    rule = "have methods that differ by more than their labels"
    for k, method in enumerate(methods):
        yield method not in methods[:k], rule, method, "Leave one of the two out"
        is_liquid = method["method"] == "liquid" or kind not in ("curves", "search", "weights")
        yield is_liquid, f"have liquid methods only in {kind}", method, "Leave it out"
    if shown := _NEEDED_PARTS.get(content.get("measure", kind)):
        is_there = all(_has(method, shown, content["protocols"]) for method in methods)
        yield is_there, f"have the {shown} that it shows", False, f"Set {shown} = true"
    if conditions := _KIND_CONDITIONS.get(kind):
        protocols = content["protocols"]
        yield len({*protocols}) == 1, f"have one protocol in {kind}", protocols, "Choose one"
        yield from conditions(content, methods)


def _has(method: Content, part: str, protocols: Sequence[str]) -> bool:
    """Return whether training has a final fit, or records curves, as ``liquid`` decides."""
    goes_on = method.get("goes_on", any(PROTOCOLS[name].goes_on for name in protocols))
    has_curves = not (goes_on and method.get("final_fit", True))
    defaults = {"final_fit": True, "curves": has_curves, "other_weights": False}
    return bool(method.get(part, defaults[part]))


def _search_conditions(content: Content, methods: Methods) -> Iterator[Condition]:
    """Yield the conditions for one accuracy per mechanism in each cell of one triangle."""
    levels = {axis: sorted({method[axis] for method in methods}) for axis in AXES}
    for axis, values in levels.items():
        rule = f"give {axis} as a list, being an axis of the search"
        yield len(values) > 1, rule, values[0], "Add another value"
    cells = [tuple(method[axis] for axis in AXES) for method in methods]
    pairs = {(method["mechanism"], cell) for method, cell in zip(methods, cells, strict=True)}
    rule = f"have methods in a search that differ only in mechanism, {', '.join(AXES)}"
    yield len(pairs) == len(methods), rule, methods[0], "Search the others in another file"
    totals = sorted({sum(map(list.index, levels.values(), cell)) for cell in cells})
    rule = "give a slice, the sum of the positions of each cell in its lists, to make a triangle"
    yield len(totals) == 1, rule, content.get("slice"), f"Choose one of {totals}"


def _variation_conditions(content: Content, methods: Methods) -> Iterator[Condition]:
    """Yield the conditions under which the methods can be compared by what they vary."""
    varied = content["vary"]
    for method, name in product(methods, varied):
        yield name in method, f"give every method {name}, which it varies", method, "Add it"
    names = ("mechanism", "estimator", *AXES[:2], *varied)
    sizes = [m["n_estimators"] if m["method"] == "adaboost" else None for m in methods]
    cells = {(*map(m.get, names), size) for m, size in zip(methods, sizes, strict=True)}
    rule = f"have methods that differ in {', '.join(names)}"
    yield len(cells) == len(methods), rule, methods[0], "Put the others into another file"
    has_direct = any(method.get("mechanism") == "direct" for method in methods)
    is_possible = has_direct or content.get("measure") != "cost"
    yield is_possible, "have direct, to which costs are relative", None, "Add it"


def _weight_conditions(_: Content, methods: Methods) -> Iterator[Condition]:
    """Yield the condition that mechanism and setting name a method."""
    names = ("mechanism", *AXES[:2])
    cells = {tuple(map(method.get, names)) for method in methods}
    rule = f"have methods that differ in {', '.join(names)}"
    yield len(cells) == len(methods), rule, methods[0], "Put the others into another file"


_KIND_CONDITIONS = {
    "search": _search_conditions,
    "variations": _variation_conditions,
    "weights": _weight_conditions,
}
