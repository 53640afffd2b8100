# SPDX-License-Identifier: BSD-3-Clause
"""Files of settings, which `headway tune` writes and `headway run --settings` reads: TOML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from headway import __version__, options
from headway.errors import HeadwayError

FORMAT = 1


def read(path: Path) -> dict[str, str]:
    """The options in a file, checked; HeadwayError if it is not one of ours."""
    import tomllib  # where a file is read; every run loads this module

    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HeadwayError(
            f"cannot read {path}: {error.strerror}", "headway tune writes such a file"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HeadwayError(
            f"{path} is not TOML: {error}", "headway tune writes such a file"
        ) from error
    form, settings = found.get("format"), found.get("settings")
    if form != FORMAT or not isinstance(settings, dict):
        raise HeadwayError(
            f"{path} is not a file of settings of this version",
            f"it needs format = {FORMAT} and a table [settings]",
        )
    for name, value in settings.items():
        if not isinstance(value, str):
            raise HeadwayError(f"{path}: {name} is no string", f'write {name} = "..."')
    options.check_environment(settings)
    if unknown := [name for name in settings if not name.startswith(options.FAMILY)]:
        raise HeadwayError(f"{path}: {unknown[0]} is no option", "options begin with HEADWAY_")
    return settings


def write(path: Path, settings: Mapping[str, str], measured: Mapping[str, object]) -> None:
    """Settings, and what speaks for them."""
    lines = [
        f"# Written by headway tune {__version__}; used with headway run --settings FILE.",
        f"format = {FORMAT}",
        "",
        "[settings]",
        *(f"{name} = {toml(value)}" for name, value in sorted(settings.items())),
        "",
        "# What it was measured with, and against: the program without Headway.",
        "[measured]",
        *(f"{name} = {toml(value)}" for name, value in measured.items()),
    ]
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise HeadwayError(f"cannot write {path}: {error.strerror}", "name another") from error


def toml(value: object) -> str:
    """Strings, numbers and lists of them; TOML's strings take JSON's escapes."""
    if isinstance(value, list):
        return f"[{', '.join(toml(item) for item in value)}]"
    if isinstance(value, float):
        return f"{value:.6f}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
