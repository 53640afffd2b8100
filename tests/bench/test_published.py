# SPDX-License-Identifier: BSD-3-Clause
"""doc/results: figures come from the files, states from git, and committed pages are in date."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from headway.bench import command, places
from headway.bench.published import claims, pages, picture, state
from headway.errors import HeadwayError

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "doc" / "results"
sys.path.insert(0, str(ROOT / "tools"))

import lint_rules  # noqa: E402

#: enough lines for git to know a file that moved
BODY = "".join(f"int number_{i};\n" for i in range(30))


def row(mode: str, ratio: float, **more: object) -> dict:
    summary = {"median": ratio, "min": ratio, "max": 2 * ratio, "q1": ratio, "q3": ratio}
    return {
        "mpi": "mpich4",
        "rate": "1gbit",
        "sockbuf": "small",
        "case": "both ways",
        "program": "overlap_p2p",
        "bytes": 1 << 20,
        "mode": mode,
        "launches": 3,
        "failed": 0,
        "hung": 0,
        "reason": "",
        "digests": [],
        "is_same_answer": True,
        "values": {"total_s": summary},
        "derived": {"ratio": ratio},
        **more,
    }


def document(rows: list[dict], commit: str = "0" * 12, **more: object) -> dict:
    machine = {"cpu": "one", "cores": 2, "kernel": "6.1"}
    return {
        "schema": 2,
        "date": "2026-11-25T00:00:00+00:00",
        "machine": machine,
        "commit": commit,
        "is_tree_clean": True,
        "suite": "overlap",
        "title": "A suite",
        "notes": [],
        "mpis": {"mpich4": "MPICH 4.0.2"},
        "rows": rows,
        **more,
    }


def test_a_figure_is_of_the_rows_it_chooses() -> None:
    rows = [row("plain", 1.0), row("headway", 0.5), row("headway", 0.75, bytes=8)]
    where = {"mode": "headway"}
    assert claims.Figure("f", "ratio", where).text(rows) == "0.50 to 0.75"
    assert claims.Figure("f", "ratio", where, "most").text(rows) == "0.75"
    assert claims.Figure("f", "ratio", where | {"bytes_from": 1024}).text(rows) == "0.50"
    assert claims.Figure("f", "ratio", where | {"bytes_to": 1024}).text(rows) == "0.75"
    assert claims.Figure("f", "ratio", {"mode": ["plain", "headway"]}, "rows").text(rows) == "3"
    assert claims.Figure("f", "ratio", {"case": "one way"}).text(rows) == "-"
    assert claims.Figure("f", "total_s_max", where, "most", "ms").text(rows) == "1500"
    profile = row("headway-profile", 1.0, derived={"predicted": 0.58})
    agreement = claims.Figure(
        "f", "predicted", {"mode": "headway-profile"}, "agreement", "", "ratio", "headway"
    )
    assert agreement.text([*rows, profile]) == "1 of 1"
    assert agreement.text([row("headway", 0.4), profile]) == "0 of 1"


def test_every_claim_finds_its_rows_and_every_file_has_a_claim() -> None:
    table, published = pages.published_read(RESULTS)
    pages.check_claims(table, published)
    assert {one.claim.name for one in published} <= set(table.claims)
    assert {claim.area for claim in table.claims.values()} <= set(table.areas)
    assert len(published) >= 50
    with pytest.raises(HeadwayError, match="no figure called nothing"):
        published[0].claim.filled("{nothing}", published[0].result.rows)


def test_committed_pages_are_in_date() -> None:
    """All but the states, which every commit may change; ./dev lint has those."""
    for path, text in pages.pages_make(ROOT, has_states=False).items():
        told = path.read_text(encoding="utf-8")
        if path.name == pages.INDEX and path.parent == RESULTS:
            told, text = pages.without_states(told), pages.without_states(text)
        assert told == text, f"{path}: run tools/result_pages.py --write"
    assert picture.differences(ROOT) == []


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with one claim, its file and the code that it measures."""
    for name in ("doc/results/data", "src", "bench"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "src" / "thread.c").write_text(f"{BODY}int a; /* before */\n")
    (tmp_path / "README.md").write_text(f"{pages.README_BEGIN}\n{pages.README_END}\n")
    (tmp_path / "doc" / "results" / "claims.toml").write_text(
        'areas = ["Overlap"]\nheadline = [{ text = "T", claim = "overlap", value = "ratio", '
        'mode = "headway" }]\n[paths]\nthread = ["src"]\n[claims.overlap]\narea = "Overlap"\n'
        'claim = "It overlaps"\nfigure = "{ratio} of plain"\nshows = "It takes {ratio}."\n'
        'paths = ["thread"]\nfigures.ratio = { value = "ratio", mode = "headway" }\n'
    )
    git(tmp_path, "init", "-q")
    return tmp_path


