# SPDX-License-Identifier: BSD-3-Clause
"""Starts the programs: modes, fixed work, alternating launches, failures kept as results."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import statistics
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from headway import records
from headway.bench import causes, machine, nwchem, places, solvers
from headway.bench.cases import FRAMING, Case, Phase
from headway.bench.modes import Mode
from headway.cluster import Cluster, LocalNode, open_cluster
from headway.cluster.options import parse_rate
from headway.mpi import transport
from headway.mpi.mpis import Mpi
from headway.report.one_sided import OneSided
from headway.report.runs import Run

RECORD_KEYS = (
    "engine",
    "trigger",
    "wall_s",
    "mpi_wait_s",
    "thread_cpu_s",
    "ghost",
    "ghost_cpu_s",
    "operations_redirected",
    "operations_to_owners",
    "routes_changed",
    "put_routes_changed",
    "route_looks",
    "rate_looks",
    "rate_exchanges",
    "tracked",
    "p2p_offloaded",
    "p2p_tickets",
    "p2p_sealed_sends",
    "p2p_near",
    "polls",
    "wakes",
    "events",
    "ticks",
    "useful_wakes",
    "stood_down",
    "judged_windows",
    "judged_on_ns",
    "judged_off_ns",
    "judged_off_low_ns",
    "judged_off_high_ns",
)

#: programs of windows of overlap, whose answers do not depend on how much is worked
WINDOWS = ("overlap_p2p", "overlap_coll", "rma_origin")

#: a BLAS is to use the one thread the work is counted for; each reads these when it is loaded
BLAS_THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS"), "1")


#: the program `causes` computes so long, as a multiple of what its messages take
CAUSES_WORK = 1.25


def openmp(case: Case) -> dict[str, str]:
    """As many threads as the program is told to have. Those that wait give their cores away where
    the cores are shared, or each barrier would cost a turn of the scheduler."""
    threads = int(case.options.get("threads", "1"))
    cores = len(os.sched_getaffinity(0))
    is_shared = threads > 1 and threads * case.ranks_per_node * case.nodes > cores
    settings = {"OMP_NUM_THREADS": str(threads)}
    return settings | ({"OMP_WAIT_POLICY": "passive"} if is_shared else {})


def object_find(stdout: str) -> dict[str, Any] | None:
    """The program's JSON object among whatever else was printed."""
    for line in stdout.splitlines():
        start = line.find('{"program"')
        if start >= 0:
            try:
                found: dict[str, Any] = json.loads(line[start:])
                return found
            except json.JSONDecodeError:
                return None
    return None


def records_read(directory: Path) -> list[dict[str, Any]]:
    """What the library said about itself in one launch, abridged."""
    found = []
    for path in sorted(directory.glob("headway.*.json")):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, json.JSONDecodeError):
            continue
        found.append(
            {key: record[key] for key in record if key in RECORD_KEYS or key.startswith("tracked")}
        )
    return found


def windows_count(case: Case, arguments: list[str]) -> int:
    """Windows of overlap in a launch of a case of one size, untimed ones too; 0: not known."""
    given = dict(pair for pair in itertools.pairwise(arguments) if pair[0].startswith("--"))
    timed = "--steps" if case.program == "halo" else "--iterations"
    untimed = "--warmup"
    if len(case.sizes) != 1 or timed not in given or untimed not in given:
        return 0
    return int(given[timed]) + int(given[untimed])


def prediction_read(directory: Path, case: Case, arguments: list[str]) -> dict[str, Any] | None:
    """What a profile says an engine would win back, and why it was waited: seconds a window, of
    the program `causes` of its whole run."""
    found = records.read(directory)
    windows = windows_count(case, arguments)
    if found and case.program == causes.PROGRAM:
        run = Run("profile", found)
        return {"predicted_s": run.prediction.seconds, **causes.profiled(run)}
    if not found or not windows:
        return None
    run = Run("profile", found)
    reasons, count = run.all_reasons, run.size * windows
    names = ("no_progress", "bandwidth", "late", "imbalance", "unknown")
    parts = {f"{name}_s": getattr(reasons, name) / count for name in names}
    if run.one_sided_s > 0:
        one_sided = OneSided(run)
        parts["predicted_ghosts_s"] = one_sided.ghosts_s / windows
        parts["predicted_thread_s"] = one_sided.thread_s / windows
    return {"predicted_s": run.prediction.seconds / windows, **parts, "looks": reasons.looks}


