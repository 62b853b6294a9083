"""Three moments of a replay as one picture, which the README shows.

    python tools/replay_stills.py out/docs/_static/replay.html docs/_static/replay.png

The page is one that ``skliquid.replay`` wrote. It needs chromium, and the extra ``docs``.
"""

import argparse
import io
import shutil
from pathlib import Path
from textwrap import fill

import matplotlib.pyplot as plt
from matplotlib.image import imread
from playwright.sync_api import Page, sync_playwright

MOMENTS = (0.0, 0.45, 1.0)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu"]
SHOW = """at => {
    slider.value = Math.round(at * slider.max);
    slider.dispatchEvent(new Event('input'));
}"""
BACKGROUND = "#fbfcfd"  # that of the page
SETTLED = 3000
"""Milliseconds until the voters have come to rest."""


def stills(replay: Path) -> list[tuple[str, bytes]]:
    """Return what the page says at each moment, and its picture."""
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 950, "height": 860}, device_scale_factor=2)
        page.goto(replay.resolve().as_uri())
        found = [_still(page, at) for at in MOMENTS]
        browser.close()
    return found


def _still(page: Page, at: float) -> tuple[str, bytes]:
    page.evaluate(SHOW, at)
    page.wait_for_timeout(SETTLED)
    sentence = page.locator("#sentence").inner_text()
    return sentence, page.locator("#canvas").screenshot()


def draw(found: list[tuple[str, bytes]], path: Path) -> None:
    """Draw the pictures side by side, each below its sentence."""
    figure, axes = plt.subplots(1, len(found), figsize=(12, 4.3), layout="constrained")
    figure.set_facecolor(BACKGROUND)
    for ax, (sentence, picture) in zip(axes, found, strict=True):
        ax.imshow(imread(io.BytesIO(picture)))
        ax.set_title(fill(sentence, 44), fontsize=11)
        ax.set_axis_off()
    figure.savefig(path, dpi=130, metadata={"Software": None})


def main() -> None:
    """Read the arguments, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("replay", type=Path)
    parser.add_argument("picture", type=Path)
    options = parser.parse_args()
    draw(stills(options.replay), options.picture)


if __name__ == "__main__":
    main()
