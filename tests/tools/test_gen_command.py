# SPDX-License-Identifier: BSD-3-Clause
"""The man page and the completions are what the command's parsers give."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_committed_outputs_are_fresh() -> None:
    command = [sys.executable, ROOT / "tools" / "gen_command.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
