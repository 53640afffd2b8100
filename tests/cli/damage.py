# SPDX-License-Identifier: BSD-3-Clause
"""Documents with something else in places, for what reads files that anybody may have written."""

from __future__ import annotations

import random

INSTEAD = (None, [], {}, "x", -1, 1e308, True, [[1, 2]], {"a": None})


def damage(
    value: object, source: random.Random, *, share: float, more: tuple[object, ...] = ()
) -> object:
    """The same with this SHARE of its values replaced, by MORE too, and some members left out."""
    if source.random() < share:
        return source.choice((*INSTEAD, *more))
    if isinstance(value, dict):
        return {
            key: damage(one, source, share=share, more=more)
            for key, one in value.items()
            if source.random() > 0.05
        }
    if isinstance(value, list):
        return [damage(one, source, share=share, more=more) for one in value]
    return value
