"""The report, made from a few real trials and read in a real browser."""

import hashlib
import os
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest
from chromium import launched, needs_chromium

from reproduction.experiment import experiment_files, load_experiment
from reproduction.process_runner import run_trials
from reproduction.report import write_report
from reproduction.trial_store import Store


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """All experiments of the paper, at a small size, on the smallest dataset."""
    out = tmp_path_factory.mktemp("out")
    plan = []
    for path in experiment_files().values():
        experiment = load_experiment(path)
        trials = list(experiment.trials(["heart"], 2))
        plan.append((experiment, trials[::7] if experiment.kind == "search" else trials))
    with Store(out / "trials.sqlite") as store:
        run_trials(store.missing(t for _, ts in plan for t in ts), store, n_jobs=2)
        page = write_report(plan, store, out, left_out=["online-shoppers"])
    return plan, out, page


def test_every_table_figure_and_replay_is_there(report):
    _, out, page = report
    tables = {path.name for path in (out / "tables").iterdir()}
    for name in ("datasets", "harmful_states", "comparison", "during_delegation_tests"):
        assert {f"{name}.md", f"{name}.tex", f"{name}.csv"} <= tables
    figures = {path.name for path in (out / "figures").iterdir()}
    for name in (
        "agreement",
        "worked_example",
        "pivotal_states",
        "delegation_cost",
        "comparison_accuracy",
        "cost_minimizing_cost",
        "parameter_search_heart",
        "during_delegation_heart_paper",
        "what_the_paper_did_not_say_distances",
    ):
        assert {f"{name}.png", f"{name}.svg"} <= figures
    assert [path.name for path in (out / "replays").iterdir()] == ["heart.html"]
    assert "Left out, not available: online-shoppers." in page.read_text()
    assert "their rules" in (out / "findings.md").read_text()


def test_every_link_leads_somewhere(report):
    plan, out, page = report
    text = page.read_text()
    names = re.findall(r'\sid="([^"]+)"', text)
    assert len(names) == len(set(names))
    links = [unquote(link) for link in re.findall(r'(?:href|data-src)="([^"]+)"', text)]
    assert {link[1:] for link in links if link.startswith("#")} <= {*names}
    assert all(f"#{experiment.name}" in links for experiment, _ in plan)
    files = [link for link in links if not link.startswith(("#", "data:"))]
    assert len(files) > 50
    assert all((out / file).is_file() for file in files)


def test_the_same_store_gives_the_same_bytes(report, tmp_path):
    plan, out, _ = report
    with Store(out / "trials.sqlite") as store:
        write_report(plan, store, tmp_path, left_out=["online-shoppers"])
    for path in sorted(tmp_path.rglob("*.*")):
        twin = out / path.relative_to(tmp_path)
        same = (
            hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(twin.read_bytes()).digest()
        )
        assert same, path.name


def test_failures_are_reported(report, tmp_path):
    plan = [pair for pair in report[0] if pair[0].name == "comparison"]
    with Store(tmp_path / "trials.sqlite") as store:
        store.add([(plan[0][1][0], None, "it <went> wrong")])
        text = write_report(plan, store, tmp_path).read_text()
    assert "1 trial failed in all attempts" in text
    assert "No trial of it has a result." in text
    assert "it &lt;went&gt; wrong" in text


def written(specs, datasets, out):
    """Run the experiments of some files on some data, two trials each, and write their report."""
    experiments = [replace(load_experiment(path), datasets=datasets) for path in specs]
    plan = [(each, list(each.trials(datasets, 2))) for each in experiments]
    with Store(out / "trials.sqlite") as store:
        missing = store.missing(t for _, trials in plan for t in trials)
        store.add([(trial, trial.run(), None) for trial in missing])
        return write_report(plan, store, out).read_text()


