# SPDX-License-Identifier: BSD-3-Clause
"""`python -m headway`: the same as the installed `headway` command."""

from headway.main import main

if __name__ == "__main__":
    raise SystemExit(main())
