# SPDX-License-Identifier: BSD-3-Clause
"""Strict parser for the C prototypes of an mpi.h, and the reader of spec/mpi-functions.toml.

The header is preprocessed with the C compiler, so what is parsed is what a program compiles. Any
declaration of an MPI_* function that does not fit the small grammar below is an error: a wrapper
that silently disappears is worse than a build that stops.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

CLASSES = ("leaf", "pass", "world", "hook", "posted", "none")

# Open MPI hides the functions MPI-3.0 removed, yet exports them, and programs still call them.
PREPROCESSOR_DEFINES = ("-DOMPI_OMIT_MPI1_COMPAT_DECLS=0",)

NAME = re.compile(r"\bMPI_[A-Z]\w*\s*\(")
PROTOTYPE = re.compile(
    r"^(?:extern\s+)?(?P<type>[\w\s*]+?[\s*])(?P<name>MPI_[A-Z]\w*)\s*\((?P<rest>.*)\)$"
)
PARAMETER = re.compile(r"^(?P<type>.*[\s*])(?P<name>\w+)\s*(?P<array>(?:\[\s*\d*\s*\]\s*)*)$")
HANDLE = re.compile(r"\bMPI_(?:Comm|Group|Session)\b")

#: What engines get for an array of counts or displacements, of either width.
NUMBERS = "struct hw_engine_numbers"


class HeaderError(Exception):
    """A header, or the specification, says something the generator does not understand."""


@dataclass(frozen=True)
class Parameter:
    type: str
    name: str
    array: str = ""

    def declaration(self) -> str:
        space = "" if self.type.endswith("*") else " "
        return f"{self.type}{space}{self.name}{self.array}"

    def is_communicator(self) -> bool:
        """A communicator by value: what MPI_COMM_WORLD may be passed as."""
        return self.type == "MPI_Comm" and not self.array

    def is_request_in_out(self) -> bool:
        """A pointer to requests, or an array of them: the call may change what it finds there."""
        if not re.search(r"\bMPI_Request\b", self.type) or "const" in self.type:
            return False
        return "*" in self.type or bool(self.array)


@dataclass(frozen=True)
class Prototype:
    type: str
    name: str  # without the MPI_ prefix
    parameters: tuple[Parameter, ...]
    is_variadic: bool = False
    #: as the header has them, where it forgets a const: what is exported has to agree with it
    declared: tuple[Parameter, ...] = ()

    def as_declared(self) -> Prototype:
        return replace(self, parameters=self.declared) if self.declared else self

    def with_const_of(self, own: Prototype) -> Prototype:
        """MPICH 4.2 and 4.3 forget const of arrays of requests that are only read: the hooks and
        the table of real calls have what the specification says."""
        if [p.type for p in self.parameters] == [p.type for p in own.parameters]:
            return self
        types = [p.type.replace("const ", "") for p in own.parameters]
        if types != [p.type for p in self.parameters]:
            return self
        pairs = zip(self.parameters, own.parameters, strict=True)
        parameters = tuple(replace(p, type=q.type) for p, q in pairs)
        return replace(self, parameters=parameters, declared=self.parameters)

    def arguments(self) -> str:
        return ", ".join(parameter.name for parameter in self.parameters)

    def declaration(self, name: str, prefix: str = "") -> str:
        inner = ", ".join(parameter.declaration() for parameter in self.parameters) or "void"
        if self.is_variadic:
            inner += ", ..."
        return f"{prefix}{self.type} {name}({inner})"


def preprocess(header: Path, compiler: str) -> str:
    command = [compiler, "-E", "-P", "-x", "c", *PREPROCESSOR_DEFINES, f"-I{header.parent}", "-"]
    done = subprocess.run(command, input="#include <mpi.h>\n", capture_output=True, text=True)
    if done.returncode != 0:
        raise HeaderError(f"{header}: the preprocessor failed: {done.stderr.strip()}")
    return done.stdout


def header_version(header: Path, compiler: str) -> str:
    """The text of the macros that name the implementation and its version, e.g. "mpich 4.0.2"."""
    command = [compiler, "-E", "-dM", "-x", "c", f"-I{header.parent}", "-"]
    done = subprocess.run(
        command, input="#include <mpi.h>\n", capture_output=True, text=True, check=True
    )
    macros = dict(re.findall(r"^#define (\w+) +(.*)$", done.stdout, re.M))
    if "OMPI_MAJOR_VERSION" in macros:
        parts = [macros[f"OMPI_{part}_VERSION"] for part in ("MAJOR", "MINOR", "RELEASE")]
        return "ompi " + ".".join(parts)
    if "I_MPI_VERSION" in macros:
        return "impi " + macros["I_MPI_VERSION"].strip('"')
    if "MPICH_VERSION" in macros:
        return "mpich " + macros["MPICH_VERSION"].strip('"')
    raise HeaderError(f"{header}: neither an MPICH, an Intel MPI nor an Open MPI header")


def strip_attributes(text: str) -> str:
    """Removes every __attribute__((...)), however deeply its parentheses nest."""
    out: list[str] = []
    position = 0
    for match in re.finditer(r"__attribute__\s*(?=\()", text):
        if match.start() < position:
            continue
        out.append(text[position : match.start()])
        depth = 0
        for position in range(match.end(), len(text)):
            depth += {"(": 1, ")": -1}.get(text[position], 0)
            if depth == 0:
                break
        position += 1
    out.append(text[position:])
    return "".join(out)


def statements(text: str) -> list[str]:
    """Top-level statements, white space folded; the bodies of structs and functions are dropped."""
    found: list[str] = []
    current: list[str] = []
    depth = 0
    for char in text:
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
        elif depth == 0 and char == ";":
            found.append(" ".join("".join(current).split()))
            current = []
        elif depth == 0:
            current.append(char)
    return found


def split_parameters(text: str) -> list[str]:
    parts: list[str] = [""]
    depth = 0
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def parse_parameter(text: str, where: str) -> Parameter:
    match = PARAMETER.match(text)
    if not match or "(" in text or match["name"] in ("int", "void", "char", "double", "const"):
        raise HeaderError(f"{where}: cannot parse the parameter `{text}`")
    return Parameter(match["type"].strip(), match["name"], match["array"].replace(" ", ""))


def parse_prototype(statement: str, where: str) -> Prototype:
    match = PROTOTYPE.match(statement)
    if not match:
        raise HeaderError(f"{where}: cannot parse the declaration `{statement}`")
    parts = split_parameters(match["rest"])
    is_variadic = parts[-1] == "..."
    if is_variadic:
        parts.pop()
    if parts in (["void"], [""]):
        parts = []
    name = match["name"]
    parameters = tuple(parse_parameter(part, f"{where}: {name}") for part in parts)
    return Prototype(
        " ".join(match["type"].split()), name.removeprefix("MPI_"), parameters, is_variadic
    )


def parse_header(header: Path, compiler: str) -> dict[str, Prototype]:
    """Every MPI_* function the header declares, by name without the prefix."""
    found: dict[str, Prototype] = {}
    for statement in statements(strip_attributes(preprocess(header, compiler))):
        if statement.startswith("typedef") or not NAME.search(statement):
            continue
        prototype = parse_prototype(statement, str(header))
        found.setdefault(prototype.name, prototype)
    if not found:
        raise HeaderError(f"{header}: declares no MPI function")
    return found


@dataclass
class Function:
    """What the specification says about one function (and about its _c twin)."""

    name: str
    kind: str
    group: str
    door: str = ""  # "count, requests" for a door
    only_known: bool = False  # the hook has nothing to do while the tracker knows no request
    sized: str = ""  # "count, datatype": the hook has nothing to do where they make a small message
    posted: str = ""  # arguments of the hook for class posted
    is_blocking: bool = False  # time in it is not computation
    sends: str = ""  # and it sends one message: to whom
    receives: str = ""  # or receives one: from whom
    is_passing: bool = False  # the program comes to MPI with it
    is_owing: bool = False  # goes on without what its thread owes (progress/inside.h)
    is_postponing: bool = False  # goes on before receives that are to begin later; likewise
    before: str = ""  # a statement that comes first, also where MPI calls itself
    after: str = ""  # one after success, likewise
    block: str = ""  # a collective's bytes, where its scalar arguments do not tell them
    nested: str = ""  # a condition under which MPI's call to itself is done with
    asked: str = ""  # of which group, if engines are asked before the real call
    only_asked: bool = False  # the hook has nothing to do while no engine is
    is_asked_within: bool = False  # engines are asked about MPI's calls to itself, too
    unless: str = ""  # a condition under which engines need not be asked
    shared: str = ""  # what an engine is asked that has no member for it
    shared_arguments: str = ""

    @property
    def is_marked(self) -> bool:
        """Whether MPI's calls to itself are not all alike: some are those of the next library."""
        return self.is_asked_within or bool(self.after)


