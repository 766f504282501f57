"""thresher inspect: what a model knows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from thresher.cli import common
from thresher.cli.declare import Option
from thresher.errors import ParameterError, counted
from thresher.limits import MOST_THINGS


@common.verb("inspect model.thresher --category earn --top 20")
def inspect(
    model: common.Model,
    category: Annotated[
        list[str] | None, Option(help="Show only this category; may be repeated.")
    ] = None,
    top: Annotated[
        int, Option(min=1, max=MOST_THINGS, help="Words, or rules, for and against each.")
    ] = 8,
    rules: Annotated[
        bool, Option("--rules", help="Show all rules instead, in the order they were learned.")
    ] = False,
    tree: Annotated[
        bool, Option("--tree", help="Show the decision tree instead, node by node.")
    ] = False,
    depth: Annotated[
        int | None,
        Option(min=0, max=MOST_THINGS, help="Show the tree only so many questions deep."),
    ] = None,
    svg: Annotated[
        Path | None, Option(help="Write the tree of one category as a picture to this file.")
    ] = None,
    codes: common.Names = None,
    json: common.Json = False,
) -> None:
    """Show how a model was made, and the strongest words for and against each category.

    Where the categories are lists of rules (stump-boosting), rules take the place of words; where
    they are trees (decision-tree), --tree and --svg show these.
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
    if not any(any(sides) for sides in words.values()):
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    table.add_column("category", style="bold")
    if hasattr(categorizer.learner_, "rules"):  # which are too long to stand side by side
        table.add_column("share", justify="right")
        table.add_column("rule")
        for name, sides in words.items():
            for i, (rule, share) in enumerate(one for side in sides for one in side):
                colour = "green" if share > 0 else "red"
                cells = (f"{share:+.3f}", colour), (rule, colour)
                table.add_row(
                    common.text("" if i else name), *(common.text(*cell) for cell in cells)
                )
    else:
        table.add_column("words for it", style="green", ratio=1)
        table.add_column("words against it", style="red", ratio=1)
        for name, sides in words.items():
            texts = (", ".join(word for word, _ in side) for side in sides)
            table.add_row(common.text(name), *map(common.text, texts))
    terminal.print(table)
    if hasattr(categorizer.learner_, "tree"):
        common.show("Every category is a tree: --category NAME --tree shows it.")


def _show_rules(rules: dict[str, list[tuple[str, float]]], json: bool) -> None:
    """Print categories as lists of rules; what each says is added, or else taken off."""
    if json:
        common.show_json({"rules": rules})
        return
    for name, own in rules.items():
        common.tell(f"{name}: {counted(len(own), 'rule')}")
        for rule, share in own:
            common.tell(f"  {rule}: {share:+.3f}")


def _show_trees(trees: dict[str, Any], depth: int | None, svg: Path | None, json: bool) -> None:
    """Print trees, or write the only one as a picture, of four questions' depth by default."""
    from thresher.files import write_text
    from thresher.report.trees import tree_svg, tree_text

    if svg is not None:
        if len(trees) != 1:
            raise ParameterError(
                f"A picture shows the tree of one category, and {len(trees)} are asked for: name "
                "one by --category."
            )
        ((name, (tree, names)),) = trees.items()
        write_text(svg, tree_svg(tree, names, title=name, max_depth=4 if depth is None else depth))
        common.tell(f"{svg}: the tree of {name}, {counted(tree.n_nodes, 'node')}")
    elif json:
        nodes = {
            name: [
                {field: one.item() for field, one in zip(tree._fields, node, strict=True)}
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
