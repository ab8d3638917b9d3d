"""The commands of development: ``nox`` runs all, ``nox -s NAME`` one, in the environment that it is started from."""

import nox

nox.options.default_venv_backend = "none"  # the README's set-up has it all; .ci/run builds a fresh environment
nox.options.sessions = ["lint", "types", "docs", "tests"]


@nox.session
def lint(session: nox.Session) -> None:
    """Style, imports and common mistakes, and the layout of the text."""
    session.run("ruff", "check", ".", *session.posargs)
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Types, strictly."""
    session.run("mypy", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation as a site, in the folder ``site``; a warning fails."""
    session.run("sphinx-build", "-n", "-W", "-q", "docs", "site", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """All tests, or those that are named: ``nox -s tests -- tests/unit -k word``."""
    session.run("python", "-m", "pytest", *session.posargs)
