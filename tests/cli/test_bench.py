"""`headway bench`: a front to the benchmarks of the source tree."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from headway import bench
from headway.errors import HeadwayError

Headway = Callable[..., subprocess.CompletedProcess[str]]


def test_lists_and_refuses(headway: Headway) -> None:
    for words in ([], ["--list"]):
        listed = headway("bench", *words)
        assert listed.returncode == 0 and "casper2-fig5" in listed.stdout
    unknown = headway("bench", "no-such-suite")
    assert unknown.returncode == 2 and "no suite called 'no-such-suite'" in unknown.stderr
    odd = headway("bench", "overlap", "--case", "nothing like it")
    assert odd.returncode == 2 and "both ways" in odd.stderr


def test_outside_the_source_tree(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bench, "repository_root", lambda: None)
    with pytest.raises(HeadwayError, match="source tree"):
        bench.driver()
