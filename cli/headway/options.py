# SPDX-License-Identifier: BSD-3-Clause
"""The library's options as the command sees them, checked before a launch.

The same rules as src/base/options.c, from the same table: one line names the variable, the value
and what is accepted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from headway.errors import HeadwayError
from headway.option import Option
from headway.options_table import OPTIONS

FAMILY = "HEADWAY_"
#: set for every package by module systems (Spack, Lmod) at many sites; src/base/options.c has them
OF_MODULES = {
    FAMILY + name
    for name in ("BASE", "BIN", "DIR", "HOME", "INC", "LIB", "PREFIX", "ROOT", "VERSION")
}
PATH_MAX = 4096
BOOL_WORDS = {"0", "1", "no", "yes", "off", "on", "false", "true"}
FACTORS = {
    "": {"": 1},
    "us": {"": 1, "us": 1, "ms": 1000, "s": 1000000},
    "bytes": {"": 1, "b": 1}
    | {
        letter + tail: 1 << shift
        for letter, shift in (("k", 10), ("m", 20), ("g", 30))
        for tail in ("", "ib")
    },
}


def thousandths(text: str) -> int | None:
    """A fraction as the library holds it; None where it does not take it."""
    is_number = re.fullmatch(r"(?=\.?[0-9])[0-9]{0,6}(\.[0-9]{0,3})?", text)
    value = round(float(text) * 1000) if is_number else -1
    return value if 0 <= value <= 1000 else None


def check_thresholds(environ: Mapping[str, str]) -> None:
    """The upper threshold is not below the lower one."""
    low, high = (
        thousandths(environ.get(option.name, option.default))
        for option in OPTIONS
        if option.name in ("HEADWAY_LOW_CR", "HEADWAY_HIGH_CR")
    )
    if low is not None and high is not None and high < low:
        raise HeadwayError(
            f"HEADWAY_HIGH_CR={high / 1000:.3f}: not a value of this option",
            f"accepted: HEADWAY_LOW_CR, which is {low / 1000:.3f}, or more",
        )


def is_accepted(option: Option, text: str) -> bool:
    """True if the library takes this value for this option."""
    if option.type == "enum":
        return text.lower() in option.values
    if option.type == "bool":
        return text.lower() in BOOL_WORDS
    if option.type == "path":
        return len(os.fsencode(text)) < PATH_MAX  # names need not be UTF-8
    if option.type == "share":
        number, slash, per = text.partition("/")
        is_number = re.fullmatch(r"[0-9]{1,15}", number) is not None
        return (
            is_number
            and option.min <= int(number) <= option.max
            and (not slash or per.lower() in option.values)
        )
    if option.unit == "fraction":
        return thousandths(text) is not None
    if option.auto is not None and text.lower() == "auto":
        return True
    match = re.fullmatch(r"([0-9]+)([A-Za-z]*)", text)
    factor = match and FACTORS[option.unit].get(match[2].lower())
    if not match or not factor:
        return False
    value = int(match[1]) * factor
    return option.min <= value <= option.max or value == option.auto


def check_environment(environ: Mapping[str, str]) -> None:
    """Raise HeadwayError for the first HEADWAY_* variable (or alias) the library would refuse."""
    known = {name: option for option in OPTIONS for name in (option.name, *option.aliases)}
    for name, text in environ.items():
        option = known.get(name)
        if option is not None and not is_accepted(option, text):
            raise HeadwayError(
                f"{name}={text}: not a value of this option", f"accepted: {option.accepted}"
            )
        if option is None and name.startswith(FAMILY) and name not in OF_MODULES:
            import difflib  # for a refusal alone

            near = difflib.get_close_matches(name, known, n=1)
            remedy = f"did you mean {near[0]}?" if near else f"accepted are {' '.join(known)}"
            raise HeadwayError(f"{name}={text}: Headway has no such option", remedy)
    check_thresholds(environ)
