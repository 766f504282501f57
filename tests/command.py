"""The command line, run in this process or in another one."""

import subprocess
import sys

import click
from click.testing import CliRunner

from thresher.cli.main import app

runner = CliRunner()

TICKETS = [
    ("printer", "out of toner and it jams", "hardware"),
    ("screen", "the monitor flickers", "hardware"),
    ("password", "cannot log in to my account", "access"),
    ("login", "account is locked after password change", "access"),
    ("invoice", "charged twice on my card", "billing"),
    ("refund", "please refund the second invoice", "billing"),
]


def commands(group):
    """Return the verbs of the command line, or of a verb that has some, by name."""
    context = click.Context(group)
    return {name: group.get_command(context, name) for name in group.list_commands(context)}


def run(*words, status=0, input=None):
    """Run the command line in this process and return its stdout."""
    result = runner.invoke(app, [str(word) for word in words], input=input)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == status, result.stderr + result.stdout
    return result.stdout if status == 0 else result.stderr


def shell(*words, **more):
    """Run the command line in a process of its own."""
    command = [sys.executable, "-m", "thresher", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)
