"""The replay: its page as text, from what it is made, and where it is written."""

import hashlib
import json
import re
from html import unescape
from pathlib import Path

import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_records import chain, many, record_of

from skliquid import LiquidEnsembleClassifier
from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.record import TrainingRecord, VoterDescription
from skliquid.plotting.replay import Replay, replay

SOURCES = Path(__file__).parents[2] / "tools" / "replay"
PAGE = Path(replay.__code__.co_filename).parent / "replay_page"


def data_on(page):
    """Return the data that a page holds."""
    return json.loads(re.search('id="record">(.*?)</script>', page, re.DOTALL)[1])


def test_a_replay_of_350_voters_and_50_increments_is_small():
    page = Replay.of(many(350, 50)).page()
    assert len(page.encode()) < 1_000_000
    assert len(json.dumps(data_on(page), separators=(",", ":"))) < 300_000


def test_the_same_record_gives_the_same_bytes(binary):
    options = {"n_estimators": 6, "n_final": 2, "random_state": 0}
    pages = [
        Replay.of(LiquidEnsembleClassifier(SGDClassifier(), **options).fit(*binary).record_).page()
        for _ in range(2)
    ]
    assert pages[0] == pages[1]


def test_texts_cannot_break_out_of_the_page():
    record = chain()
    evil = "</script><!-- \u2028 <b>&"
    record.voters = tuple(VoterDescription(evil, evil, {evil: evil}) for _ in range(4))
    record.stopped = evil
    page = Replay.of(record, title=evil).page()
    assert evil not in page
    assert "\u2028" not in page.split("</h1>")[1]
    assert page.count("</script>") == 2
    assert data_on(page)["estimators"] == [evil]
    assert unescape(re.search("<title>(.*?)</title>", page, re.DOTALL)[1]) == evil


def test_the_page_names_no_other_place():
    page = Replay.of(chain()).page()
    addresses = set(re.findall(r"https?://[^\s'\"<>)]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # a name, not a place to go to
    assert "default-src 'none'" in page


@pytest.mark.parametrize(
    ("n_left", "title"),
    [
        (2, "How 4 voters became 2 representatives"),
        (1, "How 4 voters became 1 representative"),
        (4, "4 voters, all of them representatives"),
    ],
    ids=["some", "one", "all"],
)
def test_the_title_says_what_training_led_to(n_left, title):
    start = DelegationGraph.direct(4)
    after = start.delegate(range(4 - n_left), to=[3] * (4 - n_left)) if n_left < 4 else start
    assert Replay.of(record_of([start, after])).title == title


def test_notebooks_get_a_frame_with_the_page():
    shown = Replay.of(chain(), title='A "title"')
    frame = shown._repr_html_()
    assert frame.startswith("<iframe")
    assert "http" not in frame.split("srcdoc")[0]
    assert unescape(re.search('srcdoc="([^"]*)"', frame)[1]) == shown.page()


def test_a_replay_is_made_of_all_that_was_trained(binary, tmp_path):
    X, y = binary
    ensemble = LiquidEnsembleClassifier(SGDClassifier(), n_estimators=4, n_final=2, random_state=0)
    pipeline = make_pipeline(StandardScaler(), ensemble).fit(X, y)
    fitted = pipeline[-1]
    streamed = type("StreamedModel", (), {"ensemble": fitted})()
    search = type("Search", (), {"best_estimator_": pipeline})()
    trained = [fitted, pipeline, make_pipeline(pipeline), search, streamed, fitted.record_]
    paths = [replay(one, tmp_path / f"{k}.html", title="t") for k, one in enumerate(trained)]
    assert len({path.read_text("utf-8") for path in paths}) == 1


def test_saving_replaces_a_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "new" / "replay.html"
    assert replay(chain(), str(path)) == path
    assert replay(chain(), path, title="Again") == path
    assert "<title>Again</title>" in path.read_text("utf-8")
    assert [file.name for file in path.parent.iterdir()] == ["replay.html"]


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(ValueError, match=r"path must be a file: .* is a folder\. Give a name"):
        replay(chain(), tmp_path)


@pytest.mark.parametrize("other", [None, 3, SGDClassifier()], ids=["none", "number", "another"])
def test_something_else_is_refused(other, tmp_path):
    with pytest.raises(TypeError, match=r"trained must be a fitted ensemble, .*: got "):
        replay(other, tmp_path / "replay.html")


def test_what_is_not_fitted_is_refused(tmp_path):
    for one in (LiquidEnsembleClassifier(), make_pipeline(LiquidEnsembleClassifier())):
        with pytest.raises(ValueError, match=r"must be fitted: this Liquid.* is not fitted yet\."):
            replay(one, tmp_path / "replay.html")
    with pytest.raises(ValueError, match="must have an increment: got none"):
        replay(TrainingRecord(n_final=1), tmp_path / "replay.html")


def test_the_bundle_is_built_from_the_present_sources():
    if not SOURCES.is_dir():
        pytest.skip("the sources of the page are not in this copy")
    digest = hashlib.sha256()
    names = [f"src/{path.name}" for path in (SOURCES / "src").iterdir()]
    for name in sorted([*names, "build.js", "package-lock.json"]):
        digest.update(f"{name}\n".encode() + (SOURCES / name).read_bytes())
    first_line = (PAGE / "bundle.js").read_text("utf-8").splitlines()[0]
    assert first_line == f"/* sources {digest.hexdigest()} */", "run: make replay-page"
