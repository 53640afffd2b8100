# SPDX-License-Identifier: BSD-3-Clause
"""The ways of an entry point that are not the short one, in cold functions of their own.

slow_X      the thread's mark is not "outside MPI" (progress/inside.h). If MPI calls itself:
            straight to the real MPI
profiled_X  else: the call, timed, its requests followed; a thread's first call is registered here
            and, if it is not to be timed, enters again

Where the entry was called from is in the mark: so all of them have the same arguments, and a jump
does for a call.
"""

from __future__ import annotations

import re

from mpi_header import Function, Prototype

#: count and datatype that are significant on every rank, in every use, by parameter name
PAIRS = (
    ("count", "datatype"),
    ("origin_count", "origin_datatype"),
    ("sendcount", "sendtype"),
    ("recvcount", "recvtype"),
    ("recvcount", "datatype"),
)
#: ... but not in these: only at the root, not with MPI_IN_PLACE, or not with MPI_NO_OP
SEND_PAIR = re.compile(r"(?:I?[Ss]endrecv)(?:_c)?$")
RECEIVE_PAIR = re.compile(r"I?(?:[Nn]eighbor_)?(?:[Aa]llgather|[Aa]lltoall)(?:_init)?(?:_c)?$")
#: collectives of which every rank of the communicator is a part
COLLECTIVE = re.compile(
    r"I?(?:[Aa]ll(?:gather|reduce|toall)|[Bb]arrier|[Bb]cast|[Ee]xscan|[Gg]ather|"
    r"[Rr]educe(?!_local)|[Ss]can|[Ss]catter)"
)
#: ... of which those are, completed by a wait, that do not end when the last rank has come
NOT_UNTIL_LAST = re.compile(
    r"I(?:exscan|gather|reduce(?!_scatter)|scan)|"
    r"(?:Exscan|Gatherv?|Reduce|Scan)_init(?:_c)?$"
)
#: messages that an engine may pack (hw_engine_pack_messages)
MAY_BE_PACKED = re.compile(
    r"(?:Send|[SR]send|Isend|I[sr]send|Send_init|[SR]send_init|Recv|Irecv|I?[Mm]recv|Recv_init|"
    r"Sendrecv)(?:_c)?$"
)
#: before a call whose bytes are asked for when it is over: what mpi/profiled.h wants to know then
FREES = "    unsigned frees = hw_atomic_load_acquire(&hw_real_type_frees);\n"
#: calls that tell of requests that they are complete: the first that does ends the wait for it
DOOR = re.compile(r"(Wait|Test|Request_get_status_?)(all|any|some)?$")
NOT_COUNTED = re.compile(
    r"(?:Init|Init_thread|Finalize|Session_init|Session_finalize|Abort|"
    r"T_.*|.*_(?:c2f|f2c|fromint|toint))$"
)


def has_bytes(name: str, pair: tuple[str, str]) -> bool:
    if pair == ("sendcount", "sendtype"):
        return bool(SEND_PAIR.match(name))
    if pair == ("recvcount", "recvtype"):
        return bool(RECEIVE_PAIR.match(name))
    if pair[0] == "origin_count":
        return "et_accumulate" not in name
    return True


def of_nobody(plain: set[str], count: str) -> str:
    """The condition under which COUNT is of data that nobody sends or takes; empty: there is none.
    In the root's group of an intercommunicator nobody's arguments count but the root's."""
    peers = {"sendcount": ["dest"], "recvcount": ["source"], "origin_count": ["target_rank"]}
    names = [name for name in peers.get(count, ["dest", "source"]) if name in plain]
    names = ["root"] if "root" in plain else names
    return " && ".join(f"{name} == HW_PROC_NULL" for name in names)


