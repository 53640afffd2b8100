# SPDX-License-Identifier: BSD-3-Clause
"""`python -m headway.run [options] ...` is `headway run [options] ...`."""

import sys

from headway.main import main

if __name__ == "__main__":
    raise SystemExit(main(["run", *sys.argv[1:]]))