@dataclass
class Spec:
    functions: dict[str, Function] = field(default_factory=dict)
    widened: dict[str, dict[str, str]] = field(default_factory=dict)  # hook file -> name -> type
    posted_parameters: dict[str, str] = field(default_factory=dict)
    untracked: dict[str, str] = field(default_factory=dict)  # takes a request, no hook: the reason
    # takes a communicator that is not translated: the reason
    untranslated: dict[str, str] = field(default_factory=dict)
    prototypes: dict[str, Prototype] = field(default_factory=dict)
    asked_groups: list[str] = field(default_factory=list)
    asked_widened: dict[str, dict[str, str]] = field(default_factory=dict)  # of those without hook
    asked_moved: dict[str, list[str]] = field(default_factory=dict)  # pointers to what it moves on
    # group -> member for several functions -> its parameters
    asked_shared: dict[str, dict[str, str]] = field(default_factory=dict)
    frequent: set[str] = field(
        default_factory=set
    )  # "class.group" of what programs call in their loops

    def add(self, function: Function) -> None:
        if function.name in self.functions:
            other = self.functions[function.name]
            raise HeaderError(f"spec: {function.name} is both {other.kind} and {function.kind}")
        self.functions[function.name] = function

    def find(self, name: str) -> Function:
        """The entry of a function; a _c twin is what its base function is."""
        base = name.removesuffix("_c")
        own, twin = self.functions.get(name), self.functions.get(base)
        if own and twin and own is not twin and own.kind != twin.kind:
            raise HeaderError(f"spec: {name} is {own.kind} but {base} is {twin.kind}")
        if not own and not twin:
            raise HeaderError(f"spec: MPI_{name} has no class; add it to one in the specification")
        return own or twin  # type: ignore[return-value]

    def is_translated(self, function: Function) -> bool:
        """True where the program's world takes the place of MPI_COMM_WORLD."""
        is_ours = function.kind in ("world", "hook", "posted")
        return is_ours and function.name not in self.untranslated

    def is_frequent(self, name: str) -> bool:
        """True for what programs call in their loops. Few use a _c twin, and those use no other."""
        function = self.find(name)
        return function.name == name and f"{function.kind}.{function.group}" in self.frequent


