"""What is wrong with a suppression comment: it cannot be read, names no code, or suppresses nothing."""

from __future__ import annotations

from collections.abc import Collection, Set

from paddletorch.text.suppress import Comment


def problems(comment: Comment, unused: Set[tuple[int, int, str]], known: Collection[str]) -> list[str]:
    """Each problem of the comment as a phrase; none if all that it names suppresses something.

    ``unused``: line, column and code of what suppresses nothing, with any options; ``known``: all codes.
    """
    here = "in this file" if comment.whole_file else "here"
    codes = [code for code in comment.codes if (comment.line, comment.column, code) in unused]
    wrong = [code for code in codes if not any(full.startswith(code) for full in known)]
    idle = [code or "all codes" for code in codes if code not in wrong]
    found = [comment.problem] if comment.problem else []
    found += [f"there is no code {code}" for code in wrong]
    found += [f"nothing to suppress {here} ({', '.join(idle)})"] if idle else []
    return found
