"""Writes the code that counts around the calls of a program (src/mpi/profile). Each function that
communicates or may wait has a wrapper. It calls the face's function, or the native one if the face
has none. The counted data stands in tables of one row each; names there are parameters in mpi.h."""

from __future__ import annotations

import re
from collections.abc import Iterator

import collectives
import files
import guards
from native_table import BANNER
from prototypes import Function

# Bytes of what a call sends, and to whom. Persistent ones count when they are started.
BUFFER = "call.sent(comm, dest, count, datatype);"
SENDS = {
    **dict.fromkeys(("Send", "Bsend", "Ssend", "Rsend"), BUFFER),
    **dict.fromkeys(("Isend", "Ibsend", "Issend", "Irsend"), BUFFER),
    **dict.fromkeys(("Send_init", "Bsend_init", "Ssend_init", "Rsend_init"), BUFFER),
    **dict.fromkeys(("Sendrecv_replace", "Isendrecv_replace"), BUFFER),
    **dict.fromkeys(("Sendrecv", "Isendrecv"), "call.sent(comm, dest, sendcount, sendtype);"),
    "Psend_init": "call.sent(comm, dest, count * partitions, datatype);",
}

# The data of a member in a collective: C++ over `call`, and `m`, who the members are.
IN_PLACE = "sendbuf == MPI_IN_PLACE ? {} : {}"
SENT = "call.bytes(sendcount, sendtype)"
RECEIVED = "call.bytes(recvcount, recvtype)"
VECTOR = "call.bytes(count, datatype)"
OWN_OF_MANY = "call.bytes(recvcounts[m.rank], recvtype)"
GIVEN = {
    "Barrier": "0",
    "Bcast": f"m.inter && root == MPI_PROC_NULL ? 0 : {VECTOR}",
    "Gather": f"m.gives_to(root) ? ({IN_PLACE.format(RECEIVED, SENT)}) : 0",
    "Gatherv": f"m.gives_to(root) ? ({IN_PLACE.format(OWN_OF_MANY, SENT)}) : 0",
    "Scatter": f"m.is_root(root) ? m.blocks() * {SENT} : 0",
    "Scatterv": "m.is_root(root) ? bytes_of_all(call, sendcounts, sendtype, m.blocks()) : 0",
    "Allgather": IN_PLACE.format(RECEIVED, SENT),
    "Allgatherv": IN_PLACE.format(OWN_OF_MANY, SENT),
    "Alltoall": f"m.blocks() * ({IN_PLACE.format(RECEIVED, SENT)})",
    "Alltoallv": IN_PLACE.format(
        "bytes_of_all(call, recvcounts, recvtype, m.blocks())",
        "bytes_of_all(call, sendcounts, sendtype, m.blocks())",
    ),
    "Alltoallw": IN_PLACE.format(
        "bytes_of_all(call, recvcounts, recvtypes, m.blocks())",
        "bytes_of_all(call, sendcounts, sendtypes, m.blocks())",
    ),
    "Reduce": f"m.gives_to(root) ? {VECTOR} : 0",
    "Allreduce": VECTOR,
    "Scan": VECTOR,
    "Exscan": VECTOR,
    "Reduce_scatter": "bytes_of_all(call, recvcounts, datatype, m.all.size())",
    "Reduce_scatter_block": "m.all.size() * call.bytes(recvcount, datatype)",
}
# The data that a neighbourhood collective sends to its destination `i`.
TO_NEIGHBOR = {
    "Neighbor_allgather": SENT,
    "Neighbor_allgatherv": SENT,
    "Neighbor_alltoall": SENT,
    "Neighbor_alltoallv": "call.bytes(sendcounts[i], sendtype)",
    "Neighbor_alltoallw": "call.bytes(sendcounts[i], sendtypes[i])",
}