def read_spec(path: Path) -> Spec:
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    spec = Spec(
        untracked=dict(document.pop("untracked", {})),
        untranslated=dict(document.pop("untranslated", {})),
        frequent=set(document.pop("frequent", {}).get("groups", [])),
    )
    blocks = document.pop("block", {})
    blocking = document.pop("blocking", {})
    passing = document.pop("passing", {}).get("functions", [])
    owing = document.pop("owing", {}).get("functions", [])
    postponing = document.pop("postponing", {}).get("functions", [])
    asked = document.pop("asked", {})
    within = document.pop("within", {})
    statements = {where: document.pop(where, {}) for where in ("before", "after")}
    for name, text in document.pop("prototypes", {}).items():
        spec.prototypes[name] = parse_prototype(" ".join(text.split()), f"spec: prototypes.{name}")
    for kind, groups in document.items():
        if kind not in CLASSES:
            raise HeaderError(f"spec: `{kind}` is not a class; known: {', '.join(CLASSES)}")
        for group, body in groups.items():
            read_group(spec, kind, group, body)
    mark_blocking(spec, blocking)
    for name in owing:
        spec.find(name).is_owing = True
    for name in postponing:
        spec.find(name).is_postponing = True
    for name in passing:
        spec.find(name).is_passing = True
    give_blocks(spec, blocks)
    mark_asked(spec, asked)
    mark_within(spec, within)
    for where, named in statements.items():
        for name, statement in named.items():
            setattr(spec.find(name), where, statement)
    known = {f"{kind}.{group}" for kind, groups in document.items() for group in groups}
    if unknown := spec.frequent - known:
        raise HeaderError(f"spec: frequent names no group {', '.join(sorted(unknown))}")
    return spec


def mark_blocking(spec: Spec, table: dict[str, Any]) -> None:
    sends, receives = table.get("sends", {}), table.get("receives", {})
    for name in table.get("functions", []):
        function = spec.find(name)
        function.sends, function.receives = sends.get(name, ""), receives.get(name, "")
        if function.kind not in ("pass", "world"):
            raise HeaderError(f"spec: {name} is blocking, which class {function.kind} is not asked")
        function.is_blocking = True


