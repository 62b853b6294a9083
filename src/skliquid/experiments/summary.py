"""The summary: what was run, what agrees with the paper and what does not, in a minute."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape

import pandas as pd

from skliquid.experiments.agreement import (
    MEASURES,
    Agreement,
    differences,
    published_beside_measured,
)
from skliquid.experiments.claims import Claim, claims
from skliquid.experiments.estimates import EMPTY, Shown, datasets_of, number_text, trials_of_each
from skliquid.experiments.findings import findings
from skliquid.experiments.page import counted, grid, items, link
from skliquid.experiments.tables import TITLES
from skliquid.experiments.variations import nearest_variations
from skliquid.experiments.verdicts import STATES, Verdict

Anchors = Mapping[str, str]
"""The places of experiments on the page, by name."""

_ENOUGH_TRIALS = 10
_MOST_DIFFERENCES = 5
_FEW = 3
_PLURALS = {"accuracy": "accuracies", "cost": "costs"}


def summary_html(
    shown: Shown,
    left_out: Sequence[str],
    n_failed: int,
    anchors: Anchors,
    draw: Callable[[pd.DataFrame], str],
) -> str:
    """Return what can be said of these results, and nothing of what was not run.

    ``draw`` returns the figure of published and measured values.
    """
    found, values = claims(shown), published_beside_measured(shown)
    delegating = values[~values["is_boosted"]] if len(values) else values
    tiles: list[str] = []
    parts = [power_note(shown, delegating), claim_table(found, anchors)]
    if len(values):
        tiles += agreement_tiles(delegating)
        parts += [
            '<h3 id="agreement">Agreement with the published numbers</h3>',
            agreement_table(shown, values, anchors),
            draw(delegating) if len(delegating) else "",
            difference_list(shown, values, anchors),
        ]
    tiles += claim_tile(found)
    if n_failed:
        tiles.append(tile(counted(n_failed, "trial"), "failed in all attempts", "run", "bad"))
    summarized = {claim.experiment for claim in found} | {*values.get("experiment", [])}
    parts += [open_rules_table(shown, anchors), other_findings(shown, summarized, anchors)]
    shown_tiles = f'<div class="tiles">{"".join(tiles)}</div>' if tiles else ""
    return "".join([f"<p>{escape(run_sentence(shown, left_out))}</p>", shown_tiles, *parts])


def run_sentence(shown: Shown, left_out: Sequence[str]) -> str:
    """Return in a sentence what was run."""
    results = [pair for _, pairs in shown for pair in pairs]
    datasets, trials = datasets_of(results), {trial.key: r for trial, r in results}
    parts = [_named("experiment", [experiment.name for experiment, _ in shown])]
    if trials:
        each = _range(trials_of_each(pairs) for _, pairs in shown if pairs)
        parts.append(f"{counted(len(trials), 'trial')} ({each} of each method)")
        parts.append(_named("dataset", datasets))
    left = f" Left out, not available: {', '.join(left_out)}." if left_out else ""
    seconds = sum(result.get("seconds", 0) for result in trials.values())
    took = f" Training took {_duration(seconds)} of one core." if seconds else ""
    return f"{', '.join(parts)}.{took}{left}"


def _named(thing: str, names: Sequence[str]) -> str:
    """Return the number of things, and their names if they are few."""
    few = f" ({', '.join(names)})" if len(names) <= _FEW else ""
    return f"{counted(len(names), thing)}{few}"


def _range(numbers: Iterator[int]) -> str:
    ends = sorted(numbers)
    return " to ".join(dict.fromkeys(map(str, (ends[0], ends[-1]))))


def _duration(seconds: float) -> str:
    if seconds < 120:
        return counted(max(round(seconds), 1), "second")
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


def power_note(shown: Shown, delegating: pd.DataFrame) -> str:
    """Return a warning if there are few trials, with what they cannot show; else nothing."""
    counts = [trials_of_each(results) for _, results in shown if results]
    if not counts or min(counts) >= _ENOUGH_TRIALS:
        return ""
    thing = "trial" if max(counts) == 1 else "trials"
    words = [f"Means are over {_range(iter(counts))} {thing}, so the power is small."]
    if len(delegating) and (agreement := Agreement.of("accuracy", delegating)).n_values:
        error = number_text(agreement.two_errors)
        words.append(
            f"Two standard errors of an accuracy are {error} in the median: smaller differences "
            "cannot be told from chance."
        )
    if min(counts) == 1:
        words.append("A single trial has no standard error.")
    more = "<code>skliquid reproduce --full</code> runs as many trials as the paper."
    return f'<p class="warning"><b>Few trials.</b> {escape(" ".join(words))} {more}</p>'


# Agreement with the published values


def agreement_tiles(values: pd.DataFrame) -> Iterator[str]:
    """Yield how many published values of delegating ensembles agree, one tile per measure."""
    for measure in MEASURES:
        part = Agreement.of(measure, values)
        if part.n_values:
            words = (
                f"published {_PLURALS[measure]} are within two standard errors of ours; about "
                f"{part.n_expected:.0f} would be if only chance differed"
            )
            yield tile(f"{part.n_within} of {part.n_values}", words, "agreement")


def tile(number: str, words: str, anchor: str, look: str = "") -> str:
    """Return a large number with what it means, as a link."""
    start = f'<a class="tile {look}" href="#{anchor}">'
    return f"{start}<b>{escape(number)}</b> {escape(words)}</a>"


def agreement_table(shown: Shown, values: pd.DataFrame, anchors: Anchors) -> str:
    """Return the agreement of each of the paper's tables that was run, and of all together."""
    rows = []
    for experiment, results in shown:
        of_one = published_beside_measured([(experiment, results)])
        if len(of_one):
            name = link(anchors[experiment.name], experiment.title)
            rows.append([name, *_agreement_cells(of_one[~of_one["is_boosted"]])])
    delegating, boosted = (values[values["is_boosted"] == flag] for flag in (False, True))
    if len(rows) > 1:
        rows.append(["all of them, each value once", *_agreement_cells(delegating)])
    if len(boosted):
        rows.append(["AdaBoost", *_agreement_cells(boosted)])
    header = ["Delegating ensembles in"]
    for words in _PLURALS.values():
        header += [f"{words} within 2 s.e.", "expected", "mean distance"]
    caption = (
        "Published values within two standard errors (s.e.) of our means, under their rules; how "
        "many to expect if both are means of trials from one distribution; and the mean distance. "
        "Direct's cost, 1 by definition, is left out."
    )
    return grid(header, rows, caption)


