import guards
import prototypes
import pytest
import sources

FREE = "int PMPI_Comm_free(MPI_Comm *comm);"
DUP = "int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm);"
START = "int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win);"
COMMIT = "int PMPI_Type_commit(MPI_Datatype *datatype);"
C2F = "MPI_Fint PMPI_Comm_c2f(MPI_Comm comm);"


def function(text: str) -> prototypes.Function:
    return prototypes.parse(text)[0]


@pytest.mark.parametrize("text", [FREE, DUP, START])
def test_what_takes_a_communicator_or_group_is_guarded(text: str) -> None:
    assert guards.Face([]).guarded(function(text))


@pytest.mark.parametrize("text", [COMMIT, C2F])
def test_what_takes_none_is_not(text: str) -> None:
    assert not guards.Face([]).guarded(function(text))


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ("int PMPI_Win_fence(int assert, MPI_Win win);", True),
        ("int PMPI_File_close(MPI_File *fh);", True),
        ("int PMPI_File_set_size(MPI_File fh, MPI_Offset size);", True),
        ("int PMPI_Win_get_name(MPI_Win win, char *win_name, int *resultlen);", False),
        ("int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler);", False),
        (COMMIT, False),
    ],
)
def test_calls_that_may_wait_for_others_count_as_parked(text: str, waits: bool) -> None:
    assert guards.may_wait(function(text)) == waits
    assert guards.Face([]).guarded(function(text)) == waits
    if waits:
        assert "return parked(native." in guards.guard(function(text), guards.Face([]))


def test_entries_and_allowed_functions_need_no_guard() -> None:
    assert not guards.Face([], entries={"Comm_dup"}).guarded(function(DUP))
    assert not guards.Face([], native_ok={"MPI_Comm_dup"}).guarded(function(DUP))


def test_only_incoming_handles_are_checked() -> None:
    assert [handle for _, handle, _ in guards.checked(function(DUP))] == ["comm"]
    assert [handle for _, handle, _ in guards.checked(function(FREE))] == ["*comm"]


def test_a_guard_names_function_and_reason_and_else_calls_the_library() -> None:
    face = guards.Face([], reasons={"MPI_Win": "no windows", "MPI_": "nothing"})
    text = guards.guard(function(START), face)
    assert "is_grid_group(group)" in text
    assert '"MPI_Win_start"' in text
    assert "no windows" in text
    assert "return parked(native.Win_start, group, assert, win);" in text


def test_what_is_refused_on_every_grid_is_guarded_without_a_handle() -> None:
    face = guards.Face([], refused_on_grid={"MPI_Type_commit": "not here"})
    assert face.guarded(function(COMMIT))
    text = guards.guard(function(COMMIT), face)
    assert "grid()" in text
    assert '(MPI_COMM_NULL, "MPI_Type_commit", "not here")' in text


def test_the_stub_gets_every_known_function_sorted() -> None:
    declared = prototypes.parse(DUP + FREE + COMMIT)
    extra = prototypes.parse("int PMPIX_Comm_agree(MPI_Comm comm, int *flag);")
    others = [
        *guards.FORTRAN,
        *guards.ASKED_FOR_FORTRAN,
        *guards.OF_UCX,
        *guards.SURVIVAL,
        *guards.TOPOLOGY,
    ]
    table = guards.table(guards.Face(declared, extra, entries={"Comm_dup"}))
    rows = [line.strip() for line in table.splitlines() if line.startswith("    {")]
    assert rows == [
        '{"MPIX_Comm_agree", reinterpret_cast<void*>(&isthmus_X_Comm_agree)},',
        '{"MPI_Comm_dup", reinterpret_cast<void*>(&isthmus_Comm_dup)},',
        '{"MPI_Comm_free", reinterpret_cast<void*>(&isthmus_Comm_free)},',
        '{"MPI_Type_commit", nullptr},',
        *(f'{{"{name}", reinterpret_cast<void*>(&{name})}},' for name in sorted(others)),
        "{nullptr, nullptr},",
    ]


def test_guards_of_undeclared_functions_find_them_by_name() -> None:
    extra = prototypes.parse("int PMPIX_Comm_agree(MPI_Comm comm, int *flag);")
    text = guards.source(guards.Face([], extra))
    assert 'native_function("PMPIX_Comm_agree")' in text
    assert "parked(reinterpret_cast<int (*)(MPI_Comm, int *)>(f), comm, flag)" in text


def test_notes_of_entries(tmp_path) -> None:
    (tmp_path / "a.cpp").write_text(
        "// Why.\n// coverage: all\n//   of it\nISTHMUS_MPI(Send)(int) {}\n"
        "// coverage: big\n#if ISTHMUS_LARGE_COUNT\nISTHMUS_MPI(Send_c)(int) {}\n#endif\n"
        "int x;\nISTHMUS_MPI(Recv)(int) {}\n  ISTHMUS_MPI(Not_at_the_start)\n"
    )
    assert sources.entries(tmp_path) == {"Send": "all of it", "Send_c": "big", "Recv": ""}


def test_every_allowed_function_has_a_reason() -> None:
    allowed = sources.native_ok()
    assert allowed
    assert all(allowed.values())
    assert not set(allowed) & {f"MPI_{x}" for x in sources.entries()}
