import re

import guards
import profile_wrappers as profile
import prototypes
import pytest

SEND = (
    "int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, "
    "MPI_Comm comm);"
)
SEND_C = SEND.replace("PMPI_Send", "PMPI_Send_c").replace("int count", "MPI_Count count")
SEND_INIT = SEND.replace("PMPI_Send", "PMPI_Send_init").replace(");", ", MPI_Request *request);")
RECV = (
    "int PMPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, "
    "MPI_Comm comm, MPI_Status *status);"
)
REDUCE = (
    "int PMPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, "
    "MPI_Op op, MPI_Comm comm, MPI_Request *request);"
)
WAIT = "int PMPI_Wait(MPI_Request *request, MPI_Status *status);"
FREE = "int PMPI_Comm_free(MPI_Comm *comm);"
FINALIZE = "int PMPI_Finalize(void);"
RANK = "int PMPI_Comm_rank(MPI_Comm comm, int *rank);"
WTIME = "double PMPI_Wtime(void);"
ALL = [SEND, SEND_C, SEND_INIT, RECV, REDUCE, WAIT, FREE, FINALIZE, RANK, WTIME]


def function(text: str) -> prototypes.Function:
    return prototypes.parse(text)[0]


def face(*entries: str) -> guards.Face:
    return guards.Face([function(text) for text in ALL], entries=set(entries))


def test_a_send_is_handed_on_and_then_counted() -> None:
    text = profile.wrapper(function(SEND), face("Send"))
    body = text[text.rindex("isthmus_profiled_Send(const") :].splitlines()[2:-1]
    assert [line.strip() for line in body] == [
        "const Call call(kSend, comm, dest);",
        "const int code = isthmus_Send(buf, count, datatype, dest, tag, comm);",
        "if (code == MPI_SUCCESS) call.sent(count, datatype);",
        "return code;",
    ]


def test_what_is_native_is_called_there() -> None:
    assert "return native.Wait(request, status);" in profile.wrapper(function(WAIT), face())


def test_a_persistent_request_counts_when_it_is_started() -> None:
    text = profile.wrapper(function(SEND_INIT), face("Send_init"))
    assert "Keeping call(kSend_init, comm);" in text
    assert "call.made(*request);" in text


def test_a_form_with_large_counts_goes_by_the_name_of_the_other() -> None:
    assert "const Call call(kSend, comm, dest);" in profile.wrapper(function(SEND_C), face())
    assert profile.source(face()).count('"MPI_Send",') == 1
    assert "MPI_Send_c" not in profile.source(face())


def test_a_collective_says_what_its_members_give() -> None:
    text = profile.wrapper(function(REDUCE), face("Iallreduce"))
    assert "Collective call(kIallreduce, comm);" in text
    assert "call.gives(call.bytes(count, datatype));" in text


def test_before_a_handle_is_freed_it_is_forgotten() -> None:
    text = profile.wrapper(function(FREE), face("Comm_free"))
    assert text.index("forget(*comm)") < text.index("isthmus_Comm_free")


def test_the_profile_is_told_before_the_end() -> None:
    text = profile.wrapper(function(FINALIZE), face("Finalize"))
    assert text.index("tell()") < text.index("isthmus_Finalize()")


@pytest.mark.parametrize("text", [RANK, WTIME])
def test_what_only_looks_is_not_wrapped(text: str) -> None:
    assert not profile.wrapped(function(text))


def test_without_a_profile_no_wrapper_is_in_the_way() -> None:
    """The table of every day does not know them; the other has the same names."""
    every_day, profiled = guards.table(face("Send", "Recv")), profile.table(face("Send", "Recv"))
    assert "profiled" not in every_day
    assert "kFaceFunctions[]" in every_day
    assert "kProfiledFunctions[]" in profiled
    names = [re.findall(r'\{"(\w+)", ', text) for text in (every_day, profiled)]
    assert names[0] == names[1]
    assert '{"MPI_Send", reinterpret_cast<void*>(&isthmus_profiled_Send)}' in profiled
    assert '{"MPI_Wtime", nullptr}' in profiled
