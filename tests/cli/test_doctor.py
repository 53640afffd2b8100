# SPDX-License-Identifier: BSD-3-Clause
"""`headway doctor`: what it finds out about the machine, an MPI and a program."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import matrix
import pytest
from fortran import compile_or_skip
from headway import domains
from headway.doctor import calls, command, engines, host, probe, target
from headway.doctor import ghosts as ghost_rows
from headway.doctor.finding import NOTE, OK, PROBLEM, Finding
from headway.errors import HeadwayError
from headway.mpi import transport
from headway.mpi.mpis import Mpi

pytestmark = pytest.mark.beside  # short jobs: most of the time is that of their start
Headway = Callable[..., subprocess.CompletedProcess[str]]


def levels(findings: list[dict] | list[Finding], text: str) -> set[str]:
    """Levels of the findings that say this."""
    rows = [f if isinstance(f, dict) else vars(f) for f in findings]
    return {f["level"] for f in rows if text in f["subject"] + f["text"] + f["remedy"]}


def found_in(program: str, mpis: list[Mpi]) -> list[Finding]:
    """What the doctor finds in a program."""
    return target.examine(program, mpis)[0]


def test_asks_the_mpi_itself(headway: Headway, mpi: Mpi, hello: Path) -> None:
    done = headway("doctor", "--mpi", mpi.name, "--json", hello)
    told = json.loads(done.stdout)
    (answer,) = told["answers"]
    assert answer["error"] == "" and answer["works"], done.stdout
    assert answer["thread_level"] == "multiple"
    assert answer["record"]["engine"] == "thread"
    assert answer["abi"].startswith("libmpi")
    assert answer["transport"] not in ("", "?")
    assert levels(told["engines"], f"works with {mpi.name}")
    assert answer["ghosts"] == (mpi.name != "ompi4"), answer["ghost_error"]
    assert answer["ghosts"] or "Open MPI 4 loses" in answer["ghost_error"]
    (ghosts,) = (f for f in told["engines"] if f["subject"] == "ghosts")
    assert ghosts["level"] == (OK if answer["ghosts"] else NOTE)
    assert levels(told["program"], f"uses {mpi.title}") == {OK}
    assert levels(told["program"], "nothing nonblocking is called") == {NOTE}


@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_table_for_people(headway: Headway, mpi: Mpi) -> None:
    done = headway("doctor", "--mpi", mpi.name)
    assert done.returncode == 0, done.stdout
    for words in ("This machine", "cross-memory attach", "thread level", "multiple", "Engines"):
        assert words in done.stdout


def shown(parts: dict[str, list[Finding]], capsys: pytest.CaptureFixture[str]) -> str:
    command.show({"machine": [], "mpis": [], "engines": [], **parts}, [])
    return capsys.readouterr().out


def test_names_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    found = Finding(PROBLEM, "[/app]", "/a[b]/r:fire: is not there", "build [red]it")
    text = shown({"program": [found]}, capsys)
    for words in ("[/app]", "/a[b]/r:fire: is not there", "build [red]it", "1 problem, above."):
        assert words in text, text


def test_program_comes_first_and_notes_once(capsys: pytest.CaptureFixture[str]) -> None:
    parts = {
        "machine": [Finding(NOTE, "cores", "one only")],
        "mpis": [Finding(NOTE, "MPICH", "engine off"), Finding(OK, "Open MPI", "runs")],
        "engines": [Finding(OK, "thread", "works")],
        "program": [Finding(PROBLEM, "./app", "is broken")],
    }
    text = shown(parts, capsys)
    places = [text.index(words) for words in ("is broken", "one only", "engine off", "works")]
    assert places == sorted(places), text
    assert [text.count(words) for words in ("is broken", "one only", "engine off")] == [1, 1, 1]
    assert "runs" not in text and "1 problem and 2 notes, above." in text
    assert "Nothing is in the way." in shown({"program": []}, capsys)


@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_asks_only_the_programs_own(
    mpi: Mpi, hello: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = replace(mpi, name="other", library=Path("/lib/other/libmpi.so"), flavour="ompi")
    asked: list[str] = []
    monkeypatch.setattr(command, "find_mpis", lambda: [other, mpi])
    monkeypatch.setattr(probe, "ask", lambda mpis: asked.extend(m.name for m in mpis) or [])
    arguments = argparse.Namespace(mpi=None, program=str(hello), json=False)
    command.doctor(arguments)
    assert asked == [mpi.name]
    asked.clear()
    command.doctor(argparse.Namespace(mpi=None, program=None, json=False))
    assert asked == ["other", mpi.name]
    assert "The program" in capsys.readouterr().out


def launcher_of(mpi: Mpi, folder: Path, name: str, *lines: str) -> Mpi:
    """The MPI, with a launcher that is these lines of a shell's."""
    launcher = folder / name
    launcher.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    launcher.chmod(0o755)
    return replace(mpi, mpiexec=launcher, name=name)


