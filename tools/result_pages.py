#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes doc/results from its result files: the index, a page for each claim, README.md's table,
the marked figures of doc/guide.

  result_pages.py --write          what is committed; publishing a suite does the same
  result_pages.py --check          exit 1 if a committed page differs; lists files of older code,
                                  or says that this clone has no history to tell
  result_pages.py --plots FOLDER   a folder of plots for each result file; what is in date stays

Runs with the Python of build/venv, which has what the benchmarks need.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "cli"))

from headway.bench.published import pages, picture  # noqa: E402
from headway.errors import HeadwayError  # noqa: E402


def check() -> int:
    wrong, noted = pages.differences(ROOT)
    wrong += picture.differences(ROOT)
    for line in noted:
        print(line)
    if wrong:
        print("\n".join(wrong))
        print("run: build/venv/bin/python tools/result_pages.py --write")
    return 1 if wrong else 0


def write() -> int:
    for path in [*pages.write_all(ROOT), *picture.write(ROOT)]:
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description="pages and plots of doc/results")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true")
    what.add_argument("--check", action="store_true")
    what.add_argument("--plots", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    try:
        if options.plots:
            picture.draw_all(ROOT, options.plots)
            return 0
        return write() if options.write else check()
    except HeadwayError as error:
        print(f"result_pages.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
