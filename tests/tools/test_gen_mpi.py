# SPDX-License-Identifier: BSD-3-Clause
"""Description: the generator of entry points refuses what it does not understand, and guards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import gen_profiled  # noqa: E402  (needs the path above)
import mpi_header  # noqa: E402

HEADER = """
#define MPICH_VERSION "4.9.9"
typedef int MPI_Comm; typedef int MPI_Request; typedef int MPI_Datatype;
typedef long long MPI_Count;
typedef struct {{ int MPI_SOURCE; }} MPI_Status;
typedef int (MPI_Copy_function)(MPI_Comm, int, void *, void *, void *, int *);
int MPI_Pcontrol(const int level, ...);
double MPI_Wtime(void);
int MPI_Barrier(MPI_Comm comm) __attribute__((deprecated("see (5)")));
int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, MPI_Request *request);
int MPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request);
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status *statuses);
int MPI_Wait(MPI_Request *request);
int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request);
{more}
"""

SPEC = """
[leaf]
environment = ["Wtime"]
[world]
collectives = ["Barrier"{world}]
[pass]
other = [{passed}]
[blocking]
functions = [{blocking}]
[hook.p2p]
widened = [{widened}]
functions = ["Isend", "Waitall"]
[hook.p2p.doors]
Waitall = "count, {requests}"
[hook.p2p.sized]
Isend = "count, datatype"
[hook.completion]
only_known = true
functions = ["Wait"]
[posted.icollective]
parameters = "MPI_Comm comm, MPI_Request *request"
[posted.icollective.functions]
Ibarrier = "comm, request"
[asked.p2p]
widened = ["count"]
moved = ["position"]
numbers = ["counts"]
functions = [{asked}]
{shared}
[asked.p2p.unless]
Pack = "is_small(count, position)"
[before]
Wait = "see({{first}})"
[none]
Pcontrol = "variadic"
[frequent]
groups = ["{frequent}"]
"""


def generate(
    folder: Path,
    more: str = "",
    world: str = "",
    passed: str = "",
    widened: str = '"count"',
    requests: str = "requests",
    blocking: str = "",
    frequent: str = "world.collectives",
    asked: str = "",
    shared: str = "",
    own: str = "",
) -> tuple[int, str]:
    header = folder / "mpi.h"
    header.write_text(HEADER.format(more=more))
    spec = folder / "spec.toml"
    fields = {"world": world, "passed": passed, "widened": widened, "frequent": frequent}
    fields |= {"requests": requests, "blocking": blocking, "asked": asked, "shared": shared}
    spec.write_text(SPEC.format(**fields) + own)
    command = [
        sys.executable,
        str(ROOT / "tools/gen_mpi.py"),
        "--flavour",
        "mpich",
        "--spec",
        str(spec),
    ]
    command += ["--header", str(header), "--out", str(folder / "out")]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stderr


def entry(folder: Path, name: str) -> str:
    text = (folder / "out" / "entries.c").read_text()
    return text.partition(f"#undef MPI_{name}\n")[2].partition("#undef MPI_")[0]


def test_each_class_is_written(tmp_path: Path) -> None:
    assert generate(tmp_path) == (0, "")
    assert "return hw_real.Wtime();" in entry(tmp_path, "Wtime")
    assert "hw_inside" not in entry(tmp_path, "Wtime")
    barrier = entry(tmp_path, "Barrier")
    assert "return hw_bottom.Barrier(comm);" in barrier
    assert "return slow_Barrier(comm);" in barrier
    translated = "comm = hw_world_comm(comm);\n    int rc = hw_real."
    assert f"{translated}Barrier(comm);" in barrier
    assert f"{translated}Ibarrier(comm, request);" in entry(tmp_path, "Ibarrier")
    assert 'HW_ALIAS("MPI_Barrier") int PMPI_Barrier(MPI_Comm comm);' in barrier
    waitall = entry(tmp_path, "Waitall")
    assert (
        "if (hw_request_forget(count, requests))\n        return hw_waitall(" in waitall
        and "hw_waitall(count" in waitall
    )
    wait = "rc = HW_UNLIKELY(hw_request_is_any_known()) ? hw_wait(request) : hw_real.Wait(request);"
    assert wait in entry(tmp_path, "Wait")
    assert "hw_icollective_posted(comm, request);" in entry(tmp_path, "Ibarrier")
    assert not entry(tmp_path, "Pcontrol")


def test_one_hook_serves_both_twins(tmp_path: Path) -> None:
    assert generate(tmp_path)[0] == 0
    for name in ("Isend", "Isend_c"):
        assert "hw_isend(buf, count, datatype, request)" in entry(tmp_path, name)
    inline = (tmp_path / "out" / "real_inline.h").read_text()
    assert "if (count == (int)count)" in inline and "hw_real.Isend_c(buf, count" in inline


def test_blocking_calls_are_timed(tmp_path: Path) -> None:
    assert generate(tmp_path, blocking='"Barrier"') == (0, "")
    barrier = entry(tmp_path, "Barrier")
    assert barrier.count("HW_BLOCKING(hw_real.Barrier(comm))") == 2
    assert "HW_BLOCKING" not in entry(tmp_path, "Ibarrier")


def test_engines_are_asked(tmp_path: Path) -> None:
    """By the hook; where there is none by the entry, after one test."""
    assert generate(tmp_path, asked='"Barrier", "Isend"', blocking='"Barrier"') == (0, "")
    barrier = entry(tmp_path, "Barrier")
    test = "HW_UNLIKELY(hw_engines_is_asked_p2p() || hw_inside_is_watched())"
    assert f"int rc = {test} ? asked_Barrier(comm) : hw_real.Barrier(comm);" in barrier
    asked = "(rc = hw_ask_barrier(comm)) != HW_DECLINES ? rc : hw_real.Barrier(comm)"
    assert f"return HW_BLOCKING({asked});" in barrier
    assert "asked_" not in entry(tmp_path, "Isend")
    calls = (tmp_path / "out" / "engine_calls.h").read_text()
    arguments = "const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request"
    assert f"int (*isend)({arguments});" in " ".join(calls.split())
    assert "HW_ENGINES_ASK(p2p, barrier, comm);" in calls
    status, error = generate(tmp_path, asked='"Barrier", "Barrier"')
    assert status == 1 and "engines cannot be asked about Barrier, or are twice" in error


def test_what_an_engine_took_is_not_told_of(tmp_path: Path) -> None:
    assert generate(tmp_path, asked='"Ibarrier"') == (0, "")
    ibarrier = entry(tmp_path, "Ibarrier")
    arguments = "(comm, request)"
    assert f"!= HW_DECLINES ? rc : plain_Ibarrier{arguments};" in ibarrier
    assert f"asked_Ibarrier{arguments} : plain_Ibarrier{arguments};" in ibarrier
    assert ibarrier.count(f"hw_icollective_posted{arguments};") == 1


def test_engines_are_asked_within(tmp_path: Path) -> None:
    """About calls of callbacks, unless another library passes them on."""
    own = '[within]\ngroups = ["p2p"]\n'
    assert generate(tmp_path, asked='"Barrier", "Isend"', own=own) == (0, "")
    isend = "buf, count, datatype, request"
    text = " ".join(entry(tmp_path, "Isend_c").split())
    assert f"HW_WITHIN(hw_ask_isend({isend}), hw_bottom.Isend_c({isend}))" in text
    barrier = "HW_WITHIN_ON(comm, hw_ask_barrier(comm), hw_bottom.Barrier(comm))"
    assert f"comm = hw_world_comm(comm);\n    return {barrier};" in entry(tmp_path, "Barrier")
    assert "HW_WITHIN" not in entry(tmp_path, "Wait")
    table = (tmp_path / "out" / "real_table.c").read_text()
    assert f"hw_real_next_table.Isend_c({isend});" in table and "marked_Wait" not in table
    status, error = generate(tmp_path, own='[within]\nfunctions = ["Barrier"]\n')
    assert status == 1 and "engines cannot be asked about Barrier within a call" in error


def test_functions_share_a_member(tmp_path: Path) -> None:
    """Which an engine is asked that has none for the function itself."""
    shared = '[asked.p2p.shared.sends]\nparameters = "MPI_Count count"\n'
    shared += '[asked.p2p.shared.sends.functions]\nIsend = "count"\n'
    assert generate(tmp_path, asked='"Barrier", "Isend"', shared=shared) == (0, "")
    calls = (tmp_path / "out" / "engine_calls.h").read_text()
    assert "int (*isend)(const void *buf, MPI_Count count," in calls
    assert "    int (*sends)(MPI_Count count);\n};" in calls
    own = "isend, (buf, count, datatype, request)"
    assert f"HW_ENGINES_ASK_SHARED(p2p, {own}, sends, (count));" in calls
    assert "HW_ENGINES_ASK(p2p, barrier, comm);" in calls
    status, error = generate(tmp_path, asked='"Barrier"', shared=shared)
    assert status == 1 and "sends of p2p cannot be shared by Isend" in error


def test_what_is_moved_on_is_widened(tmp_path: Path) -> None:
    """Engines move an MPI_Count; the program's number gets what it became."""
    pack = "int MPI_Pack(int count, int *position, MPI_Comm comm);"
    assert generate(tmp_path, more=pack, world=', "Pack"', asked='"Pack"') == (0, "")
    assert "() && !is_small(count, position)) ? asked_Pack(" in entry(tmp_path, "Pack")
    asked = entry(tmp_path, "Pack").split("profiled_Pack")[0]
    assert "MPI_Count wide_position = position ? *position : -1;" in asked
    assert "int rc = hw_ask_pack(count, &wide_position, comm);" in asked
    assert "*position = (int)wide_position;" in asked
    calls = (tmp_path / "out" / "engine_calls.h").read_text()
    assert "int (*pack)(MPI_Count count, MPI_Count *position, MPI_Comm comm);" in calls


