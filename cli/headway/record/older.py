# SPDX-License-Identifier: BSD-3-Clause
"""Records of older versions, as the newest would have them."""

from __future__ import annotations

from headway.record.reading import Raw
from headway.record.table import Record


def record_of(raw: Raw) -> Record:
    """A record of any version, from what its file has."""
    return Record.of(with_moments(raw))


def with_moments(raw: Raw) -> Raw:
    """Schema 3 had the moments within one_sided, and none of programs without windows."""
    profile = raw.get("profile")
    if not isinstance(profile, dict) or "moments" in profile:
        return raw
    told = profile.get("one_sided")
    if not isinstance(told, dict) or "sample" not in told:
        return raw
    return {**raw, "profile": {**profile, "moments": told}}
