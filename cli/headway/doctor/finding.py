# SPDX-License-Identifier: BSD-3-Clause
"""One line of the diagnosis."""

from __future__ import annotations

from dataclasses import dataclass

OK, NOTE, PROBLEM = "ok", "note", "problem"


@dataclass(frozen=True)
class Finding:
    """`level` says how bad; `remedy` what to do about it, empty where there is nothing to do."""

    level: str
    subject: str
    text: str
    remedy: str = ""