def test_arrays_of_numbers_have_a_width(tmp_path: Path) -> None:
    """One member serves both twins."""
    more = "int MPI_Iall(const int counts[], MPI_Comm comm);"
    more += "int MPI_Iall_c(const MPI_Count counts[], MPI_Comm comm);"
    assert generate(tmp_path, more=more, world=', "Iall"', asked='"Iall"') == (0, "")
    for name in ("Iall", "Iall_c"):
        assert "hw_ask_iall(HW_ENGINE_NUMBERS(counts), comm)" in entry(tmp_path, name)
        assert f"hw_real.{name}(counts, comm)" in entry(tmp_path, name)
    calls = (tmp_path / "out" / "engine_calls.h").read_text()
    assert "int (*iall)(struct hw_engine_numbers counts, MPI_Comm comm);" in calls


def test_a_statement_names_the_first_argument(tmp_path: Path) -> None:
    """Headers call arguments what they like."""
    assert generate(tmp_path) == (0, "")
    assert entry(tmp_path, "Wait").count("see(request);") == 3


def test_a_small_message_needs_no_hook(tmp_path: Path) -> None:
    assert generate(tmp_path)[0] == 0
    test = "HW_UNLIKELY(!hw_track_is_small(count, datatype))"
    for name in ("Isend", "Isend_c"):
        assert f"rc = {test} ? hw_isend(" in entry(tmp_path, name)
        assert f": hw_real.{name}(buf, count," in entry(tmp_path, name)


