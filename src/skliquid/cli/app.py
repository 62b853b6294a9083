"""All commands, in one application."""

import typer

from skliquid.cli.datasets import datasets
from skliquid.cli.mechanisms import mechanisms
from skliquid.cli.reproduce import reproduce

app = typer.Typer(
    help="Ensembles that prune themselves while they train.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (reproduce, datasets, mechanisms):
    app.command()(command)
