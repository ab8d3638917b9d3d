"""What a user gets: the source distribution, the wheel that is built from it, and the command it installs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import paddletorch
import pytest
from packaging.metadata import Metadata
from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PACKAGES = {"paddletorch": "migrate", "paddletorch_rules": "rules", "paddletorch_shim": "shim"}
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
SCRIPT = "import torch\n\nscaler = torch.amp.GradScaler()\nx = torch.zeros(2).view(-1)\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel, which ``build`` makes from it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def sdist(built: Path) -> Path:
    return next(built.glob("*.tar.gz"))


def files_below(folder: Path) -> Iterator[str]:
    for file in folder.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            yield file.relative_to(folder).as_posix()


def test_the_wheel_holds_the_packages_and_the_pages_of_the_codes(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    expected = {f"{name}/{file}" for name, top in PACKAGES.items() for file in files_below(ROOT / top / name)}
    expected |= {f"paddletorch/rules_pages/{file}" for file in files_below(ROOT / "docs" / "rules")}
    compiled = {name for name in names if name.startswith("paddletorch_rules/compiled_tables/")}
    assert names - compiled == expected
    assert {"tables", "facts", "packages", "adapters_to_paddle", "adapters_to_torch"} <= {
        Path(n).stem for n in compiled
    }
    assert {f"{name}/py.typed" for name in PACKAGES} <= names


def test_the_source_distribution_holds_what_the_tests_need(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    tops = ("migrate", "rules", "shim", "tests", "fixtures", "docs", "benchmarks")
    assert {f"{top}/{file}" for top in tops for file in files_below(ROOT / top)} <= names
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".pre-commit-hooks.yaml"} <= names


def test_metadata(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        raw = archive.read(next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA")))
        licence = next(name for name in archive.namelist() if name.endswith(".dist-info/licenses/LICENSE"))
        assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()
    metadata = Metadata.from_email(raw, validate=True)
    assert str(metadata.version) == paddletorch.__version__
    assert metadata.license_expression == "Apache-2.0"
    assert metadata.description == (ROOT / "README.md").read_text(encoding="utf-8")
    assert metadata.description_content_type == "text/markdown"
    classified = {c.rpartition(" ")[2] for c in metadata.classifiers or () if re.search(r":: 3\.\d+$", c)}
    assert classified == set(PYTHONS)
    assert all(f"{version}.0" in metadata.requires_python for version in PYTHONS if metadata.requires_python)


def test_the_base_install_needs_no_framework(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        raw = archive.read(next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA")))
    needed = {r.name for r in Metadata.from_email(raw).requires_dist or () if _is_base(r)}
    assert {"click", "libcst"} <= needed
    assert needed.isdisjoint({"torch", "paddlepaddle", "paddlepaddle-gpu", "triton", "numpy"})


def _is_base(requirement: Requirement) -> bool:
    return requirement.marker is None or "extra" not in str(requirement.marker)


def test_the_changelog_has_the_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[{re.escape(paddletorch.__version__)}\] - \d{{4}}-\d\d-\d\d$", text, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == paddletorch.__version__


def test_the_wheel_works_where_it_is_installed(wheel: Path, tmp_path: Path) -> None:
    check_install(Path(sys.executable), wheel, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("form", ["*.whl", "*.tar.gz"], ids=["wheel", "sdist"])
@pytest.mark.parametrize("version", PYTHONS)
def test_every_python(version: str, form: str, built: Path, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} on this machine")
    check_install(python, next(built.glob(form)), tmp_path)


def interpreter(version: str) -> Path | None:
    """A Python of this version, if the machine has one."""
    found = shutil.which(f"python{version}")
    if found is None:
        return None
    asked = subprocess.run(
        [found, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True, check=False
    )
    return (
        Path(asked.stdout.strip()) if asked.returncode == 0 else None
    )  # version managers have names that lead nowhere


def check_install(python: Path, distribution: Path, folder: Path) -> None:
    """Install into an environment of its own, and use what was installed outside of the checkout."""
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True, timeout=120)
    scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PADDLETORCH"))}
    work = folder / "work"
    work.mkdir()

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        program = str(scripts / command[0])
        done = subprocess.run(
            [program, *command[1:]], cwd=work, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode in (0, 1), done.stdout + done.stderr
        return done

    run("python", "-m", "pip", "install", "-q", "--disable-pip-version-check", str(distribution))
    assert run("paddletorch", "--version").stdout.strip() == f"paddletorch, version {paddletorch.__version__}"
    assert "torch not installed" in run("paddletorch", "version").stdout
    assert "torch.amp.GradScaler" in run("paddletorch", "rules", "list").stdout
    assert "valid" in run("paddletorch", "rules", "check").stdout
    assert run("paddletorch", "explain", "AMP220").stdout.startswith("# AMP220")
    (work / "train.py").write_text(SCRIPT)
    shutil.copy(ROOT / "fixtures" / "documents" / "digits.in.ipynb", work / "digits.ipynb")
    run("paddletorch", "convert", "--to", "paddle", "--write", ".")
    assert "paddle.zeros([2]).reshape([-1])" in (work / "train.py").read_text()
    expected = (ROOT / "fixtures" / "documents" / "digits.out.ipynb").read_bytes()
    assert (work / "digits.ipynb").read_bytes() == expected
    for form in ("json", "sarif", "github"):
        assert run("paddletorch", "convert", "--to", "torch", "--format", form, "train.py").stdout
    run("paddletorch", "convert", "--to", "torch", "--report", "report.html", "train.py")
    assert "</html>" in (work / "report.html").read_text(encoding="utf-8")
    typed = "import paddletorch, paddletorch_rules, paddletorch_shim; print(paddletorch.__file__)"
    assert str(folder) in run("python", "-c", typed).stdout


def test_the_build_requires_what_compiling_the_tables_imports() -> None:
    """The build's own environment has nothing else: pip makes one for each installation that is not editable."""
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'rules')!r})\n"
        "import paddletorch_rules.compile_built_in, paddletorch_rules.storage as s\n"
        "s.cache_folder()\n"
        "print(*{name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names))"
    )
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PADDLETORCH")}
    command = [sys.executable, "-S", "-c", f"import sys; sys.path += {sys.path!r}\n{script}"]
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=plain)
    with (ROOT / "pyproject.toml").open("rb") as file:
        required = {re.split(r"[>=; ]", one)[0] for one in tomllib.load(file)["build-system"]["requires"]}
    imported = {name for name in found.stdout.split() if not name.startswith(("_", "paddletorch"))}
    assert imported <= required, imported
