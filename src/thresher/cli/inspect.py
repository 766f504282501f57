"""thresher inspect: show what a model has learned."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from thresher.cli import common
from thresher.cli.declare import Option
from thresher.errors import ParameterError, counted
from thresher.limits import MOST_THINGS

if TYPE_CHECKING:
    from rich.table import Table


@common.verb("inspect model.thresher --category earn --top 20")
def inspect(
    model: common.Model,
    category: Annotated[
        list[str] | None, Option(help="Show only this category. Can be repeated.")
    ] = None,
    top: Annotated[
        int,
        Option(
            min=1,
            max=MOST_THINGS,
            help="The number of words, or rules, for and against each category.",
        ),
    ] = 8,
    rules: Annotated[
        bool, Option("--rules", help="Show all rules, in the order in which they were learned.")
    ] = False,
    tree: Annotated[bool, Option("--tree", help="Show the decision tree.")] = False,
    depth: Annotated[
        int | None,
        Option(min=0, max=MOST_THINGS, help="The depth to which the tree is shown."),
    ] = None,
    svg: Annotated[
        Path | None, Option(help="Draw the tree of one category to this SVG file.")
    ] = None,
    codes: common.Names = None,
    json: common.Json = False,
) -> None:
    """Show what a model has learned.

    Shows how it was trained, and the strongest words for and against each category. A model of
    stump-boosting has rules instead of words (--rules shows all of them), one of decision-tree has
    trees (--tree, --svg).
    """
    categorizer = common.load_model(model, codes=codes)
    names = category or categorizer.categories_
    if rules:
        _show_rules({name: categorizer.rules(name) for name in names}, json)
        return
    if tree or svg is not None:
        _show_trees({name: categorizer.tree(name) for name in names}, depth, svg, json)
        return
    summary = categorizer.summary()
    words = {name: categorizer.strongest(name, top) for name in names}
    if json:
        common.show_json(summary | {"strongest": words})
        return
    from rich.table import Table

    terminal = common.console()
    facts = Table.grid(padding=(0, 2))
    facts.add_column(justify="right", no_wrap=True)
    for key, value in summary.items():
        facts.add_row(key.replace("_", " "), common.text(_short(value)))
    terminal.print(facts)
    if any(any(sides) for sides in words.values()):
        has_rules = hasattr(categorizer.learner_, "rules")
        terminal.print(_rule_table(words) if has_rules else _word_table(words))
        if hasattr(categorizer.learner_, "tree"):
            common.show("Every category is a tree: --category NAME --tree shows it.")


def _word_table(words: dict[str, Any]) -> Table:
    """Return a table of the words for and against each category."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2))
    table.add_column("category", style="bold")
    table.add_column("words for it", style="green", ratio=1)
    table.add_column("words against it", style="red", ratio=1)
    for name, sides in words.items():
        texts = (", ".join(word for word, _ in side) for side in sides)
        table.add_row(common.text(name), *map(common.text, texts))
    return table


def _rule_table(rules: dict[str, Any]) -> Table:
    """Return a table of the rules of each category, which are too long to put side by side."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2))
    table.add_column("category", style="bold")
    table.add_column("share", justify="right")
    table.add_column("rule")
    for name, sides in rules.items():
        for i, (rule, share) in enumerate(entry for side in sides for entry in side):
            colour = "green" if share > 0 else "red"
            cells = (common.text(cell, colour) for cell in (f"{share:+.3f}", rule))
            table.add_row(common.text("" if i else name), *cells)
    return table


def _show_rules(rules: dict[str, list[tuple[str, float]]], json: bool) -> None:
    """Print the rules of each category with what they contribute to the score."""
    if json:
        common.show_json({"rules": rules})
        return
    for name, lines in rules.items():
        common.tell(f"{name}: {counted(len(lines), 'rule')}")
        for rule, share in lines:
            common.tell(f"  {rule}: {share:+.3f}")


def _show_trees(trees: dict[str, Any], depth: int | None, svg: Path | None, json: bool) -> None:
    """Print trees, or draw the tree of one category, by default to a depth of 4."""
    from thresher.files import write_text
    from thresher.report.trees import tree_svg, tree_text

    if svg is not None:
        if len(trees) != 1:
            raise ParameterError(
                f"A picture shows the tree of one category, and there are {len(trees)}: name "
                "one by --category."
            )
        ((name, (tree, names)),) = trees.items()
        write_text(svg, tree_svg(tree, names, title=name, max_depth=4 if depth is None else depth))
        common.tell(f"{svg}: the tree of {name}, {counted(tree.n_nodes, 'node')}")
    elif json:
        nodes = {
            name: [
                {field: value.item() for field, value in zip(tree._fields, node, strict=True)}
                | {"feature": names.get(int(node[0]))}
                for node in zip(*tree, strict=True)
            ]
            for name, (tree, names) in trees.items()
        }
        common.show_json({"trees": nodes})
    else:
        for name, (tree, names) in trees.items():
            common.show(tree_text(tree, names, title=name, max_depth=depth))


def _short(value: Any) -> str:
    if isinstance(value, list):
        shown = ", ".join(map(_short, value[:12]))
        return shown + (f", … ({len(value)} in all)" if len(value) > 12 else "")
    return f"{value:,}" if isinstance(value, int) else str(value)
