"""thresher inspect: what a model knows."""

from __future__ import annotations

from typing import Annotated, Any

from typer import Option

from thresher.cli import _common as common


@common.verb("inspect model.thresher --category earn --top 20")
def inspect(
    model: common.Model,
    category: Annotated[
        list[str] | None, Option(help="Show only this category; may be repeated.")
    ] = None,
    top: Annotated[int, Option(min=1, help="Words for and against each.")] = 8,
    json: common.Json = False,
) -> None:
    """Show how a model was made, and the strongest words for and against each category."""
    categorizer = common.load_model(model)
    summary = categorizer.summary()
    words = {name: categorizer.strongest(name, top) for name in category or categorizer.categories_}
    if json:
        common.show_json(summary | {"strongest": words})
        return
    from rich.table import Table
    from rich.text import Text

    terminal = common.console()
    for key, value in summary.items():
        terminal.print(Text(f"{key.replace('_', ' '):>16}  {_short(value)}"))
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    table.add_column("category", style="bold")
    table.add_column("words for it", style="green", ratio=1)
    table.add_column("words against it", style="red", ratio=1)
    for name, (for_it, against_it) in words.items():
        cells = (", ".join(word for word, _ in one) for one in (for_it, against_it))
        table.add_row(Text(name), *(Text(cell) for cell in cells))
    terminal.print(table)


def _short(value: Any) -> str:
    if isinstance(value, list):
        shown = ", ".join(map(_short, value[:12]))
        return shown + (f", … ({len(value)} in all)" if len(value) > 12 else "")
    return f"{value:,}" if isinstance(value, int) else str(value)
