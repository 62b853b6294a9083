"""What the page of a replay does in a real browser."""

import re

import pytest
from chromium import launched, needs_chromium
from small_records import chain, many

from skliquid.plotting.replay import Replay
from skliquid.plotting.replay_data import replay_data

TIME = "replay.player.time"

pytestmark = [
    needs_chromium,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Addresses of two replays: of four voters with a chain, and of 40 voters."""
    folder = tmp_path_factory.mktemp("replays")
    large = many(40, 6)
    large.final_fit_cost, large.final_eval_accuracy = 5000, 0.987
    return {
        "chain": Replay.of(chain()).save(folder / "chain.html").as_uri(),
        "many": Replay.of(large).save(folder / "many.html").as_uri(),
    }


@pytest.fixture
def opened(browser, pages):
    """Open pages, and check in the end that none had errors or asked for anything else."""
    tabs, errors, asked = [], [], []

    def open_page(name="chain", ending="", **options):
        options = {"viewport": {"width": 1400, "height": 900}, **options}
        tab = browser.new_context(**options).new_page()
        tab.set_default_timeout(20_000)
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.on("console", lambda message: errors.append(message.text))
        tab.goto(pages[name] + ending)
        tabs.append(tab)
        return tab

    yield open_page
    for tab in tabs:
        tab.context.close()
    assert not errors
    assert {re.split("[#?]", url)[0] for url in asked if not url.startswith("data:")} <= set(
        pages.values()
    )


def wait_for(tab, condition):
    """Wait until something is true; the page's policy refuses what playwright would do for it."""
    tab.evaluate(
        f"""new Promise((done, fail) => {{
            const end = performance.now() + 20000;
            const late = () => performance.now() > end && fail(Error("never: " + {condition!r}));
            const look = () => ({condition}) ? done() : late() || setTimeout(look, 15);
            look();
        }})"""
    )


def test_playing_goes_on_until_it_is_paused(opened):
    tab = opened()
    assert tab.evaluate(TIME) == 0
    tab.click("#play")
    frames = tab.evaluate("replay.frames")
    wait_for(tab, f"{TIME} > 0.2 && replay.frames > {frames} + 3")
    wait_for(tab, "document.querySelector('#play').ariaLabel === 'Pause'")
    tab.click("#play")
    time = tab.evaluate(TIME)
    tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert tab.evaluate(TIME) == time
    assert tab.get_attribute("#play", "aria-label") == "Play"


def test_playing_ends_at_the_end_and_begins_again(opened):
    tab = opened()
    tab.select_option("#speed", "8")
    tab.click("#play")
    wait_for(tab, f"{TIME} === replay.player.end && !replay.player.isPlaying")
    tab.click("#play")
    wait_for(tab, f"{TIME} < 1")


def test_buttons_slider_and_keys_change_the_time(opened):
    tab = opened()
    tab.select_option("#speed", "8")
    tab.click("#forward")
    wait_for(tab, f"{TIME} === 1")
    tab.keyboard.press("ArrowRight")
    wait_for(tab, f"{TIME} === 2")
    tab.click("#back")
    wait_for(tab, f"{TIME} === 1")
    tab.keyboard.press("ArrowLeft")
    wait_for(tab, f"{TIME} === 0")
    tab.keyboard.press("End")
    wait_for(tab, f"{TIME} === replay.player.end")
    tab.keyboard.press("Home")
    wait_for(tab, f"{TIME} === 0")
    tab.fill("#slider", "2")
    wait_for(tab, f"{TIME} === 2")
    tab.keyboard.press("-")
    assert tab.input_value("#speed") == "4"
    tab.keyboard.press("+")
    assert tab.input_value("#speed") == "8"
    tab.keyboard.press("Space")
    wait_for(tab, "replay.player.isPlaying")


def test_a_curve_can_be_dragged(opened):
    tab = opened()
    box = tab.locator(".chart svg").first.bounding_box()
    y = box["y"] + box["height"] / 2
    tab.mouse.move(box["x"] + 10, y)
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"], y, steps=3)
    tab.mouse.up()
    assert tab.evaluate(f"{TIME} === replay.player.end")


def test_search_finds_a_voter_and_shows_its_chain(opened):
    tab = opened()
    tab.keyboard.press("End")
    tab.fill("#slider", "2")
    tab.keyboard.press("/")
    tab.keyboard.type("linear alpha=0.000312")
    assert tab.locator("#found li").all_inner_texts() == [
        "Voter 0 linear signed_log alpha=0.000312"
    ]
    tab.keyboard.press("Enter")
    wait_for(tab, "!document.querySelector('#card').hidden")
    text = tab.inner_text("#card")
    assert "Delegates to voter 1, represented by voter 3" in text
    assert tab.inner_text("#card .chain") == "voter 0 → voter 1 → voter 3"
    assert "signed_log" in text
    assert "Increment 1: delegates to voter 1" in text
    tab.click("#card .chain button >> nth=1")
    wait_for(tab, "document.querySelector('#card').innerText.startsWith('Voter 1')")
    text = tab.inner_text("#card")
    assert "Increment 1: voter 0 delegates to it" in text
    assert "Increment 3: takes its vote back" in text
    tab.keyboard.press("Escape")
    wait_for(tab, "document.querySelector('#card').hidden")


def test_search_by_number_estimator_and_text(opened):
    tab = opened()
    cases = {"3": ["3"], "#1": ["1"], "forest": ["1"], "LINEAR": ["0", "2"], "nothing": []}
    for query, found in cases.items():
        tab.fill("#search", query)
        items = tab.locator("#found li[data-voter]")
        assert items.evaluate_all("items => items.map(item => item.dataset.voter)") == found
        assert bool(found) != tab.is_visible("#found .note")


def place(tab, voter):
    """Return where a voter is on the page."""
    box, inside = (
        tab.locator("#canvas").bounding_box(),
        tab.evaluate(f"replay.stage.placeOf({voter})"),
    )
    return box["x"] + inside["x"], box["y"] + inside["y"]


def test_a_voter_is_shown_under_the_pointer_and_pinned_by_a_click(opened):
    tab = opened()
    tab.mouse.move(*place(tab, 1))
    wait_for(tab, "!document.querySelector('#card').hidden")
    assert tab.inner_text("#card h3") == "Voter 1"
    tab.mouse.click(*place(tab, 1))
    tab.mouse.move(5, 5)
    wait_for(tab, "replay.selection.hovered === null")
    assert tab.inner_text("#card h3") == "Voter 1"
    tab.click("#card .close")
    wait_for(tab, "document.querySelector('#card').hidden")


def test_it_works_by_touch_on_a_narrow_screen(opened):
    tab = opened(viewport={"width": 400, "height": 800}, has_touch=True, is_mobile=True)
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    tab.touchscreen.tap(*place(tab, 2))
    wait_for(tab, "!document.querySelector('#card').hidden")
    assert tab.inner_text("#card h3") == "Voter 2"
    tab.tap("#card .close")
    tab.tap("#forward")
    wait_for(tab, f"{TIME} === 1")
    tab.tap("#slider")  # in its middle
    wait_for(tab, f"Math.abs({TIME} - replay.player.end / 2) < 0.1")
    tab.tap("#play")
    wait_for(tab, f"{TIME} > replay.player.end / 2 + 0.2")


def test_on_a_phone_the_controls_cover_no_text_and_lead_to_the_charts(opened):
    tab = opened("many", viewport={"width": 375, "height": 667}, has_touch=True, is_mobile=True)
    covered = """[...document.querySelectorAll('.caption, .key')].filter(
        (part) => part.getBoundingClientRect().bottom > footerTop
            && part.getBoundingClientRect().top < footerBottom)"""
    footer = "document.querySelector('footer').getBoundingClientRect()"
    sides = f"(({{top: footerTop, bottom: footerBottom}}) => {covered}.length)({footer})"
    assert tab.evaluate(sides) == 0
    assert tab.evaluate("document.querySelector('#to-panel').getBoundingClientRect().bottom") < 667
    tab.tap("#to-panel")
    wait_for(tab, f"Math.abs({footer}.top) < 1")
    top = tab.evaluate("document.querySelector('#visits').getBoundingClientRect().top")
    assert tab.evaluate(f"{footer}.bottom") <= top < 667 / 2


def test_it_is_dark_where_the_reader_prefers_it_or_asks_for_it(opened):
    background = "getComputedStyle(document.body).backgroundColor"
    dark, light = opened(color_scheme="dark"), opened(color_scheme="light")
    at_first = light.evaluate(background)
    assert dark.evaluate(background) != at_first
    light.click("#theme")
    assert light.evaluate(background) == dark.evaluate(background)
    dark.click("#theme")
    assert dark.evaluate(background) == at_first


def shown(tab, stop):
    """Return the numbers on the page at a stop: representatives, majority, visits, all visits."""
    tab.evaluate(f"replay.player.seek({stop})")
    wait_for(tab, f"replay.charts.time === {stop}")
    ids = [f"figure:has(svg[aria-label^='{name}']) output" for name in ("Repr", "Minimum")]
    texts = [tab.inner_text(selector) for selector in [*ids, "#spent", "#of-all"]]
    return [int(text.replace(",", "")) for text in texts]


def test_the_numbers_are_those_of_the_record(opened):
    tab, record = opened("many"), many(40, 6)
    visits, of_all = 0, 0.0
    for stop, one in enumerate(record, start=1):
        visits, of_all = visits + one.cost, of_all + one.cost * 40 / one.n_trained
        expected = [one.n_representatives, one.minimum_majority, visits, round(of_all)]
        assert shown(tab, stop) == expected
        n_before, n_left = len(one.before.representatives), one.n_representatives
        assert tab.inner_text("#moment") == f"Increment {stop} of 6"
        assert tab.inner_text("#sentence") == (
            f"{n_before - n_left} of {n_before} {'voters' if stop == 1 else 'representatives'} "
            f"{'delegate' if n_before - n_left > 1 else 'delegates'}; "
            f"{n_left} representatives are left."
        )
    total = visits + 5000
    assert shown(tab, 7)[2:] == [total, round(of_all) + round(5000 * 40 / n_left)]
    assert tab.inner_text("#moment") == "Final fit"
    accuracy = tab.inner_text("figure:has(svg[aria-label^='Accuracy']) output")
    assert accuracy == "0.987"


def test_the_first_frame_is_the_forest_of_the_displays(opened):
    tab, positions = opened("many"), replay_data(many(40, 6))["positions"]
    x, y = (tab.evaluate(f"Array.from(replay.stage.motion.{name})") for name in "xy")
    assert x == pytest.approx(positions[::2])
    assert y == pytest.approx([-up for up in positions[1::2]])
    tab.keyboard.press("End")
    tab.keyboard.press("Home")
    wait_for(tab, "!replay.isAwake")
    assert tab.evaluate("Array.from(replay.stage.motion.x)") == pytest.approx(x, abs=0.01)


def test_all_voters_are_on_the_stage_at_the_start_and_at_the_end(opened):
    tab = opened("many")
    for key in ("Home", "End"):
        tab.keyboard.press(key)
        wait_for(tab, "!replay.isAwake")
        places = tab.evaluate("replay.stage.everyone.map((voter) => replay.stage.placeOf(voter))")
        width, height = tab.evaluate("[replay.stage.width, replay.stage.height]")
        assert all(0 < place["x"] < width and 0 < place["y"] < height for place in places)


def test_sentences_tell_of_votes_that_are_taken_back(opened):
    tab = opened()
    tab.fill("#slider", "3")
    wait_for(tab, "document.querySelector('#sentence').innerText.includes('back')")
    assert tab.inner_text("#sentence") == "Voter 1 takes its vote back; 3 representatives are left."


def test_voters_arrive_in_the_drop_of_their_representative(opened):
    tab = opened("many")
    tab.keyboard.press("End")
    wait_for(tab, "!replay.isAwake && replay.stage.motion.hasArrived.every(Boolean)")
    radii = tab.evaluate("Array.from(replay.stage.motion.radius)")
    weights = many(40, 6)[-1].graph.weights
    areas = [radius**2 for radius in radii]
    unit = max(areas) / max(weights)
    assert areas == pytest.approx(weights * unit, abs=0.02 * unit)


def test_nothing_flies_where_the_reader_prefers_no_motion(opened):
    tab = opened(reduced_motion="reduce")
    tab.click("#forward")
    wait_for(tab, "!replay.isAwake")
    assert tab.evaluate(TIME) == 1
    assert tab.evaluate("replay.stage.motion.x.every((x, v) => x === replay.stage.target.x[v])")


def test_embedded_it_is_at_its_end_after_ten_seconds(opened):
    tab = opened("many", "#embed")
    assert tab.evaluate("replay.player.seconds") > 10
    assert tab.evaluate("replay.player.seconds / replay.player.speed") == pytest.approx(10)


@pytest.mark.parametrize("ending", ["#embed", "?embed"])
def test_embedded_it_shows_the_voters_alone_and_plays(opened, ending):
    tab = opened(ending=ending, viewport={"width": 600, "height": 400})
    wait_for(tab, f"{TIME} > 0.1")
    assert tab.is_visible("#canvas")
    assert not any(tab.is_visible(part) for part in ("#top", "#panel", "footer", "#legend"))
    assert tab.evaluate("document.documentElement.scrollHeight <= window.innerHeight")
    tab.evaluate("replay.player.seek(replay.player.end - 0.01)")
    tab.evaluate("replay.player.setSpeed(8)")
    wait_for(tab, f"{TIME} === replay.player.end && replay.player.isPlaying")


def test_it_runs_in_the_frame_of_a_notebook(browser):
    tab = browser.new_page()
    errors = []
    tab.on("console", lambda message: errors.append(message.text))
    tab.set_content(Replay.of(chain())._repr_html_())
    frame = tab.frame_locator("iframe")
    frame.locator("#last").click()
    frame.get_by_text("Final fit").wait_for()
    tab.close()
    assert not errors


def test_all_controls_have_names(opened):
    tab = opened()
    controls = "[...document.querySelectorAll('button, input, select')]"
    name = "c.getAttribute('aria-label') || c.labels?.[0]?.innerText"
    assert all(tab.evaluate(f"{controls}.map(c => {name})"))
