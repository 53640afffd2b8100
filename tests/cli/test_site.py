# SPDX-License-Identifier: BSD-3-Clause
"""The site of ./dev docs: it can be built, has the pages, and a broken link is an error."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import matrix
import pytest

MATRIX_RULES = [matrix.check(lambda: False)]
ROOT = Path(__file__).resolve().parents[2]
MKDOCS = ROOT / "build" / "docs" / "bin" / "mkdocs"

pytestmark = pytest.mark.skipif(
    not MKDOCS.exists() or not shutil.which("mandoc"), reason="./dev docs installs what it needs"
)


def build(tree: Path, site: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [MKDOCS, "build", "--strict", "--site-dir", site],
        cwd=tree,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )


def test_site_is_built(tmp_path: Path) -> None:
    done = build(ROOT, tmp_path / "site")
    assert done.returncode == 0, done.stdout + done.stderr
    home = (tmp_path / "site" / "index.html").read_text()
    assert 'href="guide/getting-started.html"' in home and "results/overlap-" in home
    for page in (ROOT / "doc" / "guide").glob("*.md"):
        assert f'href="guide/{page.stem}.html"' in home, f"{page.name} is not in the menu"
    manual = (tmp_path / "site" / "man" / "headway.7.html").read_text()
    assert "HEADWAY_STAND_DOWN" in manual and "EXIT STATUS" not in manual
    architecture = (tmp_path / "site" / "guide" / "how-it-works.html").read_text()
    assert 'href="../ARCHITECTURE.html"' in architecture
    assert (tmp_path / "site" / "guide" / "images" / "timeline.json").is_file()


def test_broken_links_are_errors(tmp_path: Path) -> None:
    """A page, a file outside the site, a heading: one warning each, and no other."""
    for path in (*ROOT.glob("*.md"), ROOT / "mkdocs.yml"):
        shutil.copy2(path, tmp_path)
    shutil.copytree(ROOT / "doc", tmp_path / "doc")
    for folder, name in (("tools", "site_pages.py"), ("bench", "README.md")):
        (tmp_path / folder).mkdir()
        shutil.copy2(ROOT / folder / name, tmp_path / folder)
    for path in ROOT.glob("src/**/README.md"):
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
    links = ("nowhere.md", "../../src/nowhere.c", "ghosts.md#nowhere")
    with (tmp_path / "doc" / "guide" / "tuning.md").open("a") as page:
        page.writelines(f"\n[gone]({link})\n" for link in links)
    done = build(tmp_path, tmp_path / "site")
    said = done.stdout + done.stderr
    assert done.returncode != 0 and "3 warnings" in said, said
    assert all(link in said for link in links), said
