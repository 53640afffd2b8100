#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Do the tests notice a library that does nothing, or the wrong thing? Runs mutations of it.

Each is a change of a few words, made in a scratch copy of this checkout and built there. The tests
named beside it must pass without the change and fail with it. Words, not paths, say where a change
goes: they must stand in exactly one file below src/.

Usage: mutations.py [NAME...]; without a name, all.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD_LIMIT_S = 600
TEST_LIMIT_S = 240


@dataclass(frozen=True)
class Mutation:
    name: str
    old: str
    new: str
    tests: tuple[str, ...]  # arguments of pytest; or "unit", for a unit program
    unit: str = ""


ONE_MPI = ("--mpis", "mpich5")
MUTATIONS = [
    Mutation(
        "the-thread-finds-no-work",
        "static bool has_work(void)\n{\n    if (hw_atomic_load_seq_cst(&is_retired)",
        "static bool has_work(void)\n{\n    if (true || hw_atomic_load_seq_cst(&is_retired)",
        (*ONE_MPI, "tests/test_gain.py", "-k", "complete_before or policy"),
    ),
    Mutation(
        "the-gate-never-opens",
        "    uint32_t gate = hw_atomic_and_seq_cst(&hw_gate, FENCED);\n    if (",
        "    uint32_t gate = hw_atomic_load_seq_cst(&hw_gate);\n    if (",
        (),
        unit="test_gate",
    ),
    Mutation(
        "no-redirection",
        "    if (hw_options.redirect == HW_OPTION_REDIRECT_OFF)\n",
        "    if (plan)\n",
        (*ONE_MPI, "tests/test_ghosts.py", "-k", "test_same_output and mpich5-ghosts"),
    ),
    Mutation(
        "the-policy-is-always-off",
        "    class->opened_ns = 0;\n    if (class->idle_run == HW_POLICY_IDLE_RUN)\n",
        "    class->opened_ns = 0;\n    if (class)\n        return HW_POLICY_WAY_OFF;\n"
        "    if (class->idle_run == HW_POLICY_IDLE_RUN)\n",
        (*ONE_MPI, "tests/test_gain.py", "-k", "policy"),
    ),
    Mutation(
        "an-accumulate-is-applied-twice",
        "    else if (job->operation != HW_REAL_READ)\n",
        "    else if (job->operation != HW_REAL_READ)\n"
        "        hw_bottom.Reduce_local(origin, target, (int)(bytes / job->element_bytes),\n"
        "                               job->element, job->op);\n"
        "    if (job->operation != HW_REAL_READ && job->operation != HW_REAL_REPLACE)\n",
        (*ONE_MPI, "tests/test_ghosts.py", "-k", "near_and_far"),
    ),
    Mutation(
        "a-flush-never-sleeps",
        "    hw_rma_flush_wait_is_on = hw_triggers_are_told(&triggers);\n",
        "    hw_rma_flush_wait_is_on = false;\n",
        (*ONE_MPI, "tests/test_ghost_windows.py", "-k", "refused_alike"),
    ),
    Mutation(
        "a-message-that-came-is-not-unpacked",
        "    copy(message, bytes < message->bytes ? bytes : message->bytes);\n",
        "    (void)message;\n",
        (*ONE_MPI, "tests/test_packed_messages.py", "-k", "random_messages and shm"),
    ),
    Mutation(
        "a-persistent-send-is-not-packed-anew",
        "    struct hw_pack_message *message = attachment;\n"
        "    if (message->is_packed && message->given.direction == HW_SHAPE_PACK)\n",
        "    struct hw_pack_message *message = attachment;\n"
        "    static int starts;\n"
        "    if (starts++ == 0 && message->is_packed &&\n"
        "        message->given.direction == HW_SHAPE_PACK)\n",
        (*ONE_MPI, "tests/test_packed_messages.py", "-k", "random_messages and shm"),
    ),
    Mutation(
        "no-message-is-moved",
        "    uint64_t size, bytes = hw_engines_bytes(sent->count, sent->datatype);\n"
        "    MPI_Datatype element = hw_datatype_element_of(sent->datatype, &size);\n",
        "    uint64_t size, bytes = hw_engines_bytes(sent->count, sent->datatype);\n"
        '    if (bytes > 0)\n        return "p2p: none";\n'
        "    MPI_Datatype element = hw_datatype_element_of(sent->datatype, &size);\n",
        (*ONE_MPI, "tests/test_moved.py", "-k", "every_way"),
    ),
    Mutation(
        "a-send-is-complete-before-the-ghost-has-read-it",
        "        hw_p2p_own_wait(is_cell_done, transfer->cell);\n        take_cell(transfer);\n",
        "        if (!transfer->cell)\n"
        "            hw_p2p_own_wait(is_cell_done, transfer->cell);\n"
        "        take_cell(transfer);\n",
        (*ONE_MPI, "tests/test_moved.py", "-k", "every_way or random_programs"),
    ),
    Mutation(
        "ghosts-make-no-collective",
        "    if (!is_wanted())\n        return HW_DECLINED;\n    if (!hw_coll_opened.is_open) {\n",
        "    if (true || !is_wanted())\n        return HW_DECLINED;\n"
        "    if (!hw_coll_opened.is_open) {\n",
        (*ONE_MPI, "tests/test_coll_moved.py", "-k", "every_kind"),
    ),
    Mutation(
        "the-helper-matches-nothing",
        "    for (uint64_t number = *first; number < posted; number++) {\n",
        "    for (uint64_t number = posted; number < posted; number++) {\n",
        (*ONE_MPI, "tests/test_gain.py", "-k", "helper_says_when"),
    ),
    Mutation(
        "no-route-ever-changes",
        "    if (is_longer(used, left, MARGIN_PERCENT)) {\n        route->way = other(route);\n",
        "    if (left == 0 && is_longer(used, left, MARGIN_PERCENT)) {\n"
        "        route->way = other(route);\n",
        (),
        unit="test_route",
    ),
    Mutation(
        "no-operation-is-deferred",
        "static inline bool hw_rma_has_late(const struct hw_rma_window *window)\n{\n",
        "static inline bool hw_rma_has_late(const struct hw_rma_window *window)\n{\n"
        "    if (window)\n        return false;\n",
        (*ONE_MPI, "tests/test_deferred.py", "-k", "origin_does_not_wait"),
    ),
]