def git(tree: Path, *words: str) -> str:
    user = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(
        ["git", "-C", tree, *user, *words], text=True, capture_output=True, check=True
    )
    state.git.cache_clear()
    return done.stdout.strip()


def commit(tree: Path) -> str:
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "one")
    return git(tree, "rev-parse", "HEAD")


def result_write(tree: Path, measured: str, **more: object) -> None:
    path = tree / "doc" / "results" / "data" / "overlap.json"
    path.write_text(
        json.dumps(document([row("plain", 1.0), row("headway", 0.5)], measured, **more))
    )


def state_told(tree: Path) -> str:
    table, published = pages.published_read(tree / "doc" / "results")
    state.git.cache_clear()
    return state.state_of(tree, published[0].claim, published[0].result)


def test_states_follow_the_code(tree: Path) -> None:
    source = tree / "src" / "thread.c"
    measured = commit(tree)
    result_write(tree, measured[:12])
    assert state_told(tree) == "current"
    source.write_text(f'#include "b.h"\n{BODY}int a; /* after, in more words */ // and more\n')
    assert state_told(tree) == "current", "comments and includes of our own are no code"
    git(tree, "mv", "src/thread.c", "src/moved.c")
    assert state_told(tree) == "current", "nor is a move"
    (tree / "src" / "README.md").write_text("What thread.c does.\n")
    git(tree, "add", "src/README.md")
    assert state_told(tree) == "current", "nor are texts"
    source = tree / "src" / "moved.c"
    source.write_text(f"{BODY}int a, b;\n")
    assert state_told(tree) == "*older code*"
    commit(tree)
    assert state_told(tree) == "*older code*"
    result_write(tree, measured[:12], is_tree_clean=False)
    assert state_told(tree) == "*older code*, *changed tree*"
    result_write(tree, measured[:12] + "+changes")
    assert state_told(tree) == "*older code*, *changed tree*", "as files of schema 1 say it"
    result_write(tree, "0" * 12)
    assert state_told(tree) == f"*{state.FOREIGN}*"


def test_pages_are_written_checked_and_removed(tree: Path) -> None:
    result_write(tree, commit(tree)[:12])
    stale = tree / "doc" / "results" / "gone.md"
    stale.write_text("gone\n")
    written = pages.write_all(tree)
    assert stale in written and not stale.exists()
    page = (tree / "doc" / "results" / "overlap.md").read_text()
    assert "# It overlaps" in page and "It takes 0.50." in page and "## Losing rows" in page
    index = (tree / "doc" / "results" / "README.md").read_text()
    assert "| [It overlaps](overlap.md) | 0.50 of plain |" in index and "| current |" in index
    assert "| [T](doc/results/overlap.md) | 0.50 |" in (tree / "README.md").read_text()
    assert pages.write_all(tree) == []
    assert pages.differences(tree) == ([], [])
    (tree / "src" / "thread.c").write_text("int b;\n")
    state.git.cache_clear()
    wrong, older = pages.differences(tree)
    assert len(wrong) == 1 and "README.md" in wrong[0], "the index says current"
    assert older == ["older code: doc/results/data/overlap.json: src/thread.c"]


def test_the_guide_has_the_figures_of_the_files(tree: Path) -> None:
    data = tree / "doc" / "results" / "data"
    data.mkdir(exist_ok=True)
    (data / "overlap.json").write_text(json.dumps(document([row("headway", 0.5)])))
    page = tree / "doc" / "guide" / "limits.md"
    page.parent.mkdir()
    page.write_text("It takes <!-- overlap.ratio -->0.90\nto 1.00<!-- --> of plain.\n")
    pages.write_all(tree)
    assert page.read_text() == "It takes <!-- overlap.ratio -->0.50<!-- --> of plain.\n"
    for wrong in ("nothing.ratio", "overlap.nothing"):
        page.write_text(f"It takes <!-- {wrong} -->0.90<!-- --> of plain.\n")
        with pytest.raises(HeadwayError):
            pages.write_all(tree)


