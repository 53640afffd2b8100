# SPDX-License-Identifier: BSD-3-Clause
"""A bare Debian for a test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from root import BareRoot


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[BareRoot]:
    made = BareRoot(tmp_path / "root")
    try:
        yield made
    finally:
        made.remove()
