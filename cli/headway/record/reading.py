# SPDX-License-Identifier: BSD-3-Clause
"""Members of a JSON object, each of the kind that is asked for.

A record may be damaged, or written by an older or newer library: what it lacks, or what is of
another kind, is left out; nothing here raises for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

Raw = Mapping[str, object]
Value = TypeVar("Value")

#: no figure of a record is larger: nanoseconds of a hundred and sixty years
MOST = 5e18


def number_of(value: object) -> float | None:
    """A figure; what no library counts to is cut off."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return min(max(float(value), -MOST), MOST)


def number_or_none(raw: Raw, key: str) -> float | None:
    found = number_of(raw.get(key))
    return None if found is None else max(found, 0.0)


def number(raw: Raw, key: str) -> float:
    return number_or_none(raw, key) or 0.0


def integer_or_none(raw: Raw, key: str, least: int = 0, most: int = int(MOST)) -> int | None:
    value = raw.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return min(max(value, least), most)
    found = number_of(value)
    return None if found is None else min(max(int(found), least), most)


def integer(raw: Raw, key: str, least: int = 0, most: int = int(MOST)) -> int:
    """0 where it is absent; -1 where that stands for none."""
    found = integer_or_none(raw, key, least, most)
    return found if found is not None else -1 if least == -1 else 0


def text(raw: Raw, key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def boolean(raw: Raw, key: str) -> bool:
    return raw.get(key) is True


def member_or_none(raw: Raw, key: str, of: Callable[[Raw], Value]) -> Value | None:
    value = raw.get(key)
    return of(value) if isinstance(value, dict) else None


def member(raw: Raw, key: str, of: Callable[[Raw], Value]) -> Value:
    return member_or_none(raw, key, of) or of({})


def elements(raw: Raw, key: str) -> list[object]:
    value = raw.get(key)
    return value if isinstance(value, list) else []


def objects(raw: Raw, key: str, of: Callable[[Raw], Value]) -> tuple[Value, ...]:
    return tuple(of(one) for one in elements(raw, key) if isinstance(one, dict))


def rows(
    raw: Raw, key: str, length: int, of: Callable[[Sequence[float]], Value]
) -> tuple[Value, ...]:
    """Lists of so many numbers each, none negative; others are left out."""
    found = []
    for row in elements(raw, key):
        if isinstance(row, list) and len(row) == length:
            if all(type(value) in (int, float) and 0 <= value <= MOST for value in row):
                found.append(of([float(value) for value in row]))  # nearly all, of very many
                continue
            values = [number_of(value) for value in row]
            sound = [value for value in values if value is not None and value >= 0]
            if len(sound) == length:
                found.append(of(sound))
    return tuple(found)


def integers(raw: Raw, key: str) -> tuple[int, ...]:
    found = (number_of(one) for one in elements(raw, key))
    return tuple(max(int(one), 0) for one in found if one is not None)


def counts(raw: Raw, key: str) -> dict[str, int]:
    value = raw.get(key)
    inner = value if isinstance(value, dict) else {}
    return {name: integer(inner, name) for name in inner if isinstance(name, str)}