def scalar_bytes(prototype: Prototype) -> str:
    """The bytes that a count and a datatype of the arguments tell, with the variable that FREES
    declares; 0 where they do not."""
    plain = {p.name for p in prototype.parameters if "*" not in p.type and not p.array}
    for pair in PAIRS:
        if set(pair) <= plain and has_bytes(prototype.name, pair):
            factor = "(uint64_t)partitions * " if "partitions" in plain else ""
            nobody = of_nobody(plain, pair[0])
            count = f"{nobody} ? 0 : {pair[0]}" if nobody else pair[0]
            return f"{factor}hw_profiled_bytes({count}, {pair[1]}, frees)"
    return "0"


def bytes_of(prototype: Prototype, function: Function) -> str:
    """The expression for the bytes of a call; 0 where its arguments do not tell."""
    return function.block or scalar_bytes(prototype)


def is_unsized(prototype: Prototype) -> bool:
    """A collective whose bytes take more than its scalar arguments to tell, on this rank."""
    return scalar_bytes(prototype) == "0" and not prototype.name.startswith("File_")


def requests_of(prototype: Prototype, function: Function) -> str:
    """How many requests a door looks at, and where they are."""
    if function.door:
        return function.door
    names = [p.name for p in prototype.parameters]
    return f"1, &{names[0]}" if names[0] == "request" else f"{names[0]}, {names[1]}"


def told(prototype: Prototype) -> str:
    """Which requests a door says that it has completed, and whom they took from."""
    names = [p.name for p in prototype.parameters]
    found = DOOR.match(prototype.name)
    kind = (found and found[2]) or ""
    flag = "" if prototype.name.startswith("Wait") else "*flag"
    count, indices = "1", "NULL"
    if kind == "all":
        count = names[0]
    elif kind == "any":
        indices = names[2]
    elif kind == "some":
        count, indices = f"*{names[2]}", names[3]
    if flag and kind != "some":
        count = f"{flag} ? {count} : 0"
    lines = "    if (rc == MPI_SUCCESS) {\n"
    if indices != "NULL":
        lines += f"        hw_profiled_told(&call, {count}, {indices});\n"
    return f"{lines}        hw_profiled_sources(&call, {count}, {indices}, {names[-1]});\n    }}\n"


def statuses(prototype: Prototype, function: Function) -> str:
    """Before a door: room to be told whom requests took from."""
    name = prototype.parameters[-1].name
    is_one = re.search(r"(Wait|Test|status|any)$", prototype.name)
    count = "1" if is_one else requests_of(prototype, function).partition(", ")[0]
    return (
        "    MPI_Status own[HW_PROFILED_STATUS_COUNT];\n"
        f"    {name} = hw_profiled_statuses(&call, {count}, {name}, own);\n"
    )


def around(prototype: Prototype, function: Function) -> tuple[str, str] | None:
    """What comes before and after the real call; None for a call that leaves nothing pending."""
    name = function.name
    if name == "Request_free":
        return "    hw_profiled_forget(request);\n", "    hw_profile_count(&call);\n"
    if name in ("Start", "Startall"):
        return "", f"    hw_profiled_started(&call, rc, {function.door});\n"
    if found := DOOR.match(name):
        blocks = "true" if found[1] == "Wait" else "false"
        complete = "false"
        if found[2] in (None, "all"):
            complete = "rc == MPI_SUCCESS" + (" && *flag" if blocks == "false" else "")
        of = requests_of(prototype, function)
        requests = of.partition(", ")[2]
        return (
            f"    hw_profiled_hold(&call, {of}, {blocks});\n{statuses(prototype, function)}",
            f"{told(prototype)}    hw_profiled_release(&call, {requests}, {complete}, {blocks});\n",
        )
    posts = any(p.name == "request" and p.is_request_in_out() for p in prototype.parameters)
    if posts and name not in ("Cancel", "Grequest_start"):
        persistent = "true" if re.search(r"_init(_c)?$", name) else "false"
        unsized = "    call.is_unsized = true;\n" if is_unsized(prototype) else ""
        after = f"    hw_profiled_posted(&call, rc, request, {persistent});\n"
        if packs(prototype):
            unsized += "    hw_packings_begin();\n"
            after += (
                "    if (rc == MPI_SUCCESS && hw_packings_are_any())\n"
                "        hw_packings_count(call.site, call.function, call.bytes);\n"
            )
        return unsized, after
    if name == "Comm_set_name":
        return "", "    hw_profile_count(&call);\n"
    return None


