# SPDX-License-Identifier: BSD-3-Clause
"""The generator of the record's table: what the library writes is what the schema and the command's
classes say."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from headway.record import table
from headway.record.older import record_of
from headway.report import export, runs

ROOT = Path(__file__).resolve().parents[2]
GENERATOR = ROOT / "tools" / "gen_record.py"
SPEC = ROOT / "spec" / "record.toml"

WRITER = r"""
#include "profile/record/fields.h"
static void write_causes(struct hw_record_list *list, const void *of)
{
    const struct hw_record_cause first = {.gap = 3, .exchange = HW_RECORD_ABSENT, .ns = 7};
    hw_record_add_cause(list, &first);
    hw_record_add_cause(list, of);
}
static void write_counts(struct hw_record_list *list, const void *of)
{
    hw_record_add_count(list, of, 2);
}
int main(void)
{
    struct hw_record_cause last = {.gap = HW_RECORD_ABSENT, .exchange = 4, .ns = 8};
    struct hw_record_exchange full = {.id = 1, .site = 2, .to = HW_RECORD_ABSENT, .from = 0,
                                      .tag = HW_RECORD_ABSENT, .communicator = HW_RECORD_ABSENT,
                                      .waits = 5, .before = {write_causes, &last}};
    struct hw_record_process process = {
        .rank = -1, .mpi = "a \"b\"\n", .engine = "off", .trigger = "none", .placement = "none",
        .wall_s = 1.5, .cores = HW_RECORD_ABSENT, .mpi_s = -1, .doors = 3,
        .declined = {write_counts, "why"}};
    fputs("[", stdout);
    hw_record_write_object(stdout, HW_RECORD_EXCHANGE, &full);
    fputs(",", stdout);
    hw_record_write_object(stdout, HW_RECORD_EVENT, &(struct hw_record_event){1, 2.5, 3, 4});
    fputs(",", stdout);
    hw_record_write_object(stdout, HW_RECORD_PROCESS, &process);
    fputs("]", stdout);
    return 0;
}
"""


def generate(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(GENERATOR), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def changed(tmp_path: Path, old: str, new: str) -> subprocess.CompletedProcess[str]:
    """What the check says of a table that differs in this."""
    text = SPEC.read_text()
    assert text.count(old) >= 1
    spec = tmp_path / "record.toml"
    spec.write_text(text.replace(old, new, 1))
    return generate("--spec", str(spec), "--check")


def test_committed_outputs_are_current() -> None:
    done = generate("--check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Absent fields are absent, the rest comes back from the library's writer."""
    assert generate("--out", str(tmp_path)).returncode == 0
    (tmp_path / "writer.c").write_text(WRITER)
    fields = ROOT / "src/profile/record/fields.c"
    sources = [tmp_path / "writer.c", tmp_path / "record_table.c", fields]
    command = ["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]
    command += [f"-I{ROOT / 'src'}", f"-I{tmp_path}", "-o", str(tmp_path / "writer")]
    subprocess.run([*command, *map(str, sources)], check=True, timeout=60)
    done = subprocess.run([tmp_path / "writer"], capture_output=True, text=True, timeout=30)
    exchange, event, process = json.loads(done.stdout)
    assert exchange == {
        "id": 1,
        "site": 2,
        "from": 0,
        "waits": 5,
        "before": [{"gap": 3, "ns": 7}, {"exchange": 4, "ns": 8}],
    }
    read = table.Exchange.of(exchange)
    assert (read.to, read.from_, read.waits, read.wait_ns) == (None, 0, 5, 0)
    assert [(one.gap, one.exchange) for one in read.before] == [(3, None), (None, 4)]
    assert table.Event.of(event) == (1.0, 2.5, 3, 4)
    record = table.Record.of(process)
    assert record.schema == table.SCHEMA
    assert (record.rank, record.mpi, record.wall_s, record.doors) == (-1, 'a "b"\n', 1.5, 3)
    assert record.profile is None and record.cores is None and record.mpi_s is None
    assert record.declined == {"why": 2}
    assert "phases" not in process and process["started"] == 0  # counters of a process are all told


def test_schema_has_what_the_classes_have() -> None:
    schema = json.loads((ROOT / "doc/schema/record.json").read_text())
    members = {name.rstrip("_") for name in table.Record.__dataclass_fields__}
    assert members == set(schema["properties"])
    assert schema["properties"]["schema"] == {"const": table.SCHEMA}
    jsonschema.Draft202012Validator.check_schema(schema)


def test_csv_has_the_counters_as_columns(tmp_path: Path) -> None:
    site = {"id": 0, "function": "Send", "size_class": 1}
    site |= {name: index for index, name in enumerate(table.SITE_COUNTERS, 1)}
    record = {"schema": table.SCHEMA, "rank": 0, "size": 1, "profile": {"sites": [site]}}
    (tmp_path / "headway.0.json").write_text(json.dumps(record))
    out = io.StringIO()
    export.write_csv([runs.load(tmp_path)], out)
    head, row = list(csv.reader(io.StringIO(out.getvalue())))
    columns = head[-len(table.SITE_COUNTERS) :]  # in the same order, some with their unit behind
    for name, column in zip(table.SITE_COUNTERS, columns, strict=True):
        assert column in (name, f"{name}_bytes", f"{name}_doors")
    assert row[-3:] == [str(site[name]) for name in table.SITE_COUNTERS[-3:]]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('{ name = "doors", type = "counter"', '{ name = "gates", type = "counter"'),
        ('{ name = "doors", type = "counter"', '{ name = "doors", type = "integer"'),
        ('name = "host", type = "text", is_optional = true', 'name = "host", type = "text"'),
    ],
)
def test_fields_do_not_change_without_a_version(tmp_path: Path, old: str, new: str) -> None:
    done = changed(tmp_path, old, new)
    assert done.returncode == 1 and "the fields are not those of version" in done.stdout


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('type = "counter"', 'type = "number"', "unknown type 'number'"),
        ('name = "doors"', 'name = "Doors"', "a name is small letters"),
        ('name = "doors"', 'name = "polls"', "stands there twice"),
        ('of = "gap"', 'of = "gasp"', "there is no object gasp"),
        ("is_optional = true", "optional = true", "unknown key optional"),
    ],
)
def test_wrong_tables_are_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    done = changed(tmp_path, old, new)
    assert done.returncode == 1 and words in done.stderr


