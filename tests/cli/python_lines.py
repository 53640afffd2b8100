# SPDX-License-Identifier: BSD-3-Clause
"""Compares lines that python_code.c reads from tables with those CPython knows; 3.8 and later.

python_lines.py LIBRARY   prints how many instructions were compared
"""

import ctypes
import os
import sys
import types

library = ctypes.CDLL(sys.argv[1])
kind = 0 if sys.version_info < (3, 10) else 1 if sys.version_info < (3, 11) else 2
to_line = ctypes.pythonapi.PyCode_Addr2Line
to_line.argtypes = [ctypes.py_object, ctypes.c_int]


def codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


def compare(code):
    table = code.co_lnotab if kind == 0 else code.co_linetable
    for at in range(0, len(code.co_code), 2):
        expected = to_line(code, at)
        found = library.hw_python_line(
            kind, table, ctypes.c_size_t(len(table)), code.co_firstlineno, ctypes.c_ssize_t(at)
        )
        # An instruction without a line is on the first one.
        assert found == (expected if expected >= 0 else code.co_firstlineno), (code, at)
    return len(code.co_code) // 2


folder = os.path.dirname(os.__file__)
count = 0
for name in ("argparse", "dataclasses"):
    path = os.path.join(folder, name + ".py")
    with open(path, encoding="utf-8") as file:
        module = compile(file.read(), path, "exec")
    count += sum(compare(code) for code in codes(module))
print(count)
