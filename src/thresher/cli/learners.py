"""thresher learners: list the learners with their parameters."""

from __future__ import annotations

from typing import Any

from thresher.cli import common


@common.verb("learners")
def learners(json: common.Json = False) -> None:
    """List the learners with their parameters.

    The defaults are shown; set others by `train --learner NAME -p PARAMETER=VALUE`.
    """
    from thresher.learners import LEARNERS

    descriptions: dict[str, dict[str, Any]] = {
        name: {
            "summary": (learner.__doc__ or "").partition("\n")[0],
            "parameters": learner().get_params(deep=False),
        }
        for name, learner in LEARNERS.items()
    }
    if json:
        common.show_json(descriptions)
        return
    terminal = common.console()
    for name, about in descriptions.items():
        terminal.print(common.text(name, style="bold"), common.text(about["summary"]))
        settings = ", ".join(f"{k}={v!r}" for k, v in about["parameters"].items())
        terminal.print(common.text(f"    {settings}", style="dim"))
