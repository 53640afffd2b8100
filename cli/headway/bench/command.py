# SPDX-License-Identifier: BSD-3-Clause
"""`headway bench`: a suite by name; every mode alternating, several launches, tables, plots, JSON.

headway bench quick                     the short set
headway bench overlap --mpi ompi5       one suite, one MPI
headway bench programs --install        real programs, from the registries
headway bench                           what suites there are
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from headway.bench import (
    analysis,
    build,
    launches,
    machine,
    nwchem,
    places,
    report,
    suites,
    windows,
)
from headway.bench.cases import Case
from headway.bench.modes import Mode, library_of, modes_make, modes_skipped
from headway.bench.programs import install
from headway.bench.programs import page as programs_page
from headway.bench.programs import suite as programs_suite
from headway.bench.suite import Suite
from headway.errors import HeadwayError
from headway.mpi.mpis import Mpi, find_mpis, repository_root
from headway.terminal import make_console

#: 2 has `is_tree_clean`; in files of schema 1 a commit that ends in +changes says the same
SCHEMA = 2
#: what the plots are drawn with; without it there are tables and results
PLOTTER = "matplotlib"
#: of results in which ghosts have no cores of their own
SHARED_CORES = (
    "with ghosts a node has the cores it has without: a ghost and the user processes share them"
)


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser(
        "bench",
        help="run a suite of benchmarks by name",
        usage="headway bench [SUITE] [options]",
        description="A suite: every mode alternating, several launches, tables, plots and a result "
        "file. Its programs are built with the mpicc of each MPI. Without a name: what suites "
        "there are.",
    )
    parser.add_argument("suite", nargs="?", metavar="SUITE", help="its name; quick: minutes")
    parser.add_argument("--list", action="store_true", help="what suites there are")
    add_narrowing(parser)
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIRECTORY",
        help=f"where results go (default: {places.RESULTS}/ in the current folder; "
        "of a source tree build/bench-results/)",
    )
    parser.add_argument(
        "--render",
        type=Path,
        metavar="FILE",
        help="tables and plots of an earlier result, without running anything",
    )
    parser.add_argument(
        "--publish",
        action="store_true",
        help="in a source tree: also put the abridged results into doc/results/data and rewrite "
        "the pages of doc/results",
    )
    parser.set_defaults(call=bench)


def add_narrowing(parser: argparse.ArgumentParser) -> None:
    """What is run of a suite, and on what."""
    parser.add_argument("--mpi", metavar="NAMES", help="a comma between them; default: all found")
    parser.add_argument(
        "--modes", metavar="NAMES", help="beside plain: headway, peer, ... (default: all)"
    )
    parser.add_argument(
        "--variant",
        action="append",
        default=[],
        metavar="NAME:VAR=VALUE,...",
        help="one more Headway mode with these options; may be repeated",
    )
    parser.add_argument("--rate", metavar="RATES", help="link rates instead of the suite's")
    parser.add_argument("--sockbuf", metavar="SIZES", help="socket buffers instead of the suite's")
    parser.add_argument("--case", metavar="PART", help="only the cases with this in their name")
    parser.add_argument("--sizes", metavar="BYTES", help="message sizes instead of the suite's")
    parser.add_argument(
        "--launches", type=int, metavar="N", help="launches of each mode instead of the suite's"
    )
    parser.add_argument(
        "--install",
        action="store_true",
        help="suites programs, adapt-nwchem: install what they need from Debian and the Python "
        "package index",
    )


def mpis_choose(names: str | None) -> list[Mpi]:
    found = find_mpis()
    if not found:
        raise HeadwayError(
            "no MPI found",
            "run ./dev setup" if repository_root() else "install one with its mpicc and mpiexec",
        )
    if not names:
        return found
    unknown = set(names.split(",")) - {mpi.name for mpi in found}
    if unknown:
        raise HeadwayError(
            f"no MPI called {', '.join(sorted(unknown))} here",
            "found: " + ", ".join(mpi.name for mpi in found),
        )
    return [mpi for mpi in found if mpi.name in names.split(",")]


def variants_parse(texts: list[str]) -> dict[str, dict[str, str]]:
    variants = {}
    for text in texts:
        name, _, settings = text.partition(":")
        pairs = [setting.partition("=") for setting in settings.split(",")]
        if not name or any(not value or not key for key, _, value in pairs):
            raise HeadwayError(f"--variant {text!r} is malformed", "write NAME:VAR=VALUE,...")
        variants[name] = {key: value for key, _, value in pairs}
    return variants


def modes_parse(
    text: str | None, mpis: list[Mpi], suite: Suite, variants: dict[str, dict[str, str]]
) -> list[str] | None:
    """Names of modes, each of which at least one MPI has; None for all."""
    if not text:
        return None
    wanted = text.split(",")
    names = [mode.name for mpi in mpis for mode in modes_make(mpi, suite, None, variants)]
    names += modes_skipped(suite)  # suite_run says why
    known = dict.fromkeys([*names, *(name.split(":")[0] for name in names)])
    if unknown := [name for name in wanted if name not in known]:
        raise HeadwayError(
            f"no mode called {', '.join(unknown)} in {suite.name}", "there are: " + ", ".join(known)
        )
    return wanted


def sizes_parse(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(size) for size in text.split(","))
    except ValueError as error:
        raise HeadwayError(f"--sizes {text!r} is no list of bytes", "--sizes 1024,65536") from error


def suite_choose(options: argparse.Namespace) -> Suite:
    """The suite, narrowed by the command line."""
    suite = suites.find(options.suite)
    if suite is None:
        raise HeadwayError(
            f"no suite called {options.suite!r}",
            "there are: " + " ".join([*suites.SUITES, programs_suite.NAME, *suites.ALIASES]),
        )
    cases = [case for case in suite.cases if not options.case or options.case in case.name]
    if not cases:
        raise HeadwayError(
            f"no case of {suite.name} has {options.case!r} in its name",
            "there are: " + ", ".join(case.name for case in suite.cases),
        )
    if options.sizes:
        sizes = sizes_parse(options.sizes)
        cases = [
            replace(case, sizes=sizes) if case.sizes and case.program != "halo" else case
            for case in cases
        ]
    return replace(
        suite,
        cases=tuple(cases),
        launches=options.launches or suite.launches,
        rates=tuple(options.rate.split(",")) if options.rate else suite.rates,
        sockbufs=tuple(options.sockbuf.split(",")) if options.sockbuf else suite.sockbufs,
    )


def suite_run(
    suite: Suite, mpis: list[Mpi], options: argparse.Namespace, console: Console
) -> tuple[list[dict[str, Any]], list[str]]:
    """All launches of a suite, and notes on how they were run."""
    done: list[dict[str, Any]] = []
    notes: list[str] = []
    variants = variants_parse(options.variant)
    wanted = modes_parse(options.modes, mpis, suite, variants)
    with machine.cpu_share() as protection, report.Progress(console) as progress:
        notes.append(f"CPU: {protection}")
        notes += [
            f"Headway is not on {mpi.title}: no library for it is built"
            for mpi in mpis
            if library_of(mpi) is None
        ]
        notes += [
            f"not on {mpi.title}: {suite.excluded[mpi.name]}"
            for mpi in mpis
            if mpi.name in suite.excluded
        ]
        notes += [
            f"{mpi.title}: {suite.controls[mpi.name]}" for mpi in mpis if mpi.name in suite.controls
        ]
        notes += [
            f"without {name}, which this library does not have: {reason}"
            for name, reason in modes_skipped(suite).items()
            if wanted is None or name in wanted
        ]
        mpis = [mpi for mpi in mpis if mpi.name not in suite.excluded]
        for mpi in mpis:
            for rate in suite.rates:
                modes = modes_make(mpi, replace(suite, rates=(rate,)), wanted, variants)
                cases = [case for case in suite.cases if mpi.name not in case.excluded]
                count = suite.launches * len(cases) * len(suite.sockbufs)
                progress.expect(len(modes) * count)
        for rate in suite.rates:
            for sockbuf in suite.sockbufs:
                for mpi in mpis:
                    here = replace(suite, rates=(rate,))
                    modes = modes_make(mpi, here, wanted, variants)
                    notes += [n for n in shared_cores_note(suite.cases, modes) if n not in notes]
                    setting_run(
                        suite, mpi, rate, sockbuf, modes, options.out, progress, done, notes
                    )
    return done, notes


def shared_cores_note(cases: Iterable[Case], modes: Iterable[Mode]) -> list[str]:
    """Whether ghosts have no cores of their own: then they take from what the program has."""
    cores = {case.ranks_per_node: case.cores_per_node or case.ranks_per_node for case in cases}
    ghosts = max((mode.ghosts for mode in modes), default=0)
    is_shared = any(count < ranks + ghosts for ranks, count in cores.items())
    return [SHARED_CORES] if ghosts and is_shared else []


def setting_run(
    suite: Suite,
    mpi: Mpi,
    rate: str,
    sockbuf: str,
    modes: list[Mode],
    scratch: Path,
    progress: report.Progress,
    done: list[dict[str, Any]],
    notes: list[str],
) -> None:
    for nodes in sorted({case.nodes for case in suite.cases}):
        with launches.Setting(mpi, rate, sockbuf, nodes, places.built(), scratch) as setting:
            if setting.note and setting.note not in notes:
                notes.append(setting.note)
            for case in suite.cases:
                if mpi.name in case.excluded:
                    note = f"not on {mpi.title}, {case.name}: {case.excluded[mpi.name]}"
                    notes += [note] if note not in notes else []
                elif case.nodes == nodes:
                    done.extend(
                        launches.case_run(setting, case, modes, suite.launches, progress.tell)
                    )


def blas_notes(done: list[dict[str, Any]]) -> list[str]:
    """Which library computed, where programs say so."""
    found = [launch["result"].get("blas") for launch in done if launch["result"]]
    return [f"BLAS: {path}" for path in dict.fromkeys(found) if path]


#: Of numbers in published results: finer than any spread.
SIGNIFICANT_DIGITS = 6


def shortened(value: Any) -> Any:
    """The same with as many digits as a measurement can have."""
    if isinstance(value, float):
        return float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    if isinstance(value, dict):
        return {key: shortened(one) for key, one in value.items()}
    return [shortened(one) for one in value] if isinstance(value, list) else value


#: of fewer launches the quartiles say nothing that minimum, median and maximum do not
QUARTILES_FROM = 4


def without_quartiles(row: dict[str, Any]) -> None:
    if row.get("launches", QUARTILES_FROM) >= QUARTILES_FROM:
        return
    for summary in row.get("values", {}).values():
        summary.pop("q1", None)
        summary.pop("q3", None)


def abridged(document: dict[str, Any]) -> dict[str, Any]:
    """The result without what only debugging needs, and without the places of files on this
    machine, which crashes print: fits a repository."""
    brief = []
    for launch in document["launches"]:
        kept = {
            key: launch[key]
            for key in (
                "mpi",
                "rate",
                "sockbuf",
                "case",
                "mode",
                "repetition",
                "seconds",
                "failure",
            )
        }
        kept["failure"] = re.sub(r"/\S*/", "", kept["failure"])
        brief.append(kept)
    failed = [launch for launch in brief if launch["failure"]]
    for row in document.get("rows", []):
        row["reason"] = re.sub(r"/\S*/", "", row.get("reason", ""))
        without_quartiles(row)
    return {
        **{key: shortened(value) for key, value in document.items() if key != "launches"},
        "launches_total": len(brief),
        "launches_failed": failed,
    }


def results_write(document: dict[str, Any], options: argparse.Namespace, console: Console) -> None:
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / f"{document['suite']}.json"
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    written = [path, *draw(document, options.out, console)]
    if options.publish:
        published = places.publications()
        published.mkdir(parents=True, exist_ok=True)
        small = published / path.name
        small.write_text(
            json.dumps(abridged(document), separators=(",", ":")).replace('{"mpi"', '\n{"mpi"')
            + "\n",
            encoding="utf-8",
        )
        written += [small, *published_write(published)]
    for item in written:
        console.print(f"wrote {places.shown(item)}", markup=False)


def published_write(published: Path) -> list[Path]:
    """The index, the pages and the picture, from all result files; returns what changed."""
    from headway.bench.published import pages, picture

    root = published.parents[2]
    return [*pages.write_all(root), *picture.write(root)]


def draw(document: dict[str, Any], folder: Path, console: Console) -> list[Path]:
    """The plots, where there is what draws them."""
    if importlib.util.find_spec(PLOTTER) is None:
        console.print(f"no plots: {PLOTTER} is not installed (pip install {PLOTTER})")
        return []
    from headway.bench import plots  # it takes its time to load

    return plots.draw(document, folder)


def rows_make(done: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return analysis.rows_make(done) + windows.rows_make(done)


def measure(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    suite = suite_choose(options)
    mpis = mpis_choose(options.mpi)
    try:
        options.out.mkdir(parents=True, exist_ok=True)  # before minutes of launches
    except OSError as error:
        raise HeadwayError(
            f"cannot make the directory {options.out}: {error.strerror}", "name another with --out"
        ) from error
    programs = sorted({case.program for case in suite.cases} - {nwchem.PROGRAM} | {"workrate"})
    if build.build(mpis, places.built(), programs):
        raise HeadwayError("benchmark programs do not build", "see the messages above")
    console.print(f"[bold]{suite.title}[/bold]: {', '.join(mpi.title for mpi in mpis)}")
    started = datetime.datetime.now(datetime.UTC)
    done, notes = suite_run(suite, mpis, options, console)
    return {
        "schema": SCHEMA,
        "date": started.isoformat(timespec="seconds"),
        "machine": machine.describe(),
        "commit": places.commit(),
        "is_tree_clean": places.is_tree_clean(),
        "suite": suite.name,
        "title": suite.title,
        "notes": notes + blas_notes(done),
        "options": {
            "launches": suite.launches,
            "rates": suite.rates,
            "sockbufs": suite.sockbufs,
            "variants": options.variant,
        },
        "mpis": {mpi.name: mpi.title for mpi in mpis},
        "launches": done,
        "rows": rows_make(done),
    }


def programs_render(document: dict[str, Any], options: argparse.Namespace, console: Console) -> int:
    """The table and the page of an earlier result of real programs."""
    programs_suite.table_print(document, console)
    if places.is_published(options.render):
        return 0
    options.render.with_suffix(".md").write_text(
        programs_page.page_make(document), encoding="utf-8"
    )
    return 0


def names_print(console: Console) -> None:
    for suite in suites.SUITES.values():
        console.print(f"{suite.name:16} {suite.title}")
    console.print(f"{programs_suite.NAME:16} {programs_suite.TITLE}")
    for alias, name in suites.ALIASES.items():
        console.print(f"{alias:16} part of {name}")


def document_read(path: Path) -> dict[str, Any]:
    """An earlier result."""
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        document["suite"], document["rows"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise HeadwayError(
            f"{path} is no result of headway bench: {error}", "name the JSON file of a suite"
        ) from error
    return document


def missing(options: argparse.Namespace) -> str:
    """Why a suite of a program that others wrote is left out; it is installed where that is asked
    for."""
    suite = suites.find(options.suite)
    if suite is None or all(case.program != nwchem.PROGRAM for case in suite.cases):
        return ""
    if options.install:
        install.ensure([nwchem.TOLD], consent=True)
    return nwchem.missing()


def bench(options: argparse.Namespace) -> int:
    console = make_console()
    if options.list or not (options.suite or options.render):
        names_print(console)
        return 0
    if options.publish:
        places.publications()
    options.out = options.out or places.results()
    if options.launches is not None and options.launches < 1:
        raise HeadwayError(f"--launches {options.launches}: nothing to measure", "1 or more")
    if options.render:
        document = document_read(options.render)
        if document["suite"] == programs_suite.NAME:
            return programs_render(document, options, console)
        if "launches" in document:
            document["rows"] = rows_make(document["launches"])
    elif options.suite == programs_suite.NAME:
        return programs_suite.run(options, mpis_choose(options.mpi), console)
    elif reason := missing(options):
        console.print(f"{options.suite}: skipped: {reason}", markup=False)
        return 0
    else:
        document = measure(options, console)
    report.tables_print(document, console)
    if "launches" in document:
        results_write(document, options, console)
    return 0 if all(row["is_same_answer"] for row in document["rows"]) else 1
