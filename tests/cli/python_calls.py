# SPDX-License-Identifier: BSD-3-Clause
"""One rank whose calls of MPI come from marked lines, in every way Python has; 3.8 and later."""

import functools
import os
import threading
import time

import python_calls
from python_calls import probe


def alone():
    for _ in range(30):
        probe()  # site: alone 30


def holding():
    for _ in range(20):
        try:
            python_calls.probe_holding()  # site: holding 20
        except KeyError as error:
            assert error.args == ("kept",)


def deep(levels):
    if levels:
        deep(levels - 1)
    else:
        probe()  # site: deep 1


class Grid:
    def swap(self, count):
        (lambda: [probe() for _ in range(count)])()  # site: swap 3
        try:
            raise ValueError
        except ValueError:
            probe()  # site: swap, caught 1


def steps():
    while True:
        probe()  # site: steps 4
        yield


async def awaits():
    await inner()


async def inner():
    probe()  # site: inner 1


def through_c():
    functools.partial(sorted, [3, 1, 2], key=lambda value: probe() or value)()  # site: key 3


def many_lines():
    values = []
    # here the test puts many
    probe()  # site: far 1
    return values


def in_threads():
    for _ in range(50):
        probe()  # site: threads 150


def called_back():
    probe()  # inside MPI: not counted


def others():
    """Files whose names need one, two and four bytes a character."""
    for name in ("caf\u00e9.py", "snow-\u2603.py", "sum-\U0001d4b3.py"):
        code = compile("\n\n\nprobe()\n", name, "exec")
        exec(code, {"probe": probe})
        # The same again, where the first perhaps lay.
        del code
        exec(compile("\n\n\n\nprobe()\n", name, "exec"), {"probe": probe})


def spin(is_over):
    while not is_over.is_set():
        sum(range(100))


alone()
holding()
deep(300)
Grid().swap(3)
generator = steps()
for _ in range(4):
    next(generator)
try:
    awaits().send(None)
except StopIteration:
    pass
through_c()
many_lines()
others()
assert python_calls.delete_attribute(called_back) == 0  # site: attribute 1

is_over = threading.Event()
spinner = threading.Thread(target=spin, args=(is_over,))
workers = [threading.Thread(target=in_threads) for _ in range(3)]
for thread in [spinner, *workers]:
    thread.start()
for thread in workers:
    thread.join()
is_over.set()
spinner.join()

threading.Thread(target=python_calls.linger, daemon=True).start()
while not python_calls.is_lingering():
    time.sleep(0.001)
probe()  # site: last 1
os.write(1, b"done\n")