def test_broken_mpi_is_named(mpi: Mpi, tmp_path: Path) -> None:
    broken = launcher_of(mpi, tmp_path, "broken", "echo 'cannot fly' >&2", "exit 3")
    (answer,) = probe.ask([broken])
    assert answer.error == "cannot fly" and not answer.can_progress
    (finding,) = probe.judge(answer)
    assert finding.level == PROBLEM and "cannot fly" in finding.text
    assert engines.thread([answer]).level == PROBLEM


@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_all_are_asked_at_once(mpi: Mpi, tmp_path: Path) -> None:
    """Each launcher waits for the three others: a rank and a ghost of each of two MPIs."""
    begun = tmp_path / "begun"
    begun.mkdir()
    wait = f"touch {begun}/$$; n=0; while [ $(ls {begun} | wc -l) -lt 4 ]; do "
    wait += "n=$((n + 1)); [ $n -lt 400 ] || exit 3; sleep 0.05; done; echo error: all are here"
    asked = probe.ask([launcher_of(mpi, tmp_path, name, wait) for name in ("one", "two")])
    assert [a.error for a in asked] == ["error: all are here"] * 2
    assert probe.ask([]) == []


@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_mpi_that_does_not_answer(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "TIMEOUT_S", 0.5)
    hung = launcher_of(mpi, tmp_path, "hung", "setsid sleep 4711 &", "exec sleep 4711")
    (answer,) = probe.ask([hung])
    assert "did not end within" in answer.error
    left = [p for p in Path("/proc").glob("[0-9]*/cmdline") if b"sleep\x004711" in read(p)]
    assert not left


