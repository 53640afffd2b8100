# SPDX-License-Identifier: BSD-3-Clause
"""One line that calls MPI, reached in two ways."""

import python_calls


def exchange():
    python_calls.probe()


def first():
    exchange()


def second():
    exchange()


for _ in range(10):
    first()
    second()
    second()
print("done")