def test_rare_entries_are_apart(tmp_path: Path) -> None:
    assert generate(tmp_path)[0] == 0
    barrier, isend = entry(tmp_path, "Barrier"), entry(tmp_path, "Isend")
    assert "HW_EXPORT HW_FREQUENT int MPI_Barrier" in barrier
    assert "static HW_NESTED int slow_Barrier" in barrier
    assert "HW_EXPORT HW_RARE int MPI_Isend" in isend
    assert "static HW_NESTED_RARE int slow_Isend" in isend


def test_cold_ways(tmp_path: Path) -> None:
    assert generate(tmp_path)[0] == 0
    isend = entry(tmp_path, "Isend")
    short = isend.partition("HW_EXPORT")[2]
    assert "inside->site = __builtin_return_address(0);" in short
    assert "return slow_Isend(buf, count, datatype, request);" in short
    assert "hw_profile" not in short and "hw_bottom" not in short
    assert "return entry_Isend(buf, count, datatype, request);" in isend
    assert 'hw_profile_enter(&call, "Isend", site, 0);' in isend
    size = "if (rc == MPI_SUCCESS)\n        call.bytes = hw_profiled_bytes(count, datatype, frees);"
    assert 0 < isend.find("hw_profile_leave(&call);") < isend.find(size)
    assert 0 < isend.find(gen_profiled.FREES) < isend.find("int rc = ")
    assert "hw_profiled_posted(&call, rc, request, false);" in isend
    waitall = entry(tmp_path, "Waitall")
    assert "hw_profiled_hold(&call, count, requests, true);" in waitall
    assert "hw_profiled_release(&call, requests, rc == MPI_SUCCESS, true);" in waitall
    assert waitall.count("hw_request_forget") == 1


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("MPI_Send(int count, MPI_Datatype datatype)", "hw_profiled_bytes(count, datatype, frees)"),
        ("MPI_Gather(int sendcount, MPI_Datatype sendtype)", "0"),
        (
            "MPI_Allgather(int sendcount, MPI_Datatype sendtype, int recvcount, "
            "MPI_Datatype recvtype)",
            "hw_profiled_bytes(recvcount, recvtype, frees)",
        ),
        ("MPI_Ialltoallv(const int recvcounts[], MPI_Datatype recvtype)", "0"),
        (
            "MPI_Sendrecv(int sendcount, MPI_Datatype sendtype, int dest)",
            "hw_profiled_bytes(dest == HW_PROC_NULL ? 0 : sendcount, sendtype, frees)",
        ),
        (
            "MPI_Sendrecv_replace(int count, MPI_Datatype datatype, int dest, int source)",
            "hw_profiled_bytes(dest == HW_PROC_NULL && source == HW_PROC_NULL ? 0 : count, "
            "datatype, frees)",
        ),
        ("MPI_Get_accumulate(int origin_count, MPI_Datatype origin_datatype)", "0"),
        ("MPI_Get_count(int *count, MPI_Datatype datatype)", "0"),
    ],
)
def test_bytes_only_from_arguments_that_count(declaration: str, expected: str) -> None:
    """A root's arguments, or those MPI_IN_PLACE makes void, must not be looked at."""
    prototype = mpi_header.parse_prototype(f"int {declaration}", "")
    assert gen_profiled.scalar_bytes(prototype) == expected


