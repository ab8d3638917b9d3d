"""``paddletorch try``: whether the modules of a converted tree import without the source framework."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from paddletorch.cli.error import Interrupted, Refusal
from paddletorch.cli.settings import RunSettings
from paddletorch.model import FileResult, Framework

if TYPE_CHECKING:
    from paddletorch.origins.origin import Origin
    from paddletorch.trial.trial import Tree, Tried

SECONDS = 60.0


@click.command("try")
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--to", type=click.Choice(get_args(Framework)), help="The framework that the tree was converted to.")
@click.option(
    "--source",
    type=click.Path(exists=True),
    metavar="PATH",
    help="The file or folder that PATHS was made from: its lines and findings are named too.",
)
@click.option(
    "--seconds",
    default=SECONDS,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    help="How long a module may take to be imported.",
)
@click.option("--format", "form", default="text", type=click.Choice(["text", "json"]), help="Of the report.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave out, in gitignore syntax; may be repeated.")
@click.option("--no-gitignore", is_flag=True, help="Also take what .gitignore leaves out.")
@click.option("--tables", multiple=True, metavar="FILE", help="TOML table to put before the built-in ones.")
@click.option("--trust", is_flag=True, help="Use all settings: of other users, naming files elsewhere, above limits.")
@click.pass_context
def try_out(ctx: click.Context, /, paths: tuple[str, ...], source: str | None, **given: Any) -> None:
    """Import each module of the converted PATHS, files or folders (default: the current folder).

    Each is imported in a process in which the source framework is out of reach, with a limit of time and without
    the network. What stops a module is said with its line and the findings behind it. Importing a module runs its
    code; setup.py and __main__.py are left out.

    Exit code: 0 every module imports; 1 some do not; 2 there is nothing to import or no framework to do it with, or
    the command was not understood.
    """
    from paddletorch.inputs.discover import FileFilter, discover
    from paddletorch.inputs.gitignore import ExcludeError
    from paddletorch.trial.report import exit_code, json_text, text_lines
    from paddletorch.trial.trial import Tree

    paths = paths or (".",)
    settings = RunSettings(given, paths)
    options = settings.overall(paths[0], ())
    wanted = FileFilter(settings.exclusion, not given["no_gitignore"])
    try:
        found = discover(paths, wanted)
    except ExcludeError as error:
        raise Refusal(str(error)) from error
    if found.failures:
        raise Refusal("; ".join(f"{one.path}: {one.diagnostics[0].message}" for one in found.failures))
    origin = _from_output(settings) if source is None else _from_source(settings, paths, source)
    tree = Tree(options.target, _folders(paths), origin, is_rewritten=source is None)
    tried = tried_modules(tree, found.files, paths, given["seconds"])
    if given["form"] == "json":
        click.echo(json_text(tree, tried))
    else:
        click.echo("\n".join(text_lines(tree, tried)))
    ctx.exit(exit_code(tried))


def tried_modules(tree: Tree, files: Sequence[str], roots: Sequence[str], seconds: float) -> list[Tried]:
    """What becomes of the modules in ``files``.

    Raises:
        Refusal: there is none, or they cannot be imported here.
    """
    from paddletorch.trial.modules import modules_of
    from paddletorch.trial.trial import UnusableTarget, try_modules

    modules = modules_of(files)
    if not modules:
        raise Refusal(f"no module was found in {', '.join(roots)}: there is nothing to import")
    try:
        return list(try_modules(tree, modules, seconds))
    except UnusableTarget as error:
        raise Refusal(str(error)) from error
    except KeyboardInterrupt as stop:
        raise Interrupted("the modules were not all imported", stop) from None


def copied_tree(copied: Mapping[str, FileResult], output: Path, target: Framework) -> Tree:
    """The tree that ``convert --output`` has just written: its files, and the result that each was made of."""
    from paddletorch.origins.origin import Origin
    from paddletorch.trial.trial import Tree

    made = {
        os.path.realpath(place): Origin(result, result.output.decode("utf-8", "replace"))
        for place, result in copied.items()
    }
    return Tree(target, [str(output.absolute())], made.get)


def _folders(paths: Sequence[str]) -> list[str]:
    """What the interpreter's path begins with: the folders that were given."""
    return [os.path.realpath(path) for path in paths if Path(path).is_dir()]


def _from_output(settings: RunSettings) -> Callable[[str], Origin | None]:
    """Findings in the converted files themselves: what was left is found once more."""
    from paddletorch.origins.origin import shown

    return _converting(settings, shown)


def _from_source(settings: RunSettings, paths: Sequence[str], source: str) -> Callable[[str], Origin | None]:
    """The files of ``source`` that have the same place in it as the converted ones in the path that was given."""
    if len(paths) > 1:
        raise click.UsageError("--source is what one path was made from: give one path")
    if Path(source).is_dir() != Path(paths[0]).is_dir():
        raise click.UsageError(f"--source {source} and {paths[0]} must be two files or two folders")
    top = os.path.realpath(paths[0])

    def place(path: str) -> str:
        return os.path.join(source, os.path.relpath(path, top)) if path != top else source  # noqa: PTH118

    return _converting(settings, place)


def _converting(settings: RunSettings, place: Callable[[str], str]) -> Callable[[str], Origin | None]:
    from paddletorch.batch.one_file import converter_for
    from paddletorch.cli.evidence import evidence_of
    from paddletorch.origins.origin import Origin

    known: dict[str, Origin | None] = {}

    def origin(path: str) -> Origin | None:
        if path not in known:
            made_of = Path(place(path))
            known[path] = None
            if made_of.is_file():
                name = str(made_of)
                converter, evidence = converter_for(settings.options(name)), evidence_of(settings, name)
                result = converter.convert(made_of.read_bytes(), name, evidence=evidence)
                known[path] = Origin(result.file, Path(path).read_text(encoding="utf-8", errors="replace"))
        return known[path]

    return origin