def mark_asked(spec: Spec, groups: dict[str, Any]) -> None:
    """What engines are asked before the real call: by the hook; without one by the entry.

    `only` names hooks that do nothing else, `moved` pointers to numbers that are read and written,
    `numbers` arrays of counts or displacements, `shared` a member that an engine may have in place
    of several.
    """
    spec.asked_groups = list(groups)
    for group, lists in groups.items():
        spec.asked_widened[group] = dict.fromkeys(lists.get("widened", []), "MPI_Count")
        spec.asked_widened[group] |= dict.fromkeys(lists.get("numbers", []), NUMBERS)
        spec.asked_moved[group] = lists.get("moved", [])
        conditions = dict(lists.get("unless", {}))
        spec.asked_widened[group] |= dict.fromkeys(spec.asked_moved[group], "MPI_Count *")
        for name in [*lists.get("functions", []), *lists.get("only", [])]:
            function = spec.find(name)
            if function.kind not in ("hook", "pass", "posted", "world") or function.asked:
                raise HeaderError(f"spec: engines cannot be asked about {name}, or are twice")
            function.asked = group
            function.only_asked = name in lists.get("only", [])
            function.unless = conditions.get(name, "")
        mark_shared(spec, group, lists.get("shared", {}))


def mark_within(spec: Spec, table: dict[str, list[str]]) -> None:
    """About which of MPI's calls to itself engines are asked, too."""
    groups, names = table.get("groups", []), table.get("functions", [])
    for function in spec.functions.values():
        function.is_asked_within = function.name in names or function.asked in groups
        if function.is_asked_within and not function.asked:
            raise HeaderError(f"spec: engines cannot be asked about {function.name} within a call")


def mark_shared(spec: Spec, group: str, members: dict[str, Any]) -> None:
    spec.asked_shared[group] = {member: body["parameters"] for member, body in members.items()}
    for member, body in members.items():
        for name, arguments in body["functions"].items():
            function = spec.find(name)
            if function.asked != group or function.shared:
                raise HeaderError(f"spec: {member} of {group} cannot be shared by {name}")
            function.shared, function.shared_arguments = member, arguments


def give_blocks(spec: Spec, blocks: dict[str, str]) -> None:
    """A collective's expression to its blocking, nonblocking and persistent functions."""
    for name, block in blocks.items():
        for form in (name, f"I{name[0].lower()}{name[1:]}", f"{name}_init"):
            function = spec.find(form)
            function.block = block
            function.posted = function.posted.replace("{block}", f"hw_engine_is_on() ? {block} : 0")
    if left := [name for name, function in spec.functions.items() if "{block}" in function.posted]:
        raise HeaderError(f"spec: {', '.join(left)} is posted with a block that nothing says")


def read_group(spec: Spec, kind: str, group: str, body: object) -> None:
    if kind in ("leaf", "pass", "world") and isinstance(body, list):
        for name in body:
            spec.add(Function(name, kind, group))
    elif kind == "none" and isinstance(body, str):
        spec.add(Function(group, kind, "none"))
    elif kind == "hook" and isinstance(body, dict):
        spec.widened[group] = dict.fromkeys(body.get("widened", []), "MPI_Count")
        spec.widened[group] |= dict.fromkeys(body.get("widened_aint", []), "MPI_Aint")
        for name in body["functions"]:
            door = body.get("doors", {}).get(name, "")
            sized = body.get("sized", {}).get(name, "")
            nested = body.get("nested", {}).get(name, "")
            is_known = body.get("only_known", False)
            spec.add(Function(name, kind, group, door, is_known, sized, nested=nested))
    elif kind == "posted" and isinstance(body, dict):
        spec.posted_parameters[group] = body["parameters"]
        for name, arguments in body["functions"].items():
            spec.add(Function(name, kind, group, posted=arguments))
    else:
        raise HeaderError(f"spec: [{kind}.{group}] is not written as class `{kind}` is")


def check_surface(spec: Spec, prototypes: dict[str, Prototype]) -> None:
    """Each function has a class, and no request escapes: the promises the tracker stands on."""
    for name, prototype in sorted(prototypes.items()):
        function = spec.find(name)
        names = {parameter.name for parameter in prototype.parameters}
        used = set(
            re.findall(
                r"\b(?!hw_)[a-z]\w*\b", f"{function.door} {function.sized} {function.posted}"
            )
        )
        if missing := used - names:
            raise HeaderError(f"spec: MPI_{name} has no parameter {', '.join(sorted(missing))}")
        takes_request = any(parameter.is_request_in_out() for parameter in prototype.parameters)
        is_caught = function.kind in ("hook", "posted") or function.name in spec.untracked
        if takes_request and not is_caught:
            raise HeaderError(f"spec: MPI_{name} takes a request in or out but is {function.kind}")
        takes_comm = any(parameter.is_communicator() for parameter in prototype.parameters)
        is_decided = spec.is_translated(function) or function.name in spec.untranslated
        if takes_comm and not is_decided:
            raise HeaderError(f"spec: MPI_{name} takes a communicator but is {function.kind}")