def test_each_target_of_a_file_has_separate_rows_and_a_separate_figure(spec, two_targets, tmp_path):
    specs = [spec("mine", protocols=["ours"]), spec("cur", kind="curves", protocols=["ours"])]
    path = two_targets()
    datasets = [f"{path}::easy", f"{path}::rand"]
    text = written(specs, datasets, tmp_path / "out")
    assert "2 trials of each method" in text
    rows = (tmp_path / "out" / "tables" / "mine.md").read_text()
    cells = [dataset.replace("_", r"\_") for dataset in datasets]
    assert [rows.count(f"| {cell} |") for cell in cells] == [2, 2]
    figures = {figure.name for figure in (tmp_path / "out" / "figures").glob("*.svg")}
    curves = {"cur_two_easy_ours.svg", "cur_two_rand_ours.svg"}
    assert figures == {*curves, "mine_accuracy.svg", "mine_cost.svg"}
    replays = {replay.name for replay in (tmp_path / "out" / "replays").iterdir()}
    assert replays == {"two_easy.html", "two_rand.html"}
    found = (tmp_path / "out" / "findings.md").read_text()
    assert f"{datasets[0]}: " in found
    assert f"{datasets[1]}: " in found


def test_files_of_one_name_have_separate_figures(spec, two_targets, tmp_path):
    datasets = [str(two_targets("a/data.csv")), str(two_targets("b/data.csv"))]
    specs = [spec("cur.v1", kind="curves", protocols=["ours"]), spec("cur.v1_ends")]
    text = written(specs, datasets, tmp_path / "out")
    images = set(re.findall('image/svg[^"]+', text))
    figures = {figure.name for figure in (tmp_path / "out" / "figures").glob("*.svg")}
    results = {"cur.v1_ends_accuracy.svg", "cur.v1_ends_cost.svg"}
    assert figures == {"cur.v1_data_ours.svg", "cur.v1_data_ours_2.svg", *results}
    assert len(images) == len(figures)
    replays = {replay.name for replay in (tmp_path / "out" / "replays").iterdir()}
    assert replays == {"data.html", "data_2.html"}
    tables = {table.name for table in (tmp_path / "out" / "tables").glob("*.md")}
    assert tables == {"cur.v1_ends.md", "cur.v1_tests.md", "cur.v1_ends_2.md"}


def test_an_experiment_may_have_the_name_of_a_part_of_the_page(spec, tmp_path):
    text = written([spec("summary", protocols=["ours"])], ["heart"], tmp_path / "out")
    names = re.findall(r'\sid="([^"]+)"', text)
    assert len(names) == len(set(names))
    assert '<a href="#summary_2">Mine</a>' in text


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@needs_chromium
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (400, "dark")])
def test_a_browser_shows_it_all_and_asks_nobody(report, browser, width, scheme):
    plan, out, page = report
    tab = browser.new_page(viewport={"width": width, "height": 1000}, color_scheme=scheme)
    asked, errors = [], []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda message: errors.append(message.text))
    tab.goto(Path(page).resolve().as_uri())
    shown = "i => i.decode().then(() => [i.naturalWidth, i.clientWidth])"
    images = tab.evaluate(f"Promise.all([...document.images].map({shown}))")
    titles = tab.evaluate("[...document.querySelectorAll('section h2')].map(h => h.innerText)")
    scroll_width = "document.documentElement.scrollWidth"
    before_replay = list(asked)
    fits = [tab.evaluate(scroll_width) <= width]
    if folder := os.environ.get("SKLIQUID_SCREENSHOTS"):
        tab.screenshot(path=f"{folder}/report_{width}.png", full_page=True)
    if width < 960:  # there the contents are behind a button, and close when one is chosen
        assert not tab.locator(".side").is_visible()
        tab.click(".bar summary")
    tab.click("nav a:visible[href='#replays']")
    assert tab.locator(".bar details").get_attribute("open") is None
    tab.click(".replay summary")
    tab.frame_locator(".replay iframe").locator("h1").wait_for()
    fits.append(tab.evaluate(scroll_width) <= width)
    tab.close()
    assert not errors
    addresses = [(out / name).resolve().as_uri() for name in ("report.html", "replays/heart.html")]
    assert [url for url in before_replay if not url.startswith("data:")] == addresses[:1]
    assert {url for url in asked if url.startswith(("file:", "http"))} == {*addresses}
    # agreement, 2 diagrams, cost, search, curves, 6 results, 4 distances, 2 of weights
    assert len(images) == 18
    assert all(min(widths) > 200 for widths in images)
    assert len(titles) == len(plan) + 3
    assert fits == [True, True]
