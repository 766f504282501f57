"""The command line: the library's verbs, one file each."""

from __future__ import annotations

import sys
import warnings

from thresher.cli import common, process
from thresher.cli.common import verb as verb  # for verbs of other packages
from thresher.cli.program import PROGRAM, app
from thresher.errors import ThresherWarning
from thresher.limits import address_space

LEAST_MEMORY = 480 << 20  # bytes of address space; with less, libraries cannot be loaded or abort


def main() -> None:
    """Run the command line."""
    warnings.showwarning = lambda message, *where: _warn(message)
    try:
        if (address_space() or LEAST_MEMORY) < LEAST_MEMORY:  # libraries would abort the process
            raise MemoryError
        app(prog_name=PROGRAM)
    except (KeyboardInterrupt, Exception) as problem:  # before a verb began, as in its help
        sys.exit(common.answer(problem))
    except SystemExit:
        if process.is_deserted():
            sys.exit(141)
        raise


def _warn(warning: Warning | str) -> None:
    from thresher.cli._options import as_option

    message = str(warning)
    if isinstance(warning, ThresherWarning):
        message = warning.message(as_option)
    common.say(f"thresher: {message}")