def communicator(prototype: Prototype) -> str | None:
    return next((p.name for p in prototype.parameters if p.is_communicator()), None)


def tells_source(prototype: Prototype) -> bool:
    """Whether a call that blocks tells from whom it took, where that may be anybody."""
    names = {p.name for p in prototype.parameters}
    return {"source", "status"} <= names and "request" not in names


def partners(prototype: Prototype) -> str | None:
    """Whom the call gives something to, from whom it takes, and the tag; None: that is not told."""
    if re.match(r"I?([Bb]cast|[Ss]catter)", prototype.name):
        return "HW_DELAY_IF_ROOT, hw_profiled_source(root), -1"
    if NOT_UNTIL_LAST.match(prototype.name):
        return "HW_DELAY_ALL, HW_DELAY_ANYBODY, -1"
    if COLLECTIVE.match(prototype.name):
        return "HW_DELAY_ALL, HW_DELAY_ALL, -1"
    plain = {p.name for p in prototype.parameters if p.type == "int" and not p.array}
    took = "hw_profiled_source(source)"
    if tells_source(prototype):
        took = "hw_profiled_took(rc, source, status)"
    if {"dest", "source"} <= plain:
        return f"hw_profiled_dest(dest), {took}, sendtag == recvtag ? recvtag : -1"
    if {"dest", "tag"} <= plain:
        return "hw_profiled_dest(dest), HW_DELAY_NOBODY, tag"
    if {"source", "tag"} <= plain:
        return f"HW_DELAY_NOBODY, {took}, tag"
    return None


def is_probe(prototype: Prototype) -> bool:
    """Whether a call tells at once if a message is there, or an epoch over."""
    return bool(re.match(r"(Im?probe|Win_test)$", prototype.name))


def probed(name: str) -> str:
    """The note of such a call."""
    is_for_message = name != "Win_test"
    took = "hw_profiled_took(rc, source, status)" if is_for_message else "HW_DELAY_NOBODY"
    comm, tag = ("comm", "tag") if is_for_message else ("HW_COMM_NULL", "-1")
    words = f'began_ns, "{name}", site, rc, {comm}, is_found, took, {tag}'
    return (
        "    bool is_found = rc == MPI_SUCCESS && *flag;\n"
        f"    int took = is_found ? {took} : HW_DELAY_NOBODY;\n"
        f"    hw_profiled_note_probe({words});\n"
    )


def one_sided(prototype: Prototype) -> tuple[str, str] | None:
    """The target of a one-sided call, and what it does to what is pending there; None: it is none,
    or waits for other processes to come."""
    name = prototype.name.removesuffix("_c")
    if name in ("Accumulate", "Compare_and_swap", "Fetch_and_op", "Get", "Get_accumulate", "Put"):
        return "target_rank", "HW_ONE_SIDED_ISSUES"
    if name == "Win_lock":
        alone = "lock_type == MPI_LOCK_EXCLUSIVE"
        return "rank", f"{alone} ? HW_ONE_SIDED_LOCKS : HW_ONE_SIDED_ASKS"
    if name == "Win_unlock":
        return "rank", "HW_ONE_SIDED_UNLOCKS"
    if name in ("Win_flush", "Win_flush_local"):
        return "rank", "HW_ONE_SIDED_COMPLETES"
    if re.match(r"Win_(complete|fence|flush_all|flush_local_all|unlock_all)$", name):
        return "HW_ONE_SIDED_ALL", "HW_ONE_SIDED_COMPLETES"
    return None


