"""How many frames per second does a replay show, and how large is its page?

A replay of 350 voters and 50 increments plays in headless Chromium, which draws without a graphics
card. Frames are counted while it plays at normal speed, from the start, where the most moves.
"""

import argparse
import shutil
import tempfile
from pathlib import Path
from time import perf_counter

from playwright.sync_api import Browser, sync_playwright
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table
from sklearn.preprocessing import StandardScaler

from skliquid import LiquidEnsembleClassifier, replay
from skliquid.datasets import load_dataset

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SIZES = {"desktop": (1400, 900), "phone": (400, 800)}
INCREMENTS, INCREMENT_SIZE = 50, 65
COUNT_FRAMES = """async (seconds) => {
    const rates = [];
    replay.player.play();
    for (let second = 0; second < seconds; second++) {
        const [frames, start] = [replay.frames, performance.now()];
        await new Promise((done) => setTimeout(done, 1000));
        rates.push((replay.frames - frames) / (performance.now() - start) * 1000);
    }
    return rates;
}"""


def write_page(folder: str) -> Path:
    """Write the replay of the paper's ensemble on the first rows of spambase."""
    data = load_dataset("spambase")
    X = StandardScaler().fit_transform(data.X)[: INCREMENTS * INCREMENT_SIZE]
    ensemble = LiquidEnsembleClassifier.as_in_the_paper(random_state=0)
    return replay(ensemble.fit(X, data.y[: len(X)]), Path(folder) / "replay.html")


def measure(browser: Browser, path: Path, size: tuple[int, int], seconds: int) -> list[float]:
    """Return the seconds until the page is there, and the mean and the lowest frame rate."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    started = perf_counter()
    page.goto(path.as_uri())
    page.evaluate("new Promise(requestAnimationFrame)")
    loaded = perf_counter() - started
    rates = page.evaluate(COUNT_FRAMES, seconds)
    page.close()
    return [loaded, sum(rates) / len(rates), min(rates)]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seconds", type=int, default=20, help="of playing, per size")
    options = arguments.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    table = Table("", "loaded (s)", "frames per second", "in the slowest second", box=MARKDOWN)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = write_page(folder)
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, size in SIZES.items():
            loaded, mean, lowest = measure(browser, path, size, options.seconds)
            table.add_row(name, f"{loaded:.2f}", f"{mean:.0f}", f"{lowest:.0f}")
        browser.close()
        n_bytes = path.stat().st_size
    Console(width=100).print(table, f"The page has {n_bytes / 1000:.0f} kB.")


if __name__ == "__main__":
    main()
