# SPDX-License-Identifier: BSD-3-Clause
"""A real Slurm, Debian's: controller and one node in namespaces of each test, which end with it.

MPICH's ranks are started by `srun --mpi=pmi2`, Open MPI's by `--mpi=pmix`: what Debian's have.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator

import matrix
import pytest
import support
from headway.mpi.mpis import Mpi
from root import ADDRESS, HOST, BareRoot

MATRIX_RULES = [matrix.quick(lambda: False, "begins with a bare Debian")]
PACKAGES = (
    "munge slurmctld slurmd slurm-client slurm-wlm-basic-plugins python3-jinja2 python3-rich",
    "mpich openmpi-bin procps libpmix-dev",  # Slurm looks for libpmix.so
)
PMI = {"mpich4": "pmi2", "ompi4": "pmix"}

#: More processors than there are: ranks only have to take turns. Nothing is cleaned up by hand:
#: what Slurm starts it must end.
CONFIGURATION = f"""
ClusterName=tests
SlurmctldHost={HOST}
SlurmUser=root
SlurmdUser=root
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldLogFile=/var/log/slurmctld.log
SlurmdLogFile=/var/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
ReturnToService=2
KillWait=2
MinJobAge=300
NodeName={HOST} NodeAddr={ADDRESS} CPUs=8 RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes={HOST} Default=YES MaxTime=10 State=UP
"""

START = """
set -e
rm -rf /var/spool/slurm* # of daemons that ended with their namespaces
mkdir -p /run/munge /var/spool/slurmctld /var/spool/slurmd
chown munge: /run/munge
runuser -u munge -- munged
slurmctld
slurmd
for try in $(seq 300); do
    [ "$(sinfo -h -o %T)" = idle ] && break
    sleep 0.1
done
sinfo -h -o %T | grep -qx idle || { tail -n 20 /var/log/slurm*.log; exit 1; }
cd /srv
export PATH=/opt/headway/bin:$PATH
"""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BareRoot]:
    """Slurm, both MPIs and Headway; no daemon runs."""
    made = BareRoot(tmp_path_factory.mktemp("slurm") / "root")
    try:
        made.install(*PACKAGES)
        made.make("etc/slurm/slurm.conf").write_text(CONFIGURATION)
        staged = made.folder / "staged"
        words = ["cmake", "--install", support.ROOT / "build" / "cmake", "--prefix", staged]
        subprocess.run(words, check=True, capture_output=True)
        shutil.copytree(staged, made.make("opt/headway"), symlinks=True)
        yield made
    finally:
        made.remove()


@pytest.fixture
@matrix.only(matrix.on(*PMI), "Debian's Slurm starts Debian's MPIs")
def debian(mpi: Mpi) -> Mpi:
    return mpi


def place(slurm: BareRoot, mpi: Mpi, name: str) -> str:
    """A program of tests/mpi, inside."""
    program = support.compile_program(mpi, name, [support.PROGRAMS / f"{name}.c"])
    shutil.copyfile(program, slurm.make(f"srv/{name}"))
    (slurm.upper / "srv" / name).chmod(0o755)
    return f"/srv/{name}"


def sound(slurm: BareRoot, script: str) -> str:
    return slurm.run(START + script, timeout_s=120).stdout


def lines_of(told: str) -> list[str]:
    return sorted(line for line in told.splitlines() if line.startswith("rank "))


def records_of(slurm: BareRoot, folder: str) -> list[dict]:
    return [json.loads(path.read_text()) for path in sorted((slurm.upper / folder).glob("*.json"))]


@pytest.mark.parametrize("export", ["", "--export=NONE"])
def test_srun(slurm: BareRoot, debian: Mpi, export: str) -> None:
    """The same answer as plain, and the thread has worked in each rank."""
    program, kept = place(slurm, debian, "rma"), f"kept-{debian.name}{export}"
    srun = f"srun --mpi={PMI[debian.name]} -n 2"
    forced = " ".join(f"export {name}={value};" for name, value in support.FORCED.items())
    plain = lines_of(sound(slurm, f"{srun} {program}"))
    run = f"headway run --engine thread --record {kept} -- {srun} {export} {program}"
    told = sound(slurm, f"{forced} {run} 2>&1")
    assert lines_of(told) == plain and len(plain) > 4
    assert "2 ranks, engine thread" in told
    found = records_of(slurm, f"srv/{kept}")
    assert [record["engine"] for record in found] == ["thread"] * 2
    assert sum(record["tracked_rma"] for record in found) > 0, found[0].keys()


def test_sbatch(slurm: BareRoot, debian: Mpi) -> None:
    """A job script; the summary is in the job's output."""
    program = place(slurm, debian, "collectives")
    script = slurm.make("srv/job.sh")
    script.write_text(
        "#!/bin/bash\n#SBATCH -n 3\nexport PATH=/opt/headway/bin:$PATH\n"
        f"srun --mpi={PMI[debian.name]} {program} && echo then\n"
        "headway run --engine thread --record $SLURM_SUBMIT_DIR/kept-of-job --"
        f" srun --mpi={PMI[debian.name]} {program}\n"
    )
    told = sound(slurm, "sbatch --wait -o out.txt job.sh || true; cat out.txt")
    plain, _, ours = told.partition("then\n")
    assert lines_of(ours) == lines_of(plain) and len(lines_of(plain)) > 3, told
    assert "3 ranks, engine thread" in ours


