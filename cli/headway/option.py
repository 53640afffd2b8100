# SPDX-License-Identifier: BSD-3-Clause
"""What is known of one option of the library (spec/options.toml)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option of the library; `name` is its environment variable."""

    name: str
    type: str  # "enum", "integer", "share", "bool" or "path"
    default: str
    values: tuple[str, ...] = ()
    unit: str = ""  # of an integer: "bytes", "us", "fraction" (in thousandths) or ""
    min: int = 0
    max: int = 0
    auto: int | None = None  # the number the word "auto" stands for
    aliases: tuple[str, ...] = ()
    tune: tuple[str, ...] = ()  # values worth trying, for `headway tune`
    accepted: str
    brief: str
    help: str