@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_mpi_that_hangs_when_others_have_answered(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for it as long as for one that is alone."""
    monkeypatch.setattr(probe, "LEAST_PATIENCE_S", 0.5)
    monkeypatch.setattr(probe, "TIMEOUT_S", 500.0)
    hung = launcher_of(mpi, tmp_path, "hung", "exec sleep 4713")
    sound = launcher_of(mpi, tmp_path, "sound", "echo error: here")
    first, second = probe.ask([hung, sound])
    assert "did not end within" in first.error and second.error == "error: here"
    left = [p for p in Path("/proc").glob("[0-9]*/cmdline") if b"sleep\x004713" in read(p)]
    assert not left


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_what_ghosts_would_have(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    (served, refused) = (
        probe.Answer(mpi, library="/lib.so", ghost_error=error) for error in ("", "too old")
    )
    assert ghost_rows.examine([probe.Answer(mpi)], 2) == []  # no library to have any
    assert ghost_rows.serving([served]).level == OK
    both = ghost_rows.serving([served, refused])
    assert both.level == NOTE and f"not with {mpi.name} (too old)" in both.text
    assert ghost_rows.own_core(1).level == NOTE and ghost_rows.own_core(4).level == OK
    assert "--ghosts 1/socket starts" in ghost_rows.places().text
    monkeypatch.setattr(domains, "LIBRARY", "libnone.so.15")
    without = ghost_rows.places()
    assert without.level == NOTE and "libnone.so.15 is needed" in without.text


def test_who_tells_the_transport(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in transport.SETTINGS.values():
        monkeypatch.delenv(setting.variable, raising=False)
    answers = [probe.Answer(mpi)]
    wanted = transport.settings(mpi.title, None, choice="duplex")
    if not wanted:
        assert engines.directions(answers, 1e9) == []
        return
    (fast,) = engines.directions(answers, 10e9)
    (slow,) = engines.directions(answers, 1e9)
    (unknown,) = engines.directions(answers, None)
    assert (fast.level, slow.level, unknown.level) == (OK, OK, NOTE)
    assert not fast.remedy and "--transport duplex" in unknown.remedy
    for name, value in wanted.items():
        assert mpi.is_intel or f"export {name}={value}" in slow.remedy
        monkeypatch.setenv(name, "0")
    assert not mpi.is_intel or "the library keeps them apart" in slow.text
    assert engines.directions(answers, 1e9) == []  # the user's own choice


def test_machine_has_its_facts() -> None:
    found = {finding.subject: finding for finding in host.examine()}
    assert str(len(os.sched_getaffinity(0))) in found["cores"].text
    assert set(found) >= {"NUMA nodes", "huge pages", "cross-memory attach", "namespaces"}


@pytest.mark.parametrize(
    ("groups", "files", "share"),
    [
        ("0::/job\n", {"job/cpu.max": "150000 100000"}, "1.5 cores"),
        ("0::/job/step\n", {"job/cpu.max": "50000 100000"}, "0.5 cores"),
        ("0::/\n", {"cpu.max": "max 100000"}, "none"),
        (
            "4:cpu,cpuacct:/job\n3:memory:/job\n",
            {
                "cpu,cpuacct/job/cpu.cfs_quota_us": "250000",
                "cpu,cpuacct/job/cpu.cfs_period_us": "100000",
            },
            "2.5 cores",
        ),
        (
            "4:cpu:/docker/1234\n",
            {"cpu/cpu.cfs_quota_us": "100000", "cpu/cpu.cfs_period_us": "100000"},
            "1.0 cores",
        ),
        ("4:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, "none"),
        ("4:memory:/\n", {"memory/cpu.max": "1 2"}, "none"),
    ],
)
def test_quotas_of_containers(
    groups: str, files: dict[str, str], share: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    read = host.text_of
    monkeypatch.setattr(host, "CGROUP", tmp_path)
    monkeypatch.setattr(
        host, "text_of", lambda path: groups if path == "/proc/self/cgroup" else read(path)
    )
    found = host.cpu_limit()
    assert found.text.startswith(share) and found.level == (OK if share == "none" else NOTE)


def test_a_cluster_is_made_to_know(monkeypatch: pytest.MonkeyPatch) -> None:
    """Namespaces alone do not make one: links, mounts or limits may be refused in them."""

    def refuse(nodes: int) -> None:
        raise HeadwayError(f"no link for {nodes} nodes", "be root")

    if host.namespaces().level != OK:
        pytest.skip("this machine refuses a test cluster")
    monkeypatch.setattr(host, "Cluster", refuse)
    found = host.namespaces()
    assert found.level == NOTE and "no link for 2 nodes" in found.text


def test_one_core_is_noticed() -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert host.cores().level == NOTE
    finally:
        os.sched_setaffinity(0, before)


def test_says_what_a_job_within_this_node_gets() -> None:
    assert "if it has at most 4 ranks" in engines.one_node(8).text
    assert "gets no thread" in engines.one_node(1).text
    assert 1 <= host.core_count() <= len(os.sched_getaffinity(0))


def test_refusal_of_cross_memory_attach_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    assert host.read_parent() in (0, 1, 3, 38)  # 0, EPERM, ESRCH, ENOSYS: an answer, not a crash
    monkeypatch.setattr(host, "read_parent", lambda: 1)
    assert host.cross_memory_attach().level == NOTE


def compile_c(mpi: Mpi, folder: Path, name: str, body: str, *flags: str) -> Path:
    (folder / f"{name}.c").write_text(body)
    command = [str(mpi.mpicc), "-o", name, f"{name}.c", *flags]
    subprocess.run(command, cwd=folder, env=mpi.environment(), check=True)
    return folder / name


OVERLAPS = """#include <mpi.h>
int main(int c, char **v) {
    MPI_Request r;
    MPI_Init(&c, &v);
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    return MPI_Finalize();
}
"""


@matrix.one_of_a("family")
def test_sees_what_a_program_calls(mpi: Mpi, tmp_path: Path) -> None:
    program = compile_c(mpi, tmp_path, "overlaps", OVERLAPS)
    assert levels(found_in(str(program), [mpi]), "MPI_Ibarrier") == {OK}


TYPES = """#include <mpi.h>
#include <stdio.h>
int main(int c, char **v) {
    MPI_Info info;
    double in = 1, out;
    MPI_Init(&c, &v);
    MPI_Info_create(&info);
    MPI_Info_free(&info);
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    puts("MPI_Isend");
    puts("MPI_Int");
    return MPI_Finalize();
}
"""


@matrix.one_of_a("family")
def test_names_of_types_are_no_calls(mpi: Mpi, tmp_path: Path) -> None:
    program = compile_c(mpi, tmp_path, "types", TYPES, "-g3")
    assert levels(found_in(str(program), [mpi]), "nothing nonblocking is called") == {NOTE}


@matrix.one_of_a("family")
def test_sees_calls_that_are_looked_up_by_name(mpi: Mpi, tmp_path: Path) -> None:
    body = """#include <dlfcn.h>
#include <mpi.h>
int main(int c, char **v) {
    MPI_Init(&c, &v);
    if (dlsym(0, "MPI_Iscan") && dlsym(0, "MPI_Info"))
        return 1;
    return MPI_Finalize();
}
"""
    found = found_in(str(compile_c(mpi, tmp_path, "looks", body, "-ldl")), [mpi])
    (told,) = (f.text for f in found if f.subject == "calls")
    assert told == "MPI_Iscan"


@pytest.mark.parametrize("source", ["sites.f90", "sites_f08.f90"])
@matrix.only(matrix.on("mpich4", "ompi4"), "no other has Fortran modules for any compiler")
def test_sees_what_a_fortran_program_calls(mpi: Mpi, source: str) -> None:
    program = compile_or_skip(mpi, Path(__file__).with_name(source))
    (told,) = (f.text for f in found_in(str(program), [mpi]) if f.subject == "calls")
    assert told == "MPI_Irecv, MPI_Isend"


@pytest.mark.parametrize(
    "symbol",
    [
        *("MPI_Isend", "PMPI_Isend", "MPI_Isend_c", "mpi_isend_", "mpi_isend__", "MPI_ISEND"),
        *("mpi_isend", "mpi_isend_f08_", "mpi_isend_f08ts_", "mpi_isend_f08ts_large_"),
        *("mpi_isend_c_f08ts_", "pmpir_isend_f08ts_", "__mpi_f08_MOD_mpi_isend_f08"),
        *("mpi_f08_mp_mpi_isend_", "mpi_f08_MP_mpi_isend", "_QMmpi_f08Pmpi_isend"),
        *("mpi_isend$mpi_f08_", "mpi_f08_mpi_isend_"),
    ],
)
def test_spellings_of_a_call(symbol: str) -> None:
    assert calls.spelled(symbol) == "MPI_Isend"


@pytest.mark.parametrize(
    "symbol",
    [
        *("MPI_Comm", "MPI_Info_create", "ompi_mpi_double", "mpi_init_", "MPI_Iprobe"),
        *("mpi_send_init_", "MPI_Int", "my_mpi_isend_", "__solver_MOD_isend", "mpi_improbe_"),
    ],
)
def test_what_is_no_nonblocking_call(symbol: str) -> None:
    assert calls.spelled(symbol) == ""


@matrix.one_of_a("family")
def test_library_that_is_not_found(mpi: Mpi, tmp_path: Path) -> None:
    (tmp_path / "extra.c").write_text("int extra(void) { return 1; }\n")
    command = ["gcc", "-shared", "-fPIC", "-o", "libextra.so", "extra.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    body = OVERLAPS.replace("int main", "int extra(void);\nint main").replace(
        "return MPI_Fin", "extra();\n    return MPI_Fin"
    )
    program = compile_c(mpi, tmp_path, "extras", body, "-L.", "-lextra")
    (tmp_path / "libextra.so").unlink()
    assert levels(found_in(str(program), [mpi]), "libextra.so is not found") == {PROBLEM}


@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_classic_mistakes(
    headway: Headway, hello: Path, mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "still.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-static", "-o", "still", "still.c"], cwd=tmp_path, check=True)
    subprocess.run(["gcc", "-static-pie", "-o", "moving", "still.c"], cwd=tmp_path, check=True)
    for name in ("still", "moving"):
        found = found_in(str(tmp_path / name), [mpi])
        assert levels(found, "statically linked") == {PROBLEM}
    assert levels(found_in("./nowhere", [mpi]), "no program") == {PROBLEM}

    copy = Path(shutil.copy(hello, tmp_path / "raised"))
    copy.chmod(0o4755)  # it is ours: started by us it gains nothing, and is preloaded into
    assert levels(found_in(str(copy), [mpi]), "setuid") == {NOTE}
    assert PROBLEM not in {finding.level for finding in found_in(str(copy), [mpi])}
    done = headway("run", "-n", 1, copy)
    assert done.returncode == 0 and "1 rank" in done.stderr, done.stderr

    other = tmp_path / "bin"
    other.mkdir()
    (other / "mpiexec").write_text("#!/bin/sh\necho Open MPI\n")
    (other / "mpiexec").chmod(0o755)
    monkeypatch.setenv("PATH", f"{other}:{os.environ['PATH']}")
    assert levels(found_in(str(hello), [mpi]), "alone in its world") == {NOTE}

    monkeypatch.setenv("HEADWAY_ENGIN", "off")
    assert levels(found_in(str(hello), [mpi]), "HEADWAY_ENGIN") == {PROBLEM}
    assert headway("doctor", "--mpi", "none").returncode != 0


@matrix.only(matrix.on("mpich4", "ompi5"), "one MPI of each family is enough")
def test_linked_tools(mpi: Mpi, tmp_path: Path) -> None:
    """As a library of the program's, or in the program itself."""
    (tmp_path / "tool.c").write_text("int MPI_Isend(void) { return 0; }\n")
    command = ["gcc", "-shared", "-fPIC", "-o", "libmpiP.so", "tool.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    rpath = f"-Wl,-rpath,{tmp_path},--no-as-needed"
    for name, flags, told in (
        ("plain", (), ""),
        ("beside", (rpath, "-L.", "-lmpiP"), "links libmpiP.so, which stands before MPI"),
        ("within", ("tool.c",), "a tool that stands before MPI is linked into it"),
    ):
        program = compile_c(mpi, tmp_path, name, OVERLAPS, *flags)
        found = found_in(str(program), [mpi])
        assert levels(found, "stands before MPI") == ({NOTE} if told else set())
        assert not told or levels(found, told) == {NOTE}


@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_an_mpi_that_is_not_served(mpi: Mpi, hello: Path, tmp_path: Path) -> None:
    assert levels(found_in(str(hello), [mpi]), "none of the MPIs asked") == set()
    assert levels(found_in(str(hello), []), "none of the MPIs asked") == {NOTE}
    (tmp_path / "old.c").write_text("int old(void) { return 0; }\n")
    (tmp_path / "app.c").write_text("int old(void);\nint main(void) { return old(); }\n")
    for words in (
        ("-shared", "-fPIC", "-Wl,-soname,libmpi.so.20", "-o", "libmpi.so.20", "old.c"),
        (f"-Wl,-rpath,{tmp_path}", "-o", "app", "app.c", "libmpi.so.20"),
    ):
        subprocess.run(["gcc", *words], cwd=tmp_path, check=True)
    found = found_in(str(tmp_path / "app"), [mpi])
    assert levels(found, "libmpi.so.20, an MPI of an ABI for which") == {PROBLEM}


def test_other_preloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "libtool.so"
    source = tmp_path / "tool.c"
    source.write_text("int MPI_Isend(void) { return 0; }\nint MPI_Init(void) { return 0; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(tool), str(source)], check=True)
    assert levels(target.preloads({"LD_PRELOAD": str(tool)}), "stands before MPI") == {NOTE}
    assert levels(target.preloads({"LD_PRELOAD": "/no/lib.so"}), "not there") == {PROBLEM}
    assert levels(target.preloads({"LD_PRELOAD": "libnone.so"}), "not there") == {PROBLEM}
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    assert levels(target.preloads({"LD_PRELOAD": "libtool.so"}), "stands before MPI") == {NOTE}
    # One that calls MPI does not stand before it.
    source.write_text("int MPI_Isend(void);\nint helper(void) { return MPI_Isend(); }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(tool), str(source)], check=True)
    assert levels(target.preloads({"LD_PRELOAD": str(tool)}), "leaves MPI alone") == {OK}
    assert levels(target.preloads({"LD_PRELOAD": "/x/libheadway-ompi.so"}), "not there")
