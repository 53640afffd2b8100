# SPDX-License-Identifier: BSD-3-Clause
"""Devito's own elastic-wave example, larger; prints the norms of what it computed.

elastic.py CACHE: a folder for the kernels it compiles, which are good for one MPI only.
"""

import sys
import tempfile
from pathlib import Path

Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
tempfile.tempdir = sys.argv[1]

from devito import norm  # noqa: E402
from examples.seismic.elastic.elastic_example import run  # noqa: E402

_, _, _, (receivers_tau, receivers_v, v, _) = run(
    shape=(120, 80, 80), spacing=(10.0, 10.0, 10.0), tn=100.0, space_order=8, nbl=10
)
norms = {"tau": norm(receivers_tau), "v": norm(receivers_v), "field": norm(v[0])}
if v[0].grid.distributor.myrank == 0:
    for name, value in norms.items():
        print("norm", name, repr(float(value)), flush=True)