def _agreement_cells(values: pd.DataFrame) -> Iterator[str]:
    for measure in MEASURES:
        part = Agreement.of(measure, values)
        yield f"{part.n_within} of {part.n_values}" if part.n_values else EMPTY
        yield f"{part.n_expected:.0f}" if part.n_values else EMPTY
        yield number_text(part.mean_distance, digits=4)


def difference_list(shown: Shown, values: pd.DataFrame, anchors: Anchors) -> str:
    """Return where ours differ most, beyond two standard errors; nothing if nowhere."""
    titles = {experiment.name: experiment.title for experiment, _ in shown}
    n_all = int(values["differs"].sum())
    furthest = differences(values, _MOST_DIFFERENCES)
    texts = [
        f"{escape(row['dataset'])}, {escape(row['ensemble'])}: {row['measure']} "
        f"{row['mean']:.3f} ± {row['standard_error']:.3f}, published {row['published']:.3f} "
        f"({link(anchors[row['experiment']], titles[row['experiment']])})"
        for row in furthest.to_dict("records")
    ]
    if not texts:
        return ""
    which = f"the {len(texts)} furthest of {n_all}" if n_all > len(texts) else "all"
    return f"<h3>Where ours differ: {which}</h3>{items(texts)}"


# Claims, and what the text leaves open


def claim_tile(found: Sequence[Claim]) -> Iterator[str]:
    """Yield a tile with how many claims hold under the rules that come first."""
    if found:
        states = Counter(next(iter(claim.verdicts.values())).state for claim in found)
        n_holding, *others = (states[state] for state in STATES)
        named = zip(others, ("in part", "not", "open"), strict=True)
        rest = ", ".join(f"{n} {word}" for n, word in named if n)
        words = f"claims of the paper hold{'; ' * bool(rest)}{rest}"
        yield tile(f"{n_holding} of {len(found)}", words, "claims")


def claim_table(found: Sequence[Claim], anchors: Anchors) -> str:
    """Return the claims, what is published, and the verdict by the rules of trials."""
    if not found:
        return ""
    protocols = [name for name in TITLES if any(name in claim.verdicts for claim in found)]
    rows = [
        [
            link(anchors[claim.experiment], claim.words),
            escape(claim.published),
            *(_verdict_cell(claim.verdicts.get(protocol)) for protocol in protocols),
        ]
        for claim in found
    ]
    header = ["Claim of the paper", "published", *(f"measured, {TITLES[p]}" for p in protocols)]
    table = grid(header, rows, _claim_caption(found))
    return f'<h3 id="claims">Claims of the paper</h3>{table}'


def _claim_caption(found: Sequence[Claim]) -> str:
    texts = []
    if any(verdict.numbers for claim in found for verdict in claim.verdicts.values()):
        texts.append(
            "On a dataset a claim holds or fails if the confidence interval of 95 % says so; else "
            "it is open. In brackets: the smallest and the largest lead."
        )
    if any("Prop W" in claim.words for claim in found):
        texts.append(
            "Prop W is Proportional Weighted: Acc at u = 65 and rate 0.05, Cost at u = 25 and rate "
            "0.85. Costs are relative to Direct's."
        )
    return " ".join(texts)


def _verdict_cell(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    badge = f'<span class="verdict {verdict.state}">{verdict.state}</span>'
    words = "; ".join(filter(None, [verdict.where, verdict.numbers]))
    return f"{badge} {escape(words)}"


def open_rules_table(shown: Shown, anchors: Anchors) -> str:
    """Return which reading of the rules that the text leaves open comes nearest."""
    rows = []
    for experiment, results in shown:
        if experiment.kind == "variations" and results:
            nearest = nearest_variations(experiment, results)[:2]
            texts = [f"{escape(name)} ({distance:.4f})" for distance, _, _, name in nearest]
            if texts:
                question = link(anchors[experiment.name], experiment.title)
                rows.append([question, experiment.measure, *texts, *[EMPTY] * (2 - len(texts))])
    if not rows:
        return ""
    header = ["Question", "measure", "nearest to the published", "next"]
    caption = "In brackets: the mean distance to the published values."
    return f"<h3>Rules that the text leaves open</h3>{grid(header, rows, caption)}"


def other_findings(shown: Shown, summarized: set[str], anchors: Anchors) -> str:
    """Return findings of the experiments that are not ``summarized`` otherwise."""
    texts = [
        f"{link(anchors[experiment.name], experiment.name)}: {escape(sentence)}"
        for experiment, results in shown
        if experiment.name not in summarized and experiment.kind != "variations"
        for sentence in findings([(experiment, results)])
    ]
    return items(texts)
