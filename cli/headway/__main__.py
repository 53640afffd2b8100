# SPDX-License-Identifier: BSD-3-Clause
"""`python -m headway`: the same as the installed `headway` command."""

import sys
from importlib.util import find_spec

#: what pyproject.toml asks for, but a modulefile or PYTHONPATH does not bring along
MODULES = ("jinja2", "rich")

if __name__ == "__main__":
    if missing := [name for name in MODULES if find_spec(name) is None]:
        lacking = " and no ".join(missing)
        sys.exit(f"headway: {sys.executable} has no {lacking}; install {' and '.join(missing)}")
    from headway.main import main

    raise SystemExit(main())
