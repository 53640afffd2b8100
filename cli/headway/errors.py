# SPDX-License-Identifier: BSD-3-Clause
"""The one exception that reaches the user: a cause, and what to do about it."""

from __future__ import annotations


class HeadwayError(Exception):
    """Printed by the command as `headway: cause; what to do`, with a non-zero exit."""

    def __init__(self, cause: str, remedy: str = "", status: int = 2) -> None:
        super().__init__(f"{cause}; {remedy}" if remedy else cause)
        self.status = status