def test_moments_of_schema_3_are_read() -> None:
    """They lay within one_sided."""
    sample = {"slot_ns": 1 << 20, "one_in": 2, "outside": [[1, 2, 3]], "waits": [[1, 2, 3, 4]]}
    told = {"threads": 1, "realtime_ns": 5, "sample": sample, "meetings": [[0, 7, 8]]}
    profile = record_of({"schema": 3, "profile": {"one_sided": told}}).profile
    assert profile and profile.moments and profile.one_sided
    assert profile.moments.sample.outside == (table.Outside(1, 2, 3),)
    assert profile.moments.sample.one_in == 2 and profile.moments.meetings[0].took_ns == 8
    newest = record_of({"schema": 4, "profile": {"one_sided": {"waits": []}}}).profile
    assert newest and newest.moments is None


def test_damage_is_left_out() -> None:
    raw = {"rank": "x", "size": 1e400, "wall_s": True, "mpi": 3, "doors": -7, "declined": [1]}
    sites = [{"calls": 2.5, "size_class": 99, "function": None}, 3, {"offset": "far"}]
    record = record_of({**raw, "profile": {"sites": sites, "events": [[1, 2], "x", [1, 2, 3, -4]]}})
    assert (record.rank, record.size, record.wall_s, record.mpi) == (-1, -1, 0.0, "")
    assert record.doors == 0 and record.declined == {} and record.profile
    first, last = record.profile.sites
    assert (first.calls, first.size_class, first.function, last.offset) == (2, 64, "", None)
    assert record.profile.events == ()
