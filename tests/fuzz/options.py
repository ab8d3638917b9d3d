"""Options of every kind for a run."""

from __future__ import annotations

from hypothesis import strategies as st
from paddletorch.model import Framework, Options

RELEASES: dict[Framework, tuple[str | None, ...]] = {
    "torch": (None, None, None, "1.13", "2.4", ">=2.6,<2.9", "2.13", "<2"),
    "paddle": (None, None, None, "2.4", "2.6", ">=3.0", "3.3", "<=2.5.0"),
}
SELECTED = ((), (), (), (), ("AMP",), ("TEN",), ("NNF", "NNL"), ("OPT", "LRS"), ("AMP213",), ("TEN104", "API"))


def options(target: Framework) -> st.SearchStrategy[Options]:
    """Any options for a conversion to ``target``, most of them usual ones."""
    source: Framework = "torch" if target == "paddle" else "paddle"
    given = st.builds(
        Options,
        target=st.just(target),
        source_version=st.sampled_from(RELEASES[source]),
        target_version=st.sampled_from(RELEASES[target]),
        select=st.sampled_from(SELECTED),
        ignore=st.sampled_from(((), (), (), ("AMP",), ("API", "TEN2"))),
        unsafe=st.booleans(),
        annotate=st.booleans(),
        shim=st.sampled_from(("never", "auto", "always")),
        initial_values=st.sampled_from(("target", "source")),
    )
    return st.just(Options(target=target)) | given