def test_a_clone_without_history_says_what_it_cannot_check(tree: Path, tmp_path: Path) -> None:
    """Pages are compared all the same, but for the states that history tells."""
    result_write(tree, commit(tree)[:12])
    pages.write_all(tree)
    commit(tree)
    clone = tmp_path / "shallow"
    words = ["git", "clone", "-q", "--depth", "1", f"file://{tree}", clone]
    subprocess.run(words, check=True, capture_output=True)
    wrong, noted = pages.differences(clone)
    assert wrong == [] and len(noted) == 1 and noted[0].startswith("not checked"), (wrong, noted)
    index = clone / "doc" / "results" / pages.INDEX
    index.write_text(index.read_text().replace("| claim |", "| claims |"))
    state.git.cache_clear()
    wrong, _ = pages.differences(clone)
    assert len(wrong) == 1


def test_superseded_files_are_named(tmp_path: Path) -> None:
    def result(name: str, date: str, rows: list[dict]) -> claims.Result:
        return claims.Result(tmp_path / f"{name}.json", document(rows) | {"date": date})

    both = [row("plain", 1.0), row("headway", 0.5)]
    old, new = result("old", "2026-11-24", both), result("new", "2026-11-25", both)
    assert pages.superseded([old, new]) == [old]
    more = result("more", "2026-11-24", [*both, row("peer:async", 2.0)])
    assert pages.superseded([more, new]) == []


def test_publishing_writes_the_layout(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a suite that no claim is stated for yet."""
    measured = commit(tree)[:12]
    monkeypatch.setattr(places, "repository_root", lambda: tree)
    monkeypatch.setattr(command, "draw", lambda *_: [])
    monkeypatch.setattr(picture, "write", lambda _: [])
    launch = {
        "mpi": "mpich4", "rate": "1gbit", "sockbuf": "small", "case": "both ways", "mode": "plain",
        "repetition": 0, "seconds": 1.0, "failure": "",
    }  # fmt: skip

    class Options:
        out = tree / "build"
        publish = True

    for suite in ("overlap", "another"):
        rows = [row("plain", 1.0), row("headway", 0.5)]
        one = document(rows, measured, suite=suite, launches=[launch])
        command.results_write(one, Options(), command.make_console())  # type: ignore[arg-type]
    folder = tree / "doc" / "results"
    assert sorted(path.name for path in folder.glob("*.md")) == [
        "README.md",
        "another.md",
        "overlap.md",
    ]
    data = json.loads((folder / "data" / "overlap.json").read_text())
    assert data["is_tree_clean"] and "launches" not in data
    assert places.is_published(folder / "data" / "overlap.json")
    assert not list(folder.glob("**/*.png"))
    assert places.commit() == measured and places.is_tree_clean(), "doc is not what is measured"
    (tree / "src" / "thread.c").write_text("int b;\n")
    assert not places.is_tree_clean()


def test_a_picture_names_its_file(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    folder = tmp_path / "doc" / "results" / "data"
    folder.mkdir(parents=True)
    shutil.copy2(RESULTS / "data" / f"{picture.CLAIM}.json", folder)
    assert len(picture.differences(tmp_path)) == 1
    assert picture.write(tmp_path) == [folder.parent / f"{picture.CLAIM}.png"]
    assert picture.differences(tmp_path) == [] and picture.write(tmp_path) == []
    with (folder / f"{picture.CLAIM}.json").open("a") as file:
        file.write("\n")
    assert len(picture.differences(tmp_path)) == 1


def test_lint_reads_the_pages() -> None:
    long = " ".join(["word"] * lint_rules.SENTENCE_WORDS)
    assert (
        len(lint_rules.readme_breaches(f"# Title\n\nShort. {long}.\n\n```sh\n{long}\n```\n")) == 1
    )
    many = "Short. " * (lint_rules.README_WORDS_MAX + 1)
    assert "words; at most" in lint_rules.readme_breaches(many)[0]
    wide = "a" * 60 + " " + "b" * 60
    page = f"{wide}\n| {wide} |\n```\n{wide}\n```\n{'c' * 130}\n"
    assert len(lint_rules.long_page_lines(ROOT / "README.md", page)) == 1
    assert lint_rules.sentences_of("* [a b](c.md). Two.\n* Three\n  four.") == [
        "a b.",
        "Two.",
        "Three four.",
    ]
