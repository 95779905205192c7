import prototypes
from prototypes import Parameter


def only(text: str) -> prototypes.Function:
    functions = prototypes.parse(text)
    assert len(functions) == 1
    return functions[0]


def test_names_types_and_arrays_of_parameters() -> None:
    f = only("int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *out);")
    assert f.member == "Group_range_incl"
    assert f.parameters == (
        Parameter("MPI_Group", "group", ""),
        Parameter("int", "n", ""),
        Parameter("int", "ranges", "[][3]"),
        Parameter("MPI_Group *", "out", ""),
    )
    assert [p.declaration() for p in f.parameters][2] == "int ranges[][3]"


def test_attributes_before_and_after_are_skipped() -> None:
    f = only(
        '__attribute__((visibility("default"))) int PMPI_Send(const void *buf, int count)\n'
        "  __attribute__((pointer_with_type_tag(MPI, 1, 2)));"
    )
    assert f.returns == "int"
    assert [p.type for p in f.parameters] == ["const void *", "int"]


def test_parameters_without_names_get_some() -> None:
    f = only("int PMPI_File_get_view(MPI_File, MPI_Offset *, char *);")
    assert [(p.type, p.name) for p in f.parameters] == [
        ("MPI_File", "a0"),
        ("MPI_Offset *", "a1"),
        ("char *", "a2"),
    ]


def test_no_parameters_and_other_results() -> None:
    assert only("double PMPI_Wtime(void);").parameters == ()
    assert only("MPI_Fint PMPI_Comm_c2f(MPI_Comm comm);").returns == "MPI_Fint"


def test_variable_parameters() -> None:
    assert only("int PMPI_Pcontrol(const int level, ...);").variadic()


def test_extensions_have_member_names_of_their_own() -> None:
    f = only("int PMPIX_Comm_agree(MPI_Comm comm, int *flag);")
    assert (f.member, f.mpi_name) == ("X_Comm_agree", "MPIX_Comm_agree")


def test_only_profiling_names_count() -> None:
    assert prototypes.parse("int MPI_Send(const void *buf); struct PMPI_x { int a; };") == []
