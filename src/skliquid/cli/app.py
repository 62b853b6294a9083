"""All commands."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from skliquid import __version__

COMMANDS = {
    "train": "stream",
    "predict": "stream",
    "reproduce": "experiments",
    "datasets": "experiments",
    "mechanisms": "experiments",
}
"""Commands, each a function in a file of its name, and the extra that it needs."""


def app_for(words: Sequence[str]) -> typer.Typer:
    """Return the commands: only the one that was typed, if it is one, as the others take memory."""
    app = typer.Typer(
        help="Ensembles that prune themselves while they train.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_skliquid)
    for name in [*words][:1] if set(words[:1]) & set(COMMANDS) else COMMANDS:
        app.command(name)(_command(name))
    return app


def _tell_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(__version__)
        raise typer.Exit


def _skliquid(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Tell it.")
    ] = False,
) -> None:
    """Ensembles that prune themselves while they train."""  # a group stays one by its callback


def _command(name: str) -> Callable[..., Any]:
    try:
        command: Callable[..., Any] = getattr(import_module(f"skliquid.cli.{name}"), name)
    except ImportError as error:
        return _excuse(error, COMMANDS[name])
    return command


def _excuse(error: ImportError, extra: str) -> Callable[[], None]:
    text = f"Needs {error.name}, which is not installed: pip install 'skliquid[{extra}]'."

    def command() -> None:
        typer.echo(text, err=True)
        raise typer.Exit(1)

    command.__doc__ = f"Needs the extra {extra}, which is not installed."
    return command