def run(scratch: Path, words: list[str], limit_s: int) -> subprocess.CompletedProcess[str] | None:
    """None where it takes too long, which is a failure too."""
    env = {**os.environ, "PATH": f"{scratch}/build/venv/bin:{os.environ['PATH']}"}
    argv = ["timeout", "-k", "5", str(limit_s), *words]
    done = subprocess.run(
        argv, cwd=scratch, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    return None if done.returncode in (124, 137) else done


def copy_to(scratch: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file() and not name.startswith("doc/results/"):
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, scratch / name)
    (scratch / "build" / "lib").mkdir(parents=True)
    for name in ("venv", "mpi"):
        (scratch / "build" / name).symlink_to((ROOT / "build" / name).resolve())
    # The family that no mutation is tried with is not built anew.
    shutil.copy2(ROOT / "build/lib/libheadway-ompi.so", scratch / "build/lib")


def build(scratch: Path) -> str:
    """What went wrong, or nothing."""
    words = ["cmake", "--preset", "default", "--log-level=WARNING", "-DHEADWAY_FLAVOURS=mpich"]
    words.append(f"-DPython3_EXECUTABLE={scratch}/build/venv/bin/python3")
    units = sorted({one.unit for one in MUTATIONS if one.unit})
    targets = ["cmake", "--build", "--preset", "default", "--target", "headway-mpich", *units]
    for command in (words, [*targets, "--", "--quiet"]):
        done = run(scratch, command, BUILD_LIMIT_S)
        if done is None or done.returncode != 0:
            return (done.stdout + done.stderr)[-2000:] if done else "it takes too long"
    return ""


def passes(scratch: Path, one: Mutation) -> bool:
    words = [f"build/cmake/unit/{one.unit}"]
    if one.tests:
        words = [
            "build/venv/bin/python",
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            *one.tests,
        ]
    done = run(scratch, words, TEST_LIMIT_S)
    return done is not None and done.returncode == 0


def place_of(scratch: Path, one: Mutation) -> Path:
    sources = sorted((scratch / "src").rglob("*.[ch]"))
    found = [path for path in sources if path.read_text().count(one.old) == 1]
    if len(found) != 1:
        raise SystemExit(f"mutations: {one.name}: its words stand in {len(found)} files of src/")
    return found[0]


def is_noticed(scratch: Path, one: Mutation) -> bool:
    place = place_of(scratch, one)
    text = place.read_text()
    if not passes(scratch, one):
        print(f"{one.name}: the tests fail without it")
        return False
    place.write_text(text.replace(one.old, one.new))
    try:
        if wrong := build(scratch):
            print(f"{one.name}: it does not build: {wrong}")
            return False
        is_red = not passes(scratch, one)
    finally:
        place.write_text(text)
    wrong = build(scratch)
    print(f"{one.name}: {'noticed' if is_red else 'NOT NOTICED'}{wrong and '; then no build'}")
    return is_red and not wrong


def main(names: list[str]) -> int:
    unknown = set(names) - {one.name for one in MUTATIONS}
    if unknown:
        known = ", ".join(one.name for one in MUTATIONS)
        print(f"mutations: none is called {', '.join(sorted(unknown))}; there are: {known}")
        return 2
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        scratch = Path(folder)
        copy_to(scratch)
        if wrong := build(scratch):
            print(f"mutations: the copy does not build: {wrong}")
            return 1
        chosen = [one for one in MUTATIONS if one.name in names or not names]
        noticed = [is_noticed(scratch, one) for one in chosen]
    print(f"{sum(noticed)} of {len(noticed)} mutations are noticed")
    return 0 if all(noticed) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
