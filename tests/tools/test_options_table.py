# SPDX-License-Identifier: BSD-3-Clause
"""The generator of the option table; the command and the library read an environment alike."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from headway.errors import HeadwayError
from headway.options import check_environment
from headway.options_table import OPTIONS

ROOT = Path(__file__).resolve().parents[2]
GENERATOR = ROOT / "tools" / "gen_options.py"

READER = r"""
#include "base/options.h"
#include <stdio.h>
int main(void)
{
    if (hw_options_load() != HW_OK)
        return 1;
    for (size_t i = 0; i < hw_option_count; i++) {
        char text[HW_OPTION_TEXT_MAX];
        hw_option_format(&hw_option_table[i], &hw_options, text, sizeof text);
        printf("%s=%s\n", hw_option_table[i].name, text);
    }
    return 0;
}
"""

OF_MODULES = [
    f"HEADWAY_{name}=/opt"
    for name in ("BASE", "BIN", "DIR", "HOME", "INC", "LIB", "PREFIX", "ROOT", "VERSION")
]
ACCEPTED = [
    *OF_MODULES,
    "HEADWAY_ENGINE=off",
    "HEADWAY_ENGINE=Thread",
    "HEADWAY_ENGINE=auto",
    "HEADWAY_TICK_US=auto",
    "HEADWAY_TICK_US=0",
    "HEADWAY_TICK_US=20",
    "HEADWAY_TICK_US=1ms",
    "HEADWAY_GAP_US=0",
    "HEADWAY_EAGER_LIMIT=64k",
    "HEADWAY_EAGER_LIMIT=1GiB",
    "HEADWAY_GHOSTS=2",
    "HEADWAY_GHOSTS=1/node",
    "HEADWAY_GHOSTS=1/socket",
    "HEADWAY_GHOSTS=2/NUMA",
    "HEADWAY_VERBOSE=on",
    "HEADWAY_RECORD=",
]
REFUSED = [
    "HEADWAY_ENGINE=",
    "HEADWAY_ENGINE=ghost",
    "HEADWAY_TICK_US=19",
    "HEADWAY_TICK_US=-1",
    "HEADWAY_TICK_US=1s",
    "HEADWAY_TICK_US= 20",
    "HEADWAY_GAP_US=-1",
    "HEADWAY_EAGER_LIMIT=1T",
    "HEADWAY_EAGER_LIMIT=99999999999999999999",
    "HEADWAY_EAGER_LIMIT=1.5K",
    "HEADWAY_GHOSTS=1025",
    "HEADWAY_GHOSTS=1/",
    "HEADWAY_GHOSTS=/socket",
    "HEADWAY_GHOSTS=1/core",
    "HEADWAY_GHOSTS=1/socket/2",
    "HEADWAY_GHOSTS=1K",
    "HEADWAY_VERBOSE=2",
    "HEADWAY_NOTHING_LIKE_IT=1",
    "HEADWAY_=1",
    "HEADWAY_tick_us=500",
]


def generate(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(GENERATOR), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def build_reader(folder: Path, spec: Path) -> Path:
    """A program that reads its environment with the library's own code and prints every option."""
    done = generate("--spec", str(spec), "--out", str(folder))
    assert done.returncode == 0, done.stderr
    (folder / "reader.c").write_text(READER)
    sources = [folder / "reader.c", folder / "options_table.c"]
    sources += [ROOT / "src/base" / name for name in ("options.c", "log.c")]
    command = ["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]
    command += [
        f"-I{ROOT / 'src'}",
        f"-I{folder}",
        "-o",
        str(folder / "reader"),
        *map(str, sources),
    ]
    subprocess.run(command, check=True, timeout=60)
    return folder / "reader"


def read(reader: Path, *variables: str) -> subprocess.CompletedProcess[str]:
    environ = dict(variable.split("=", 1) for variable in variables)
    return subprocess.run([reader], env=environ, capture_output=True, text=True, timeout=30)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_reader(tmp_path_factory.mktemp("options"), ROOT / "spec" / "options.toml")


def test_committed_outputs_are_current() -> None:
    done = generate("--check")
    assert done.returncode == 0, done.stdout


def test_defaults_read_back(reader: Path) -> None:
    printed = dict(line.split("=", 1) for line in read(reader).stdout.splitlines())
    assert list(printed) == [option.name for option in OPTIONS]
    for option in OPTIONS:
        assert printed[option.name] == option.default


@pytest.mark.parametrize("variable", ACCEPTED)
def test_both_accept(reader: Path, variable: str) -> None:
    assert read(reader, variable).returncode == 0
    check_environment(dict([variable.split("=", 1)]))


@pytest.mark.parametrize("variable", REFUSED)
def test_both_refuse(reader: Path, variable: str) -> None:
    done = read(reader, variable)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and variable in done.stderr
    with pytest.raises(HeadwayError) as error:
        check_environment(dict([variable.split("=", 1)]))
    assert variable in str(error.value)


def test_alias_gives_way_to_our_name(tmp_path: Path) -> None:
    spec = tmp_path / "options.toml"
    text = (ROOT / "spec" / "options.toml").read_text()
    changed = text.replace('field = "tick_us"', 'field = "tick_us"\naliases = ["CSP_TICK", "TICK"]')
    assert changed != text
    spec.write_text(changed)
    reader = build_reader(tmp_path, spec)
    assert "HEADWAY_TICK_US=300\n" in read(reader, "TICK=300").stdout
    assert "HEADWAY_TICK_US=400\n" in read(reader, "HEADWAY_TICK_US=400", "CSP_TICK=300").stdout
    assert "HEADWAY_TICK_US=400\n" in read(reader, "CSP_TICK=300", "HEADWAY_TICK_US=400").stdout
    refused = read(reader, "CSP_TICK=1")
    assert refused.returncode == 1 and "CSP_TICK=1" in refused.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('tune = ["thread"]', 'tune = ["ghost"]', "ENGINE"),
        ('field = "gap_us"', 'field = "tick_us"', "field used twice"),
        ('type = "bool"', 'type = "boolean"', "unknown type"),
        ('name = "LOG"', 'name = "LOG"\ncolour = "red"', "unknown key colour"),
        ('name = "LOG"', 'name = "log"', "capital letters"),
    ],
)
def test_wrong_list_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = (ROOT / "spec" / "options.toml").read_text()
    assert old in text
    (tmp_path / "options.toml").write_text(text.replace(old, new))
    done = generate("--spec", str(tmp_path / "options.toml"), "--out", str(tmp_path / "out"))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and said in done.stderr
    assert not os.path.exists(tmp_path / "out")
