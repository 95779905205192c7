import collectives
import prototypes
import pytest

HEADER = """
int PMPI_Neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm);
int PMPI_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int PMPI_Neighbor_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Info info, MPI_Request *request);
int PMPI_Comm_size(MPI_Comm comm, int *size);
"""


@pytest.fixture
def declared() -> list[prototypes.Function]:
    return prototypes.parse(HEADER)


def test_a_row_stands_for_six_functions() -> None:
    assert collectives.forms_of("Bcast") == [
        "Bcast",
        "Ibcast",
        "Bcast_init",
        "Bcast_c",
        "Ibcast_c",
        "Bcast_init_c",
    ]


def test_what_the_header_declares_and_the_table_has_gets_an_entry(declared) -> None:
    text = collectives.source(declared, kept=False)
    assert "ISTHMUS_MPI(Neighbor_alltoallw)" in text
    assert "ISTHMUS_MPI(Ineighbor_allgather)" in text
    assert "_init" not in text.replace("coll_init", "")
    assert "Comm_size" not in text
    assert "ISTHMUS_MPI(Neighbor_allgatherv_init)" in collectives.source(declared, kept=True)


def test_a_blocking_call_is_parked_in_the_native_library_and_others_are_not(declared) -> None:
    text = collectives.source(declared, kept=False)
    assert "return parked(native.Neighbor_alltoallw, sendbuf," in text
    assert "return native.Ineighbor_allgather(sendbuf," in text
    assert '{found, "MPI_Ineighbor_allgather", request}' in text


def test_a_persistent_entry_keeps_arrays_and_datatypes(declared) -> None:
    text = collectives.source(declared, kept=True)
    assert "sendtype = KeptDatatype(sendtype)" in text
    assert "recvcounts = Copied(recvcounts, neighbors.sources.size())" in text
    assert (
        "forms::neighbor_allgather_placed(sendbuf, sendcount, sendtype.get(), recvbuf, "
        "recvcounts.get(), displs.get(), recvtype.get(), call)"
    ) in text
