"""thresher learners: what can learn, and with which parameters."""

from __future__ import annotations

from typing import Any

from thresher.cli import common


@common.verb("learners")
def learners(json: common.Json = False) -> None:
    """List the learners with their parameters and defaults, for `train --learner NAME -p ...`."""
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
    for name, one in descriptions.items():
        terminal.print(common.text(name, style="bold"), common.text(one["summary"]))
        settings = ", ".join(f"{k}={v!r}" for k, v in one["parameters"].items())
        terminal.print(common.text(f"    {settings}", style="dim"))