def test_sbatch_without_a_folder(slurm: BareRoot, debian: Mpi) -> None:
    """The job has one node: its ranks' records are where the script is."""
    program = place(slurm, debian, "collectives")
    slurm.make("srv/job.sh").write_text(
        "#!/bin/bash\n#SBATCH -n 2\nexport PATH=/opt/headway/bin:$PATH\n"
        f"headway run --engine thread -- srun --mpi={PMI[debian.name]} {program}\n"
    )
    told = sound(slurm, "sbatch --wait -o out.txt job.sh || true; cat out.txt")
    assert "2 ranks, engine thread" in told and "no records" not in told, told


@matrix.only(matrix.on("mpich4"), "Open MPI 4's one-sided operations are not for ghosts")
def test_ghosts(slurm: BareRoot, debian: Mpi) -> None:
    """Four processes, of which the program sees three, and the same answer as three have plain."""
    program = place(slurm, debian, "ghosts")
    plain = lines_of(sound(slurm, f"srun --mpi=pmi2 -n 3 {program}"))
    run = "headway run --ghosts 1 --record ghosts-kept -- srun --mpi=pmi2 -n 4"
    told = sound(slurm, f"export HEADWAY_REDIRECT=on; {run} {program} 2>&1")
    assert lines_of(told) == plain and len(plain) > 4
    found = records_of(slurm, "srv/ghosts-kept")
    assert [record["size"] for record in found] == [3] * 3
    assert sum(record["windows_redirected"] for record in found) > 0


def test_scancel(slurm: BareRoot, debian: Mpi) -> None:
    """What a cancelled job leaves: no process, no shared memory."""
    program = place(slurm, debian, "endings")
    ghosts = "--ghosts 1" if debian.name == "mpich4" else "--engine thread"
    ranks = 3 if debian.name == "mpich4" else 2
    slurm.make("srv/job.sh").write_text(
        f"#!/bin/bash\n#SBATCH -n {ranks}\nexport PATH=/opt/headway/bin:$PATH\n"
        f"headway run {ghosts} -- srun --mpi={PMI[debian.name]} {program} hang\n"
    )
    told = sound(
        slurm,
        r"""
        known='bash|ps|grep|sort|tr|munged|slurmctld|slurmscriptd|slurmd'
        others() { ps -eo comm= | grep -v -x -E "$known"; }
        rm -f out.txt
        job=$(sbatch --parsable -o out.txt job.sh)
        for try in $(seq 300); do
            [ "$(grep -c '^pid' out.txt 2>/dev/null)" = 2 ] && break
            sleep 0.1
        done
        echo "running $(others | sort -u | grep -x -E 'endings|slurmstepd|srun' | tr '\n' ' ')"
        scancel $job
        for try in $(seq 300); do [ -z "$(squeue -h)" ] && break; sleep 0.1; done
        echo "state $(scontrol show job $job | sed -n 's/.*JobState=\([A-Z]*\).*/\1/p')"
        for try in $(seq 100); do [ -z "$(others)" ] && break; sleep 0.1; done
        echo "left $(others | tr '\n' ' ')"
        echo "memory $(ls /dev/shm | tr '\n' ' ')"
        """,
    )
    assert re.findall(r"^(running|state|left|memory) ?(.*)$", told, re.M) == [
        ("running", "endings slurmstepd srun "),
        ("state", "CANCELLED"),
        ("left", ""),
        ("memory", ""),
    ], told
