# SPDX-License-Identifier: BSD-3-Clause
"""Runs mpi4py's own test suite inside an MPI job and writes what became of each test.

    suite_runner.py SUITE_DIRECTORY RESULT_DIRECTORY [EXCLUDED_PATTERN...]

Every rank appends to RESULT_DIRECTORY/rank.N one line `OUTCOME SECONDS ID` a test, written when the
test ends, so a hang names itself. The exit status is 0 however many tests fail: the caller
compares.
"""

from __future__ import annotations

import fnmatch
import importlib
import sys
import time
import unittest
from pathlib import Path

#: On Open MPI the engine retires at the first of these: everything else comes before.
LAST = ("test_io.", "test_file.", "test_p2p_buf_part.")


class Recorder(unittest.TestResult):
    """Writes one line a test; the worst outcome of a test counts."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.file = path.open("w", encoding="utf-8", buffering=1)
        self.outcome = "ok"
        self.began = 0.0

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.outcome = "ok"
        self.began = time.monotonic()
        self.file.write(f"started 0 {test.id()}\n")

    def stopTest(self, test: unittest.TestCase) -> None:
        self.file.write(f"{self.outcome} {time.monotonic() - self.began:.3f} {test.id()}\n")
        super().stopTest(test)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self.outcome = "skipped"
        if not isinstance(test, unittest.TestCase):
            self.file.write(f"skipped 0 {test.id()}\n")

    def addError(self, test: unittest.TestCase, err: tuple) -> None:
        super().addError(test, err)
        self.outcome = "error"
        self.file.write(f"error 0 {test.id()}\n")
        print(self._exc_info_to_string(err, test), file=sys.stderr)

    def addFailure(self, test: unittest.TestCase, err: tuple) -> None:
        super().addFailure(test, err)
        self.outcome = "failed"
        print(self._exc_info_to_string(err, test), file=sys.stderr)

    def addSubTest(
        self, test: unittest.TestCase, subtest: unittest.TestCase, err: tuple | None
    ) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.outcome = "failed"

    def addExpectedFailure(self, test: unittest.TestCase, err: tuple) -> None:
        super().addExpectedFailure(test, err)
        self.outcome = "expected failure"

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self.outcome = "unexpected success"


def flatten(suite: unittest.TestSuite) -> list[unittest.TestCase]:
    tests: list[unittest.TestCase] = []
    for item in suite:
        tests += flatten(item) if isinstance(item, unittest.TestSuite) else [item]
    return tests


def main() -> None:
    suite_directory, result_directory, *excluded = sys.argv[1:]
    for name in ("cupy", "numba", "numpy"):
        sys.modules[name] = None  # type: ignore[assignment]
    sys.path.insert(0, suite_directory)
    mpi = importlib.import_module("mpi4py.MPI")
    rank = mpi.COMM_WORLD.Get_rank()
    found = unittest.TestLoader().discover(suite_directory, "test_*.py", suite_directory)
    chosen = [
        test
        for test in flatten(found)
        if not any(fnmatch.fnmatchcase(test.id(), pattern) for pattern in excluded)
    ]
    chosen.sort(key=lambda test: test.id().startswith(LAST))  # stable: the same order on every rank
    recorder = Recorder(Path(result_directory) / f"rank.{rank}")
    unittest.TestSuite(chosen).run(recorder)
    recorder.file.write(f"end {recorder.testsRun} .\n")
    recorder.file.close()


if __name__ == "__main__":
    main()
