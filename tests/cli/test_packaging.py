# SPDX-License-Identifier: BSD-3-Clause
"""The recipes under packaging/, each tried with as much of its own tool as this machine has.

Spack is not on the package index: its directives are stood in for, and what the recipe gives to
CMake is configured with CMake. Conda's channels are not reachable from everywhere: with --full the
recipe is rendered by rattler-build, not built. The Debian source package is made, and
with --full checked by lintian, built, unpacked and used.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

import headway as package
import matrix
import pytest
import rich
import support
from conftest import ROOT
from headway.mpi.mpis import Mpi

MATRIX_RULES = [matrix.check(lambda: False)]
pytestmark = pytest.mark.beside  # compiles, copies, one short job at most
PACKAGING = ROOT / "packaging"
NAME = f"headway-{package.__version__}"


def source_tree(folder: Path) -> Path:
    """What a release holds, under its usual name."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if name.startswith("doc/results/data/") or not (ROOT / name).is_file():
            continue
        target = folder / NAME / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    return folder / NAME


def test_versions_agree() -> None:
    """One version, in every file that has to say it."""
    for name, pattern in (
        ("CMakeLists.txt", r"project\(headway VERSION (\S+)"),
        ("packaging/spack/package.py", r'version\("(\d[^"]+)",'),
        ("packaging/conda/recipe.yaml", r'version: "([^"]+)"'),
        ("packaging/debian/changelog", r"headway \(([^-]+)-"),
    ):
        found = re.search(pattern, (ROOT / name).read_text())
        assert found and found[1] == package.__version__, name


# ---- Spack ------------------------------------------------------------


class Recorder(types.ModuleType):
    """As much of spack.package as the recipe uses; remembers the directives."""

    def __init__(self) -> None:
        super().__init__("spack.package")
        self.said: list[tuple[str, tuple, dict]] = []
        self.join_path = os.path.join
        for name in ("license", "version", "variant", "depends_on"):
            setattr(self, name, self.directive(name))
        self.CMakePackage = type("CMakePackage", (), {"define": staticmethod(self.define)})

    def directive(self, name: str):
        return lambda *words, **named: self.said.append((name, words, named))

    @staticmethod
    def define(name: str, value: object) -> str:
        is_flag = isinstance(value, bool)
        return f"-D{name}:{'BOOL' if is_flag else 'STRING'}={'ON' if value is True else value}"


SPACK = PACKAGING / "spack" / "package.py"


def spack_recipe(mpi: Mpi | None, place: Path = SPACK) -> tuple[Recorder, object]:
    """The recipe's package, as if concretised with this MPI."""
    recorder = Recorder()
    space: dict = {"__name__": "headway_recipe", "__file__": str(place)}
    before = {name: sys.modules.get(name) for name in ("spack", "spack.package")}
    sys.modules |= {"spack": types.ModuleType("spack"), "spack.package": recorder}
    try:
        exec(compile(place.read_text(), "package.py", "exec"), space)
    finally:
        for name, module in before.items():
            sys.modules.pop(name) if module is None else sys.modules.update({name: module})
    recipe = space["Headway"]()
    if mpi is None:
        return recorder, recipe
    name = "openmpi" if mpi.flavour == "ompi" else "mpich"
    prefix = types.SimpleNamespace(include=str(mpi.header.parent))
    command = types.SimpleNamespace(path=sys.executable)
    recipe.run_tests = False
    recipe.prefix = types.SimpleNamespace(lib="/opt/headway/lib")
    recipe.spec = {
        "mpi": types.SimpleNamespace(name=name, prefix=prefix),
        "python": types.SimpleNamespace(command=command),
    }
    return recorder, recipe