ORIGIN = "call.bytes(origin_count, origin_datatype)"
BOTH = f"{ORIGIN} + call.bytes(result_count, result_datatype)"
ELEMENT = "2 * call.bytes(1, datatype)"
MOVED = {
    **dict.fromkeys(("Put", "Rput", "Get", "Rget", "Accumulate", "Raccumulate"), ORIGIN),
    **dict.fromkeys(("Get_accumulate", "Rget_accumulate"), BOTH),
    **dict.fromkeys(("Fetch_and_op", "Compare_and_swap"), ELEMENT),
}

# Code before and after the call, beside the time.
BEFORE = {
    "Start": "if (request != nullptr) call.started(*request);",
    "Startall": "if (array_of_requests != nullptr) call.started(count, array_of_requests);",
    "Request_free": "if (request != nullptr) let_go(*request);",
    "Comm_free": "if (comm != nullptr) forget(*comm);",
    "Comm_disconnect": "if (comm != nullptr) forget(*comm);",
    "Win_free": "if (win != nullptr) forget_window(*win);",
    "Type_free": "forget_datatype();",
    "Finalize": "if (call.counts()) tell();",
    "Abort": "if (call.counts()) tell_soon();",
}
AFTER = dict.fromkeys(("Init", "Init_thread", "Session_init"), "if (code == MPI_SUCCESS) begin();")

# They may wait, or do work that others wait for, and name nothing that would say so.
ALSO_TIMED = re.compile(
    r"(Wait|Test)(all|any|some)?|Request_get_status(_all|_any|_some)?|Pready(_range|_list)?"
    r"|Parrived|Buffer_(detach|flush)|Recv_init|Precv_init|Intercomm_create_from_groups"
    r"|File_(delete|get_size|get_position_shared)"
)
# They look at a handle, and take a few ns.
QUICK = re.compile(
    r"Comm_(rank|size|remote_size|compare|group|remote_group|test_inter|is_revoked)|Topo_test"
    r"|(Cart|Graph|Cartdim|Graphdims)_get|Cart_(rank|coords|shift)"
    r"|(Dist_graph|Graph)_neighbors(_count)?|Pcontrol|Info_.*|X_.*|T_.*"
    r"|(Un)?[Pp]ack(_size)?"
)


def base(function: Function) -> str:
    return function.member.removesuffix("_c")


def plain(function: Function) -> str:
    """The collective that a form is one of: Iallreduce_c, Allreduce_init -> Allreduce."""
    for name in collectives.TABLE:
        if function.member in collectives.forms_of(name):
            return name
    return ""


def persistent(function: Function) -> bool:
    return base(function).endswith("_init") and base(function) not in ("Session_init",)


def wrapped(function: Function) -> bool:
    name = base(function)
    if name in BEFORE or name in AFTER:
        return True
    if function.returns != "int" or function.variadic() or QUICK.fullmatch(name):
        return False
    return bool(
        plain(function)
        or name in SENDS
        or name in MOVED
        or ALSO_TIMED.fullmatch(name)
        or guards.may_wait(function)
    )


def named(function: Function, *names: str) -> str:
    """The first of these that is a parameter."""
    known = [p.name for p in function.parameters]
    return next((name for name in names if name in known), "")


def opening(function: Function) -> Iterator[str]:
    """The code before the call; `call` is made there."""
    name = base(function)
    which = f"k{name}"
    comm = [p.name for p in function.parameters if p.type == "MPI_Comm" and not p.array]
    keeps = persistent(function) and (plain(function) or name in SENDS)
    if keeps:
        yield f"Keeping call({which}, comm);"
    elif plain(function):
        yield f"Collective call({which}, comm);"
    else:
        peer = named(function, "source", "dest")
        place = f", {comm[0]}" + (f", {peer}" if peer else "") if comm else ""
        yield f"const Call call({which}{place});"
    if keeps and name in SENDS:
        yield f"if (call.members() != nullptr) {SENDS[name]}"
    if given := GIVEN.get(plain(function)):
        yield "if (const Members* const known = call.members()) {"
        yield "  [[maybe_unused]] const Members& m = *known;"
        yield f"  call.gives({given});"
        yield "}"
    if to := TO_NEIGHBOR.get(plain(function)):
        yield "if (const Members* const known = call.members()) {"
        yield "  call.gives(0);"
        yield "  for (std::size_t i = 0; i < known->destinations.size(); ++i)"
        yield f"    call.sent_to_world(known->destinations[i], {to});"
        yield "}"
    if moved := MOVED.get(name):
        yield f"if (call.counts()) call.moved(win, target_rank, {moved});"
    if (way := files.NAME.match(function.member)) and way["split"] != "_end":
        verb = "written" if way["direction"] == "write" else "read"
        datatype = "type" if named(function, "type") else "datatype"
        yield f"if (call.counts()) call.{verb}(call.bytes(count, {datatype}));"
    if name in BEFORE:
        yield BEFORE[name]


