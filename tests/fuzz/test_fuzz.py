# SPDX-License-Identifier: BSD-3-Clause
"""What is read of files and variables that anybody may have written, guided by coverage.

A short turn from a seed that is another in each run. What a turn finds is written to the folder of
the test; its place is in corpus/, beside the change that mends it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import support

HERE = Path(__file__).resolve().parent
SOURCES = support.ROOT / "src"
GENERATED = support.ROOT / "build" / "cmake"
PYTHON = support.ROOT / "build" / "fuzz" / "bin" / "python"
LIMIT_S = 120
FLAGS = (
    *("-std=gnu17", "-D_GNU_SOURCE", "-O1", "-g", "-fno-sanitize-recover=undefined"),
    "-fsanitize=fuzzer,address,undefined",
)

#: name -> runs, what it is built of beside src/base, more flags
IN_C: dict[str, tuple[int, tuple[str, ...], tuple[str, ...]]] = {
    "options": (20_000, (), ()),
    "python_lines": (50_000, ("python_code.c",), ()),
    "proc": (20_000, ("launcher.c",), ("-Dfopen=fuzz_fopen", "-Dopen=fuzz_open")),
}
IN_PYTHON = {"elf": 1_000, "settings": 1_000, "first_line": 5_000, "record": 200}


@cache
def clang() -> str:
    """A compiler with libFuzzer, or none."""
    for name in ("clang", *(f"clang-{version}" for version in range(21, 13, -1))):
        if path := shutil.which(name):
            empty = "int LLVMFuzzerTestOneInput(const char *data, unsigned long size)"
            words = [path, "-x", "c", "-fsanitize=fuzzer,address", "-o", "/dev/null", "-"]
            text = f"{empty} {{ return !data && size; }}"
            if subprocess.run(words, input=text, text=True, capture_output=True).returncode == 0:
                return path
    return ""


def source_of(name: str) -> Path:
    """Whatever folder of src it is in."""
    (found,) = SOURCES.rglob(name)
    return found


def build(name: str) -> Path:
    _, sources, more = IN_C[name]
    out = support.BUILD / "fuzz" / name
    out.parent.mkdir(parents=True, exist_ok=True)
    mpi = support.known_mpis()["mpich4"]
    folders = (SOURCES, support.ROOT / "include", GENERATED / "options", GENERATED / "mpich")
    words = [clang(), *FLAGS, *more, *(f"-I{folder}" for folder in (*folders, mpi.header.parent))]
    words += [str(HERE / f"fuzz_{name}.c"), str(GENERATED / "options" / "options_table.c")]
    words += [str(path) for path in sorted((SOURCES / "base").glob("*.c"))]
    words += [str(source_of(source)) for source in sources]
    done = support.run_group([*words, "-o", str(out), "-lpthread"])
    assert done.status == 0, done.explain()
    return out


def take_turn(
    argv: list[str], name: str, runs: int, seed: int, scratch: Path, env: dict[str, str]
) -> None:
    corpus = scratch / "corpus"
    shutil.copytree(HERE / "corpus" / name, corpus)
    words = [f"-runs={runs}", f"-seed={seed % 2**31 or 1}", "-timeout=20", "-verbosity=1"]
    found = f"-artifact_prefix={scratch}/"
    done = support.run_group(
        [*argv, *words, found, str(corpus)], {**os.environ, **env}, timeout_s=LIMIT_S
    )
    assert done.status == 0, done.explain()
    (covered,) = re.findall(r"INITED cov: (\d+)", done.stderr)
    assert int(covered) > 1 and f"Done {runs} " in done.stderr, done.explain()


@pytest.mark.parametrize("name", IN_C)
def test_library(name: str, first_seed: int, tmp_path: Path) -> None:
    if not clang():
        pytest.skip("no clang with libFuzzer here; Debian: clang, libclang-rt-dev")
    take_turn([str(build(name))], name, IN_C[name][0], first_seed, tmp_path, {})


@pytest.mark.parametrize("name", IN_PYTHON)
def test_command(name: str, first_seed: int, tmp_path: Path) -> None:
    try:
        has_atheris = subprocess.run([PYTHON, "-c", "import atheris"], capture_output=True)
    except FileNotFoundError:
        pytest.skip("no build/fuzz here, which ./dev test makes")
    if has_atheris.returncode != 0:
        pytest.skip("no atheris for this Python or machine")
    packages = next(Path(path) for path in sys.path if Path(path, "rich").is_dir())
    env = {"PYTHONPATH": f"{support.ROOT / 'cli'}:{packages}", "TMPDIR": str(tmp_path)}
    argv = [str(PYTHON), str(HERE / "fuzz_python.py"), name]
    take_turn(argv, name, IN_PYTHON[name], first_seed, tmp_path, env)