def remembers(prototype: Prototype) -> str:
    """After a call that made a window, or memory for one."""
    name = prototype.name.removesuffix("_c")
    base = "hw_profiled_base(rc, baseptr)"
    if name == "Alloc_mem":
        return f"    hw_profiled_memory(rc, {base}, size);\n"
    window = {
        "Win_allocate": f"HW_ONE_SIDED_ALLOCATED, {base}, size",
        "Win_allocate_shared": f"HW_ONE_SIDED_SHARED, {base}, size",
        "Win_create": "HW_ONE_SIDED_CREATED, base, size",
        "Win_create_dynamic": "HW_ONE_SIDED_DYNAMIC, NULL, 0",
    }.get(name)
    return f"    hw_profiled_window_made(rc, *win, comm, {window});\n" if window else ""


def packs(prototype: Prototype) -> bool:
    return bool(MAY_BE_PACKED.match(prototype.name))


def on_communicator(prototype: Prototype) -> str:
    """Which communicator a call was on, looked up when its time has been taken."""
    name = communicator(prototype)
    lines = f"    hw_profiled_comm(&call, rc, {name});\n" if name else ""
    if name and (who := partners(prototype)):
        lines += f"    hw_profiled_with(&call, {name}, {who});\n"
    if prototype.name == "Comm_set_name":  # the call itself counts under the new name
        lines += "    hw_profiled_comm_named(rc, comm, comm_name);\n" + lines
    return lines


def forgets(prototype: Prototype) -> str:
    """A handle, or memory, that is freed may be that of another soon."""
    return {
        "Comm_free": "    hw_profiled_comm_forget(comm);\n",
        "Comm_disconnect": "    hw_profiled_comm_forget(comm);\n",
        "Win_free": "    hw_profiled_window_forget(win);\n",
        "Free_mem": "    hw_one_sided_released(base);\n",
    }.get(prototype.name, "")


def cold(prototype: Prototype, prefix: str, section: str) -> str:
    """The head of a cold function: that of the entry under another name."""
    return prototype.declaration(f"{prefix}_{prototype.name}", f"static {section} ")


def slow(prototype: Prototype, function: Function, translate: str, after: str, section: str) -> str:
    """`translate` is what the entry does to communicators before the call, `after` what it does
    after each."""
    forget, name = "", prototype.name
    if function.door:
        hook = f"hw_{name.lower()}({prototype.arguments()})"
        forget = f"    if (hw_request_forget({function.door}))\n        return {hook};\n"
    if re.match(r"(Wait|Test)(all|any|some)?$|Request_free$", prototype.name):
        forget += f"    hw_profiled_drop({function.door});\n"
    if function.nested:
        forget += f"    if ({function.nested})\n        return MPI_SUCCESS;\n"
    call = f"hw_bottom.{name}({prototype.arguments()})"
    if function.is_asked_within:
        comm = communicator(prototype)
        ask = f"hw_ask_{function.name.lower()}({prototype.arguments()})"
        on, comm = ("_ON", f"{comm}, ") if comm else ("", "")
        call = f"HW_WITHIN{on}({comm}{ask}, {call})"
    last = f"    return {call};\n"
    if after:
        last = f"    {prototype.type} rc = {call};\n{after}    return rc;\n"
    return (
        f"{cold(prototype, 'slow', section)}\n{{\n"
        "    if (hw_inside_depth(&hw_inside) < HW_INSIDE_YES)\n"
        f"        return profiled_{name}({prototype.arguments()});\n"
        "    hw_inside_nest(&hw_inside);\n"
        f"{forgets(prototype)}{forget}{translate}"
        f"{last}}}\n\n"
    )