def wrapper(function: Function, face: guards.Face) -> str:
    ours = function.member in face.entries or face.guarded(function)
    called = f"isthmus_{function.member}" if ours else f"native.{function.member}"
    parameters = ", ".join(p.declaration() for p in function.parameters)
    arguments = ", ".join(p.name for p in function.parameters)
    lines = list(opening(function))
    after = AFTER.get(base(function), "")
    if lines[0].startswith("Keeping"):
        after = "if (code == MPI_SUCCESS && request != nullptr) call.made(*request);"
    elif base(function) in SENDS:
        # On its way the message does not wait for being counted.
        after = f"if (code == MPI_SUCCESS) {SENDS[base(function)]}"
        if not named(function, "source"):  # the receiver is the peer that the call has noted
            after = after.replace("call.sent(comm, dest, ", "call.sent(")
    if after:
        lines += [f"const int code = {called}({arguments});", after, "return code;"]
    else:
        lines.append(f"return {called}({arguments});")
    body = "\n".join(f"  {line}" for line in lines)
    # A thread's first call takes a way of its own: the others have no more to save than they need.
    this, first = f"isthmus_profiled_{function.member}", f"first_{function.member}"
    return (
        f'extern "C" int {this}({parameters});\n'
        f"[[gnu::noinline, gnu::cold]] static int {first}({parameters}) {{\n"
        f"  begin_thread();\n"
        f"  return {this}({arguments});\n"
        f"}}\n"
        f'extern "C" int {this}({parameters}) {{\n'
        f"  if (mine == nullptr) [[unlikely]] return {first}({arguments});\n"
        f"{body}\n"
        f"}}\n"
    )


def _mpi_name(member: str) -> str:
    return f"MPI{member}" if member.startswith("X_") else f"MPI_{member}"


def source(face: guards.Face) -> str:
    functions = [f for f in face.declared if wrapped(f)]
    # The forms with large counts go by the name of the others.
    members = dict.fromkeys(base(f) for f in functions)
    numbers = "\n".join(f"  k{member}," for member in members)
    names = "\n".join(f'    "{_mpi_name(member)}",' for member in members)
    wrappers = "\n".join(wrapper(f, face) for f in functions)
    return f"""{BANNER}
#include "mpi/native/native.hpp"
#include "mpi/profile/counting.hpp"
#include "mpi/profile/telling.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace isthmus::face::profile {{
namespace {{

enum Function : unsigned {{
  kNone,
{numbers}
}};

}}  // namespace

const char* const kFunctionNames[] = {{
    "",
{names}
}};

{wrappers}
}}  // namespace isthmus::face::profile
"""


def table(face: guards.Face) -> str:
    """guards.table, with the wrappers in their places."""
    names = {f.mpi_name: f.member for f in face.declared if wrapped(f)}
    text = guards.table(face).replace("kFaceFunctions", "kProfiledFunctions")
    for mpi_name, member in names.items():
        text = re.sub(
            rf'\{{"{mpi_name}", [^}}]*\}}',
            f'{{"{mpi_name}", reinterpret_cast<void*>(&isthmus_profiled_{member})}}',
            text,
        )
    declarations = "\n".join(f'extern "C" int isthmus_profiled_{m}();' for m in names.values())
    head = "\nnamespace isthmus::face {"
    return text.replace(head, f"\n{declarations}\n{head}", 1)
