from pathlib import Path

import exports
import stub

NM = """\
0000000000001000 T MPI_Send
0000000000001000 W PMPI_Send
0000000000002000 B MPI_F_STATUS_IGNORE
0000000000002008 D MPI_UNWEIGHTED
0000000000003000 T MPI_SEND
0000000000004000 T mpi_send_
0000000000005000 T PMPIX_Comm_agree
0000000000006000 T MPIR_Err_return_comm
"""


def test_only_c_functions_are_exported() -> None:
    assert exports.functions(NM) == ["MPI_Send", "PMPIX_Comm_agree", "PMPI_Send"]


def test_a_list_leaves_out_profiling_names() -> None:
    names = ["MPI_Address", "MPI_Send", "PMPI_Send"]
    assert exports.lines(names) == ["MPI_Address alone", "MPI_Send"]
    assert exports.names("MPI_Address alone\nMPI_Send\n") == names


def test_each_name_has_an_entry_a_slot_and_a_text() -> None:
    text = stub.assembly("mpich", ["PMPI_Send", "MPI_Send"])
    assert "NAME(0, MPI_Send)\nNAME(1, PMPI_Send)\n" in text
    assert text.count(".quad .Llazy_") == 2
    assert '.Lname_0: .asciz "MPI_Send"' in text
    assert "isthmus_count: .long 2" in text
    assert '"libmpich.so.12"' in text


def test_the_lists_in_the_tree_are_sorted_and_name_both_forms() -> None:
    lists = sorted((Path(__file__).parents[2] / "src/preload/exports").glob("*.txt"))
    assert {p.stem.split("-")[0] for p in lists} == set(stub.SONAMES)
    for path in lists:
        names = exports.names(path.read_text())
        assert names == sorted(set(names)), path
        assert path.read_text().splitlines() == exports.lines(names), path
        assert {"MPI_Init", "PMPI_Init", "MPI_Send", "PMPI_Send"} <= set(names), path