@pytest.mark.parametrize(
    ("more", "extra", "complaint"),
    [
        ("int MPI_New(int x);", {}, "MPI_New has no class"),
        ("int MPI_Odd(int (*f)(int));", {"passed": '"Odd"'}, "MPI_Odd: cannot parse the parameter"),
        ("int (*MPI_Worse(void))(int);", {"passed": '"Worse"'}, "cannot parse the declaration"),
        (
            "int MPI_Take(MPI_Request *r);",
            {"passed": '"Take"'},
            "takes a request in or out but is pass",
        ),
        (
            "int MPI_Tell(MPI_Comm comm);",
            {"passed": '"Tell"'},
            "MPI_Tell takes a communicator but is pass",
        ),
        ("int MPI_Some(int n, MPI_Request r[]);", {"world": ', "Some"'}, "but is world"),
        (
            "int MPI_Barrier_c(MPI_Comm c);",
            {"passed": '"Barrier_c"'},
            "Barrier_c is pass but Barrier is world",
        ),
        ("", {"passed": '"Barrier"'}, "Barrier is both world and pass"),
        ("", {"widened": ""}, "hook Isend does not widen what MPI_Isend_c widens"),
        ("", {"requests": "reqs"}, "MPI_Waitall has no parameter reqs"),
        ("", {"blocking": '"Isend"'}, "Isend is blocking, which class hook is not asked"),
        ("", {"blocking": '"Mark"'}, "MPI_Mark has no class"),
        ("", {"frequent": "world.fun"}, "frequent names no group world.fun"),
    ],
)
def test_what_is_refused(tmp_path: Path, more: str, extra: dict[str, str], complaint: str) -> None:
    code, said = generate(tmp_path, more=more, **extra)
    assert code == 1
    assert complaint in said and len(said.splitlines()) == 1


def test_a_request_read_only_may_pass(tmp_path: Path) -> None:
    more = "int MPI_Peek(int n, const MPI_Request r[]); int MPI_Ready(MPI_Request r);"
    assert generate(tmp_path, more=more, passed='"Peek", "Ready"') == (0, "")


def test_a_const_that_the_header_forgets(tmp_path: Path) -> None:
    """As those of MPICH 4.2 do. What is exported agrees with the header, the rest with ours."""
    more = "int MPI_Peek(int n, MPI_Request r[]);"
    own = '[prototypes]\nPeek = "int MPI_Peek(int n, const MPI_Request r[])"\n'
    assert generate(tmp_path, more=more, passed='"Peek"', own=own) == (0, "")
    written = entry(tmp_path, "Peek")
    assert "int MPI_Peek(int n, MPI_Request r[])" in written
    assert "slow_Peek(int n, MPI_Request r[])" in written
    table = (tmp_path / "out" / "real_table.h").read_text()
    assert "(*Peek)(int n, const MPI_Request r[]);" in table


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Iallreduce", "HW_DELAY_ALL, HW_DELAY_ALL, -1"),
        ("Ibarrier", "HW_DELAY_ALL, HW_DELAY_ALL, -1"),
        ("Ireduce_scatter_block_c", "HW_DELAY_ALL, HW_DELAY_ALL, -1"),
        ("Alltoallv_init", "HW_DELAY_ALL, HW_DELAY_ALL, -1"),
        ("Ibcast", "HW_DELAY_IF_ROOT, hw_profiled_source(root), -1"),
        ("Iscatterv_c", "HW_DELAY_IF_ROOT, hw_profiled_source(root), -1"),
        ("Gather", "HW_DELAY_ALL, HW_DELAY_ALL, -1"),
        ("Igatherv", "HW_DELAY_ALL, HW_DELAY_ANYBODY, -1"),
        ("Reduce_init_c", "HW_DELAY_ALL, HW_DELAY_ANYBODY, -1"),
        ("Reduce_local", None),
    ],
)
def test_whom_collectives_are_about(name: str, expected: str | None) -> None:
    assert gen_profiled.partners(mpi_header.Prototype("int", name, ())) == expected