class Setting:
    """One MPI on one kind of link: measures the fixed work there and launches programs."""

    def __init__(
        self, mpi: Mpi, rate: str, sockbuf: str, nodes: int, programs: Path, scratch: Path
    ) -> None:
        self.mpi = mpi
        self.rate = rate
        self.sockbuf = sockbuf
        self.nodes = nodes
        self.programs = programs / places.folder_of(mpi)
        self.scratch = scratch
        self.units_per_s = 0.0
        self.cluster: Cluster | LocalNode | None = None

    def __enter__(self) -> Setting:
        self.cluster = open_cluster(self.nodes, rate=self.rate, sockbuf=self.sockbuf)
        return self

    def __exit__(self, *_: object) -> None:
        assert self.cluster is not None
        if isinstance(self.cluster, Cluster):
            self.cluster.stop()

    @property
    def note(self) -> str:
        assert self.cluster is not None
        return self.cluster.note

    def launch(
        self, case: Case, mode: Mode, arguments: list[str], timeout_s: float
    ) -> dict[str, Any]:
        """One launch under the lock: the program's object, or why there is none."""
        assert self.cluster is not None
        env = BLAS_THREADS | openmp(case) | mode.env
        folder = self.scratch.absolute() / f"records-{os.getpid()}"
        if mode.has_headway:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            env["HEADWAY_RECORD"] = str(folder)
        is_nwchem = case.program == nwchem.PROGRAM
        argv = [str(self.programs / case.program), *arguments, *mode.arguments]
        if case.is_last_apart:
            cores = sorted(os.sched_getaffinity(0))
            apart = places.sources() / "common" / "last_apart.sh"
            argv = ["sh", str(apart), str(cores[0]), str(cores[-1]), *argv]
        launcher_env = mode.launcher_env | transport.settings(
            self.mpi.title, self.cluster.bits_per_s, choice=mode.transport
        )
        place = nwchem.work_folder(self.scratch) if is_nwchem else nullcontext()
        with place as cwd, machine.timed_section():
            done = self.cluster.run(
                self.mpi,
                nwchem.command(case) if is_nwchem else argv,
                env=env,
                launcher_env=launcher_env,
                ranks_per_node=case.ranks_per_node + mode.ghosts,
                cores_per_node=case.cores_per_node or case.ranks_per_node,
                timeout=timeout_s,
                cwd=cwd,
            )
        find = nwchem.result_read if is_nwchem else object_find
        result = find(done.stdout)
        failure = ""
        if done.timed_out:
            failure = f"ran out of its {timeout_s:.0f} s" + (
                " after printing its result" if result else ""
            )
        elif done.returncode != 0:
            failure = f"exit status {done.returncode}: " + last_line(done.stderr or done.stdout)
        elif result is None:
            failure = "printed no result"
        told = records_read(folder) if mode.has_headway else []
        predicted = prediction_read(folder, case, arguments)
        shutil.rmtree(folder, ignore_errors=True)
        return {
            "result": result,
            "failure": failure,
            "seconds": round(done.seconds, 3),
            "wire_bytes": [[b.sent, b.received] for b in done.wire],
            "records": told,
            "prediction": predicted if "HEADWAY_PROFILE" in mode.env else None,
        }

    def work_calibrate(self, case: Case) -> None:
        """Units of work in a second, every rank working and none communicating."""
        done = self.launch(
            Case(
                "work rate",
                "workrate",
                ranks_per_node=case.ranks_per_node,
                cores_per_node=case.cores_per_node,
            ),
            Mode("plain"),
            [],
            30.0,
        )
        if done["result"] is None:
            raise RuntimeError(f"{self.mpi.title}: workrate failed: {done['failure']}")
        self.units_per_s = done["result"]["units_per_s"]

    def wire_s(self, case: Case) -> dict[int, float]:
        """Nominal time of each size on the link; empty where the link has no rate."""
        bits_per_s = parse_rate(self.rate)
        assert self.cluster is not None
        if not bits_per_s or not self.cluster.is_wire:
            return {}
        trips = 2 if case.program == "multipair" else 1
        return {size: trips * case.traffic * size * FRAMING * 8 / bits_per_s for size in case.sizes}

    def wires_s(self, case: Case) -> dict[str, float]:
        """The same by what results name it by: the size, or the transfer of a phase."""
        if not case.phases:
            return {str(size): seconds for size, seconds in self.wire_s(case).items()}
        bits_per_s = parse_rate(self.rate)
        assert self.cluster is not None
        if not bits_per_s or not self.cluster.is_wire:
            return {}
        return {one.key: one.wire_bytes * FRAMING * 8 / bits_per_s for one in case.phases}

    def phases_make(self, case: Case) -> str:
        """KIND:BYTES:WORK_US:WINDOWS for each phase. On a link without a rate plain windows that
        wait at once say how long the wire is."""
        wires_s = dict(self.wires_s(case))
        for phase in case.phases:
            if phase.work and phase.key not in wires_s:
                probe = self.plain_probe(case, ["--phases", f"{phase.key}:0:20"])
                wires_s[phase.key] = statistics.median(probe["phases"][0]["total_s"])

        def work_us(phase: Phase) -> int:
            work_s = phase.work_s or (phase.work and phase.work * wires_s[phase.key])
            return max(1, round(1e6 * work_s)) if work_s else 0

        return ",".join(f"{one.key}:{work_us(one)}:{one.windows}" for one in case.phases)

    def plain_probe(self, case: Case, arguments: list[str]) -> dict[str, Any]:
        """One plain launch whose times fix the work of all modes."""
        done = self.launch(case, Mode("plain"), arguments, case.timeout_s)
        if done["result"] is None:
            raise RuntimeError(f"{self.mpi.title}: {case.program} fails plainly: {done['failure']}")
        result: dict[str, Any] = done["result"]
        return result

    def arguments_make(self, case: Case) -> list[str]:
        """The command line of every mode of this case, the same for all."""
        arguments = [
            word
            for name, value in (case.options | case.options_on.get(self.mpi.name, {})).items()
            for word in ((f"--{name}", value) if value else (f"--{name}",))
        ]
        if case.program in ("get_compute_update", *solvers.PROGRAMS):
            return arguments
        if case.phases:
            return [*arguments, "--phases", self.phases_make(case)]
        if case.program == causes.PROGRAM:
            return [*arguments, *self.causes_make(case)]
        if case.program == "halo":
            return arguments + ["--rows", str(self.halo_rows(case, arguments))]
        if case.program == "cpuburn":
            wire_s = self.wire_s(case).get(case.sizes[0], 0.01)
            return [
                *arguments,
                "--bytes",
                str(case.sizes[0]),
                "--work-units",
                str(max(1, round(wire_s * self.units_per_s))),
            ]
        if not case.sizes:
            return arguments
        arguments += ["--sizes", ",".join(map(str, case.sizes))]
        if case.program in WINDOWS:
            arguments += self.iterations(case)
        if case.program == "progression":
            probe = self.plain_probe(case, ["--sizes", arguments[-1], "--steps", "1"])
            base = [max(1, round(1e6 * point["latency_s"])) for point in probe["points"]]
            return [
                *arguments,
                "--base-latency-us",
                ",".join(map(str, base)),
                "--units-per-s",
                f"{self.units_per_s:.0f}",
            ]
        work_s = self.work_s(case, arguments)
        if work_s is None:
            return arguments
        trips = 2 if case.program == "multipair" else 1
        units = [max(1, round(work_s[size] / trips * self.units_per_s)) for size in case.sizes]
        return [*arguments, "--work-units", ",".join(map(str, units))]

    def causes_make(self, case: Case) -> list[str]:
        """A computation somewhat longer than the messages are on the wire."""
        (size,) = case.sizes
        wire_s = self.wire_s(case).get(size, 0.01)
        given = {
            "--bytes": size,
            "--wire-ns": round(1e9 * wire_s),
            "--work-units": max(1, round(CAUSES_WORK * wire_s * self.units_per_s)),
        }
        return [word for name, value in given.items() for word in (name, str(value))]

    def has_nominal_work(self, case: Case) -> bool:
        """Is the work so long in seconds, and the answer the same whatever is worked? Then it is
        fixed for each repetition: machines that others share change their speed meanwhile.
        Processes of `phases` do so themselves."""
        is_known = isinstance(case.work, float) or (case.work == "wire" and self.wire_s(case))
        return bool(is_known) and case.program in WINDOWS

    def iterations(self, case: Case) -> list[str]:
        """More windows for small sizes, where one is short and noisy. The untimed ones are as many
        as the library's policy learns from, in every mode."""
        wire_s = self.wire_s(case)
        timed = [
            min(80, max(10, round(case.windows_s / wire_s[size]))) if wire_s else 20
            for size in case.sizes
        ]
        untimed = [max(12, count // 3) for count in timed]
        return ["--iterations", ",".join(map(str, timed)), "--warmup", ",".join(map(str, untimed))]

    def work_s(self, case: Case, arguments: list[str]) -> dict[int, float] | None:
        """Seconds of work in a window of each size; None for no work at all."""
        if case.work == "none":
            return None
        if isinstance(case.work, float):
            return dict.fromkeys(case.sizes, case.work)
        nominal = self.wire_s(case) if case.work == "wire" else {}
        if nominal:
            return nominal
        probe = self.plain_probe(case, arguments)
        name = "transfer" if case.work == "wire" else ""
        return {
            point["bytes"]: point["transfer"]["transfer_alone_s"]["median"]
            if name
            else point["total_s"]["median"]
            for point in probe["points"]
        }

    def halo_rows(self, case: Case, arguments: list[str]) -> int:
        """Rows whose interior update takes as long as the halo is on the wire."""
        rows = 32
        wire_s = self.wire_s(case).get(case.sizes[0], 0.01)
        for _ in range(2):
            probe = self.plain_probe(case, [*arguments, "--rows", str(rows), "--steps", "2"])
            row_s = probe["compute"]["compute_alone_s"]["median"] / (rows - 2)
            rows = max(4, min(4096, 2 + round(wire_s / row_s)))
        return rows


#: in the place of a launch of a peer that has already run out of time once in this case
NOT_LAUNCHED: dict[str, Any] = {
    "result": None,
    "failure": "not started again after running out of time",
    "seconds": 0.0,
    "wire_bytes": [],
    "records": [],
    "prediction": None,
}


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no message"


def case_run(
    setting: Setting,
    case: Case,
    modes: list[Mode],
    launches: int,
    tell: Callable[[dict[str, Any]], None],
) -> Iterator[dict[str, Any]]:
    """Every launch of a case: modes alternate within a repetition, the order turning each time."""
    common = {
        "mpi": setting.mpi.name,
        "rate": setting.rate,
        "sockbuf": setting.sockbuf,
        "case": case.name,
        "program": case.program,
        "sizes": list(case.sizes),
        "ranks_per_node": case.ranks_per_node,
        "first": case.first,
    }
    try:
        has_work = case.work != "none" and not case.phases
        if has_work or case.program in ("cpuburn", "progression"):
            setting.work_calibrate(case)
        arguments = setting.arguments_make(case)
    except RuntimeError as reason:
        row: dict[str, Any] = {
            **common,
            "mode": "plain",
            "repetition": 0,
            "wire_s": {},
            "arguments": [],
            "result": None,
            "failure": str(reason),
            "seconds": 0.0,
            "wire_bytes": [],
            "records": [],
        }
        tell(row)
        yield row
        return
    wire_s = setting.wires_s(case)
    limit_s = case.timeout_s
    given_up: set[str] = set()
    for repetition in range(launches):
        turn = repetition % len(modes)
        if repetition and setting.has_nominal_work(case):
            with suppress(RuntimeError):  # what was found before will do
                setting.work_calibrate(case)
                arguments = setting.arguments_make(case)
        for mode in modes[turn:] + modes[:turn]:
            done = (
                NOT_LAUNCHED
                if mode.name in given_up
                else setting.launch(case, mode, arguments, limit_s)
            )
            row = {
                **common,
                "mode": mode.name,
                "repetition": repetition,
                "wire_s": wire_s,
                "arguments": arguments,
                **done,
            }
            if mode.name == "plain" and not row["failure"]:
                # Some peers never end: once plain is known, nobody gets more than many times that.
                limit_s = min(case.timeout_s, 10.0 + 6.0 * row["seconds"])
            if mode.name.startswith("peer:") and row["seconds"] >= limit_s:
                given_up.add(mode.name)
            tell(row)
            yield row
