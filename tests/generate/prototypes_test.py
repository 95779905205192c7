import prototypes

HEADER = """
int MPI_File_write(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                   MPI_Status *status);
int PMPI_File_write(MPI_File, const void *, int, MPI_Datatype, MPI_Status *);
int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int PMPI_Unknown(int, MPI_Comm);
"""


def test_names_come_from_either_prototype():
    found = {f.member: [p.name for p in f.parameters] for f in prototypes.parse(HEADER)}
    assert found == {
        "File_write": ["fh", "buf", "count", "datatype", "status"],
        "Send": ["buf", "count", "datatype", "dest", "tag", "comm"],
        "Unknown": ["a0", "a1"],
    }
