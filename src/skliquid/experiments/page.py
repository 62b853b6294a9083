"""The page: tables, figures, facts and links as HTML."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from urllib.parse import quote

from skliquid.experiments.estimates import MARK
from skliquid.experiments.tables import Table
from skliquid.experiments.trial import Trial

_MOST_ROWS = 40  # of a table that is shown without being asked for


def section(anchor: str, title: str, parts: Iterable[str]) -> str:
    """Return a section with a title that links to itself."""
    heading = f'<h2><a href="#{anchor}">{escape(title)}</a></h2>'
    return f'<section id="{anchor}">{heading}{"".join(parts)}</section>\n'


def counted(n: int, thing: str) -> str:
    """Return a number of things in words, "1 trial" or "2 trials"."""
    return f"{n:,} {thing}{'s' * (n != 1)}"


def link(anchor: str, words: str) -> str:
    """Return a link to a place on the page."""
    return f'<a href="#{anchor}">{escape(words)}</a>'


def items(texts: Iterable[str]) -> str:
    """Return a list of texts that are HTML already; nothing for none."""
    shown = "".join(f"<li>{text}</li>" for text in texts)
    return f"<ul>{shown}</ul>" if shown else ""


def grid(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table of cells that are HTML already; on narrow screens a row is a list."""
    title = f'<p class="caption">{caption}</p>' if caption else ""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = ""
    for row in rows:
        named = zip(header, row, strict=True)
        cells = (f'<td data-name="{escape(name)}">{cell}</td>' for name, cell in named)
        body = f"{body}<tr>{''.join(cells)}</tr>"
    table = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'{title}<div class="wide"><table class="stacked">{table}</table></div>'


def table_html(table: Table, files: Sequence[str]) -> str:
    """Return a table with links to its files; a long one opens when it is clicked."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.header)
    body, last = "", None
    for row in table.rows:
        cells = (f"<td{' class=far' * c.endswith(MARK)}>{escape(c)}</td>" for c in row)
        start = ' class="first"' if row[0] != last else ""
        body, last = f"{body}<tr{start}>{''.join(cells)}</tr>", row[0]
    content = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    shown = f'<div class="wide" tabindex="0">{content}</div>'
    if len(table.rows) > _MOST_ROWS:
        words = f"{table.title}: all {len(table.rows)} rows"
        shown = f"<details><summary>{escape(words)}</summary>{shown}</details>"
    caption = f'<p class="caption">{escape(table.caption)} {_links(files)}</p>'
    return f"<div>{caption}{shown}</div>"


def figure_html(caption: str, svg: bytes, files: Sequence[str]) -> str:
    """Return a figure that is part of the page, with links to its files."""
    words = escape(caption)
    source = quote(svg.decode().replace("\n", " "), safe=" /:=;,+()'-._")  # shorter than base64
    image = f'<img decoding="async" alt="{words}" src="data:image/svg+xml,{source}">'
    return f"<figure>{image}<figcaption>{words} {_links(files)}</figcaption></figure>"


def _links(files: Sequence[str]) -> str:
    links = (
        f'<a href="{escape(quote(file))}">{escape(file.rpartition(".")[2].upper())}</a>'
        for file in files
    )
    return f'<span class="files">{" ".join(links)}</span>'


def replay_html(anchor: str, dataset: str, words: str, file: str) -> str:
    """Return a replay that is loaded when it is opened."""
    address, name = escape(quote(file)), escape(dataset)
    return (
        f'<details class="replay" id="{anchor}"><summary><b>{name}</b> {escape(words)}</summary>'
        f'<iframe title="Replay: {name}" data-src="{address}"></iframe>'
        f'<p class="note"><a href="{address}">On a page of its own</a></p></details>'
    )


def facts_html(facts: Mapping[str, str]) -> str:
    """Return names and texts in two columns."""
    rows = (f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in facts.items())
    return f'<table class="facts">{"".join(rows)}</table>'


def failures_html(failed: Sequence[tuple[Trial, str]]) -> str:
    """Return the trials that failed with their errors; nothing for none."""
    if not failed:
        return ""
    texts = items(
        f"{escape(f'{t.data}, {t.protocol}, {dict(t.method)}, number {t.number}')}"
        f"<pre>{escape(error)}</pre>"
        for t, error in failed
    )
    return f"<h3>{counted(len(failed), 'trial')} failed in all attempts</h3>{texts}"