def noted(prototype: Prototype, function: Function, call: str, after: str) -> str:
    """The body for a call that leaves nothing pending."""
    name, comm = prototype.name, communicator(prototype)
    is_status = prototype.type == "int"
    size = bytes_of(prototype, function)
    size = f"rc == MPI_SUCCESS ? {size} : 0" if is_status and size != "0" else size
    found = "site = " if packs(prototype) else ""
    note = f'    {found}hw_profile_note(began_ns, "{name}", site, {size});\n'
    if comm and is_status:
        who = partners(prototype)
        ending, more = ("_with", f", {who}") if who else ("", "")
        words = f'began_ns, "{name}", site, {size}, rc, {comm}{more}'
        note = f"    {found}hw_profiled_note{ending}({words});\n"
    if is_probe(prototype):
        note = probed(name)
    if with_target := one_sided(prototype):
        target, kind = with_target
        words = f'(uint64_t)(uintptr_t)win, {target}, {kind}, "{name}", site, {size}, began_ns, 0'
        note = (
            f"    const struct hw_one_sided_call call = {{{words}}};\n"
            "    hw_profiled_note_window(&call, rc);\n"
        )
    note += remembers(prototype)
    begin = ""
    if packs(prototype):
        begin = "    hw_packings_begin();\n"
        note += (
            "    if (rc == MPI_SUCCESS && hw_packings_are_any())\n"
            f'        hw_packings_count(site, "{name}", '
            f"{bytes_of(prototype, function)});\n"
        )
    status = ""
    if tells_source(prototype):
        status = (
            "    MPI_Status taken;\n    if (status == HW_STATUS_IGNORE)\n        status = &taken;\n"
        )
    return (
        f"{forgets(prototype)}{status}{begin}    uint64_t began_ns = hw_profile_now_ns();\n"
        f"    {prototype.type} rc = {call};\n{after}{note}"
    )


def followed(
    prototype: Prototype, function: Function, parts: tuple[str, str], call: str, after: str
) -> str:
    """The body for a post, a start or a door. Sizes are asked for when the call has found the
    arguments valid: else its error would be raised by the question, at another handler."""
    before, count = parts
    size = bytes_of(prototype, function)
    sized = f"    if (rc == MPI_SUCCESS)\n        call.bytes = {size};\n" if size != "0" else ""
    return (
        "    struct hw_profile_call call;\n"
        f'    hw_profile_enter(&call, "{prototype.name}", site, 0);\n{before}'
        f"    {prototype.type} rc = {call};\n{after}    hw_profile_leave(&call);\n"
        f"{sized}{on_communicator(prototype)}{count}"
    )


def profiled(
    prototype: Prototype, function: Function, translate: str, call: str, after: str
) -> str:
    """`translate`, `call` and `after` are those of the entry."""
    name, parts = prototype.name, around(prototype, function)
    is_counted = not NOT_COUNTED.match(name)
    again = (
        "    if (hw_inside_depth(&hw_inside) != HW_INSIDE_PROFILED) {\n"
        "        hw_inside_register(&hw_inside);\n"
        "        if (hw_inside_depth(&hw_inside) != HW_INSIDE_PROFILED)\n"
        f"            return entry_{name}({prototype.arguments()});\n    }}\n"
    )
    if not is_counted:
        body = f"    {prototype.type} rc = {call};\n{after}"
    elif parts:
        body = followed(prototype, function, parts, call, after)
    else:
        body = noted(prototype, function, call, after)
    if "hw_profiled_bytes(" in body:
        body = FREES + body
    site = "    const void *site = hw_profiled_site();\n" if is_counted else ""
    entry = prototype.declaration(f"entry_{name}", f'static HW_ENTRY("MPI_{name}") ')
    # Every program begins with one of those that are not counted.
    section = "HW_COLD" if is_counted else "HW_NESTED"
    return (
        f"{entry};\n"
        f"{cold(prototype, 'profiled', section)}\n{{\n{site}{again}"
        f"    hw_inside_enter(&hw_inside);\n{translate}{body}"
        "    hw_inside_leave_profiled(&hw_inside);\n    return rc;\n}\n\n"
    )