def test_spack_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the recipe names can be had by git as it stands; a copied recipe needs a repository."""
    monkeypatch.delenv("HEADWAY_GIT", raising=False)
    recorder, recipe = spack_recipe(None)
    assert recipe.git == f"file://{ROOT}"
    sources = {words[0]: named for name, words, named in recorder.said if name == "version"}
    assert sources.keys() == {"main", package.__version__} and sources["main"] == {"branch": "main"}
    commit = sources[package.__version__]["commit"]
    git = ["git", "-c", "protocol.file.allow=always", "-c", "advice.detachedHead=false"]
    is_shallow = subprocess.run(
        ["git", "rev-parse", "--is-shallow-repository"], cwd=ROOT, capture_output=True, text=True
    ).stdout
    if is_shallow.strip() == "false":
        clone = tmp_path / "clone"
        subprocess.run([*git, "clone", "-q", "--no-checkout", recipe.git, clone], check=True)
        made = subprocess.run(
            [*git, "show", f"{commit}:CMakeLists.txt"], cwd=clone, capture_output=True, text=True
        )
        assert f"project(headway VERSION {package.__version__} " in made.stdout, made.stderr
    copied = tmp_path / "package.py"
    shutil.copyfile(PACKAGING / "spack" / "package.py", copied)
    assert spack_recipe(None, copied)[1].git is None
    monkeypatch.setenv("HEADWAY_GIT", "ssh://somewhere/headway")
    assert spack_recipe(None, copied)[1].git == "ssh://somewhere/headway"


@matrix.only(matrix.on("mpich4", "ompi4"), "one MPI of each ABI is enough")
def test_spack_recipe(mpi: Mpi, tmp_path: Path) -> None:
    recorder, recipe = spack_recipe(mpi)
    needs = {words[0].split("@")[0] for name, words, _ in recorder.said if name == "depends_on"}
    assert needs == {"c", "cmake", "mpi", "python", "py-jinja2", "py-rich", "py-matplotlib"}
    asked = (ROOT / "pyproject.toml").read_text()
    assert (
        "jinja2>=3.1" in asked and "rich>=13" in asked and "matplotlib>=3.7" in asked
    )  # what the recipe asks for too
    configure = ["cmake", "-S", ROOT, "-B", tmp_path, f"-DHEADWAY_LIBRARY_DIR={tmp_path}/lib"]
    done = subprocess.run(
        [*configure, *recipe.cmake_args()], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    built = set(re.findall(r"-- (headway-\w+): (\S+)", done.stdout))
    assert built == {(f"headway-{mpi.flavour}", str(mpi.header))}
    assert "not used by the project" not in done.stderr, done.stderr
    paths: list[tuple[str, str]] = []
    recipe.setup_run_environment(
        types.SimpleNamespace(prepend_path=lambda *pair: paths.append(pair))
    )
    assert paths == [("PYTHONPATH", "/opt/headway/lib/headway/python")]


# ---- Conda ------------------------------------------------------------

RENDER = """
import sys
import rattler_build
recipe = rattler_build.Stage0Recipe.from_file(sys.argv[1] + "/recipe.yaml")
variants = rattler_build.VariantConfig.from_file(sys.argv[1] + "/variants.yaml")
for one in recipe.render(variants, rattler_build.RenderConfig()):
    made = one.recipe.to_dict()
    print(made["package"]["name"], made["package"]["version"], *made["requirements"]["host"])
"""


@matrix.quick(lambda: False, "fetches from the package index, or builds a package")
def test_conda_recipe_renders() -> None:
    site = support.BUILD / "rattler-build"
    if not site.exists():
        command = [sys.executable, "-m", "pip", "install", "-q", "--target", site]
        done = support.run_group([*command, "py-rattler-build==0.73.0"])
        assert done.status == 0, done.explain()
    done = support.run_group(
        [sys.executable, "-c", RENDER, PACKAGING / "conda"],
        {**os.environ, "PYTHONPATH": str(site)},
    )
    assert done.status == 0, done.explain()
    version = package.__version__
    assert done.lines == [
        f"headway {version} mpich python >=3.11",
        f"headway {version} openmpi python >=3.11",
    ]


# ---- Debian ------------------------------------------------------------


def debian_tree(folder: Path, *tools: str) -> Path:
    for tool in tools:
        if not shutil.which(tool):
            pytest.skip(f"no {tool} here")
    tree = source_tree(folder)
    archive = f"headway_{package.__version__}.orig.tar.gz"
    subprocess.run(["tar", "-czf", archive, NAME], cwd=folder, check=True)
    shutil.copytree(tree / "packaging" / "debian", tree / "debian")
    return tree


def test_debian_source_package(is_full: bool, tmp_path: Path) -> None:
    tree = debian_tree(tmp_path, "dpkg-source", *(["lintian"] if is_full else []))
    base = f"headway_{package.__version__}"
    commands = [["dpkg-source", "-b", tree.name]]
    if is_full:
        commands.append(["lintian", "--allow-root", "--fail-on", "error,warning", f"{base}-1.dsc"])
    for command in commands:
        done = support.run_group(command, cwd=tmp_path)
        assert done.status == 0, done.explain()
    assert (tmp_path / f"{base}-1.debian.tar.xz").is_file()


@matrix.quick(lambda: False, "fetches from the package index, or builds a package")
@pytest.mark.timeout(600)
def test_debian_package(tmp_path: Path) -> None:
    """Built as Debian builds it, unpacked, and asked for its version."""
    tree = debian_tree(tmp_path, "dpkg-buildpackage", "dh", "dh_python3")
    done = support.run_group(
        ["dpkg-buildpackage", "-us", "-uc", "-b", "-j2"], cwd=tree, timeout_s=500
    )
    assert done.status == 0, done.explain()
    (made,) = tmp_path.glob(f"headway_{package.__version__}-1_*.deb")
    root = tmp_path / "root"
    subprocess.run(["dpkg-deb", "-x", made, root], check=True)
    names = {path.name for path in root.rglob("*")}
    assert {"libheadway-mpich.so", "libheadway-ompi.so", "headway.h", "headway.pc"} <= names
    assert {"HeadwayConfig.cmake", "headway.1.gz", "headway.7.gz", "headway.f90"} <= names
    assert (root / "usr/share/zsh/vendor-completions/_headway").is_file()
    assert (root / "usr/share/bash-completion/completions/headway").is_file()
    # Debian's python3-rich need not be installed where the package is only built.
    env = {**os.environ, "PYTHONPATH": str(Path(rich.__file__).parents[1])}
    done = support.run_group([root / "usr" / "bin" / "headway", "--version"], env)
    assert done.stdout.strip() == f"headway {package.__version__}", done.explain()
