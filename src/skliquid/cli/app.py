"""The commands of ``skliquid``, each imported when it is typed."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from skliquid import __version__

COMMANDS = {
    "train": "train",
    "predict": "predict",
    "datasets": "listings",
    "mechanisms": "listings",
}
"""Commands, and the module of this folder that has a function of that name."""


def app_for(words: Sequence[str]) -> typer.Typer:
    """Return the commands: only the one that was typed, if any, as the others take memory."""
    app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
    app.callback(invoke_without_command=True)(_skliquid)
    for name in words[:1] if set(words[:1]) & set(COMMANDS) else COMMANDS:
        app.command(name)(_command(name))
    return app


def _skliquid(
    *, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    """Ensembles that prune themselves while they train."""
    if version:
        typer.echo(__version__)
        raise typer.Exit


def _command(name: str) -> Callable[..., Any]:
    try:
        module = import_module(f"skliquid.cli.{COMMANDS[name]}")
        command: Callable[..., Any] = getattr(module, name)
    except ImportError as error:
        text = f"Needs {error.name}, which is not installed: pip install 'skliquid[stream]'."

        def command() -> None:
            typer.echo(text, err=True)
            raise typer.Exit(1)

        command.__doc__ = "Needs the extra stream, which is not installed."
    return command
