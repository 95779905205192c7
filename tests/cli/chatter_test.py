"""The words of native launchers about ranks that failed, as of November 2026."""

import pytest

from isthmus.base.endings import (
    how_ended,
    launcher_killed,
    left_the_others,
    of_the_rank,
    surely_killed,
)
from isthmus.run.chatter import Chatter, LastWords

RULE = b"-" * 74 + b"\n"
BAR = b"=" * 83 + b"\n"
PRIMARY = (
    RULE + b"Primary job  terminated normally, but 1 process returned\n"
    b"a non-zero exit code. Per user-direction, the job has been aborted.\n" + RULE
)
NOTICED = (
    RULE + b"mpirun.openmpi noticed that process rank 1 with PID 0 on node vm exited on signal 11 "
    b"(Segmentation fault).\n" + RULE
)
DETECTED = (
    RULE + b"mpirun.openmpi detected that one or more processes exited with non-zero status, thus "
    b"causing\nthe job to be terminated. The first process to do so was:\n\n"
    b"  Process name: [[31690,1],0]\n  Exit code:    1\n" + RULE
)
EXITED = (
    RULE + b"prterun has exited due to process rank 1 with PID 0 on node vm calling\n"
    b'"abort". This may have caused other processes in the application to be\n'
    b"terminated by signals sent by prterun (as reported here).\n" + RULE
)
SLOTS = (
    RULE + b"There are not enough slots available in the system to satisfy the 4\n"
    b"slots that were requested by the application:\n" + RULE
)
HYDRA = (
    b"\n" + BAR + b"=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
    b"=   PID 6343 RUNNING AT vm\n=   EXIT CODE: 11\n=   CLEANING UP REMAINING PROCESSES\n"
    b"=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES\n" + BAR + b"YOUR APPLICATION TERMINATED WITH "
    b"THE EXIT STRING: Segmentation fault (signal 11)\n"
    b"This typically refers to a problem with your application.\n"
    b"Please see the FAQ page for debugging suggestions\n"
)
# Hydra 4.0 and 5.0 do not reach the signal's name if the ranks are on several hosts.
TRIPPED_HYDRA = (
    HYDRA[: HYDRA.index(b"YOUR APPLICATION TERM")]
    + b"[proxy:0:1@a2] HYD_pmcd_pmip_control_cmd_cb (pm/pmiserv/pmip_cb.c:899): assert (!closed) "
    b"failed\n[proxy:0@a1] HYDT_dmxu_poll_wait_for_event (/mpich-5.0.2/src/pm/hydra/lib/tools/"
    b"demux/demux_poll.c:76): callback returned error status\n"
    b"[proxy:0:1@a2] main (pm/pmiserv/pmip.c:169): demux engine error waiting for event\n"
    b"[mpiexec@a0] HYDT_bscu_wait_for_completion (tools/bootstrap/utils/bscu_wait.c:73): one of "
    b"the processes terminated badly; aborting\n"
    b"[mpiexec@a0] HYDT_bsci_wait_for_completion (tools/bootstrap/src/bsci_wait.c:21): launcher "
    b"returned error waiting for completion\n"
    b"[mpiexec@a0] main (ui/mpich/mpiexec.c:325): process manager error waiting for completion\n"
)
TRIPPED = (
    b"[vm:19961] [[8455,0],0] ORTE_ERROR_LOG: Data unpack would read past end of buffer in file "
    b"../../../orte/util/show_help.c at line 501\n"
)


def sifted(*pieces: bytes) -> tuple[bytes, Chatter]:
    chatter = Chatter()
    passed = b"".join(chatter.sift(2, piece) for piece in pieces)
    return passed + b"".join(rest for _, rest in chatter.rest()), chatter


@pytest.mark.parametrize(
    ("said", "signal"),
    [
        (PRIMARY, None),
        (NOTICED, 11),
        (DETECTED, None),
        (EXITED, None),
        (HYDRA, 11),
        (TRIPPED_HYDRA, 11),
        (TRIPPED, None),
    ],
)
def test_what_a_launcher_says_is_kept_and_the_ranks_output_passes(said, signal):
    passed, chatter = sifted(b"before\n" + said + b"after\n")
    assert passed == b"before\nafter\n"
    assert chatter.signal == signal
    assert chatter.kept


@pytest.mark.parametrize("said", [PRIMARY + NOTICED + DETECTED, HYDRA])
def test_pieces_as_they_come(said):
    lines = said.splitlines(keepends=True)
    for size in (1, 2, 5):
        pieces = [b"".join(lines[i : i + size]) for i in range(0, len(lines), size)]
        passed, _ = sifted(b"one\n", *pieces, b"two\n")
        assert passed == b"one\ntwo\n"
    half = len(NOTICED) // 2
    assert sifted(b"one\n", NOTICED[:half], NOTICED[half:], b"two\n")[0] == b"one\ntwo\n"


@pytest.mark.parametrize("hydra", [HYDRA, TRIPPED_HYDRA])
@pytest.mark.parametrize("size", [1, 2, 3, 15, 40, 100])
def test_hydra_prints_bars_and_lines_in_pieces(hydra, size):
    pieces = [hydra[i : i + size] for i in range(0, len(hydra), size)]
    passed, chatter = sifted(b"one\n", *pieces, b"two\n")
    assert passed == b"one\ntwo\n"
    assert chatter.signal == 11


def test_a_line_that_begins_as_hydras_and_has_no_end_is_not_kept_back():
    chatter = Chatter()
    passed = b"".join(chatter.sift(2, b"[proxy:" * 100) for _ in range(10))
    assert passed.startswith(b"[proxy:" * 500)


@pytest.mark.parametrize(
    "own",
    [
        SLOTS,
        RULE,
        RULE + RULE + b"a table\n" + RULE,
        RULE + b"Step Temp E_pair\n" + RULE + b"no end of line",
        BAR + b"a program's own title\n" + BAR,
        b"[proxy:0:0@a1] HYDU_create_process (launch.c:73): execvp error on file 1\n",
        b"-" * 20 + b"\n",
        b"=" * 83 + b"> 100 %",
        b"\n\n",
    ],
)
def test_what_programs_print_passes_unchanged(own):
    passed, chatter = sifted(b"x\n", own)
    assert passed == b"x\n" + own
    assert not chatter.kept
    assert sifted(*[bytes([byte]) for byte in own])[0] == own


def test_a_prompt_without_an_end_of_line_does_not_wait():
    for prompt in (b"-" * 74 + b"\nName: ", b"=> ", b"Please enter: ", b"Y"):
        chatter = Chatter()
        assert chatter.sift(1, prompt + b" ") == prompt + b" "


@pytest.mark.parametrize("own", [b"[", b"[m", b"[p"])
def test_a_beginning_of_hydras_errors_waits_only_where_they_come(own):
    chatter = Chatter()
    assert chatter.sift(1, own) == own, "they are on standard error"
    assert chatter.sift(2, own) == b""
    assert chatter.sift(2, b"] a rank's own\n") == own + b"] a rank's own\n"
    assert chatter.sift(2, b"step 1 ") == b"step 1 "
    assert chatter.sift(2, own) == own, "the line has begun otherwise"


def test_hydra_crashes_behind_an_unfinished_line():
    errors = TRIPPED_HYDRA[TRIPPED_HYDRA.index(b"[proxy") :]
    passed, chatter = sifted(b"step 1 ", errors[:20], errors[20:])
    assert passed == b"step 1 "
    assert chatter.tripped


def test_the_end_of_a_line_does_not_wait_when_it_comes_alone():
    chatter = Chatter()
    for _ in range(2):
        assert chatter.sift(1, b"rank 0") == b"rank 0"
        assert chatter.sift(1, b"\n") == b"\n"
    assert chatter.sift(1, b"1 of 2\n") == b"1 of 2\n"
    assert chatter.sift(1, b"\n") == b"", "an empty line may begin Hydra's block"
    assert chatter.sift(1, b"2 of 2\n") == b"\n2 of 2\n"


def test_the_nul_behind_a_block_of_prterun_goes_with_it():
    assert sifted(EXITED + b"\0")[0] == b""
    assert sifted(EXITED, b"\0", b"own\n")[0] == b"own\n"
    assert sifted(EXITED, b"own\n\0")[0] == b"own\n\0"


def test_descriptors_do_not_mix():
    chatter = Chatter()
    assert chatter.sift(2, RULE) == b""
    assert chatter.sift(1, b"out\n") == b"out\n"
    assert chatter.sift(2, b"own\n") == RULE + b"own\n"


def test_a_block_that_does_not_end_is_not_kept_back():
    endless = RULE + b"Primary job  terminated normally, but\n" + b"line\n" * 1000
    assert sifted(endless)[0] == endless


def test_last_words_of_ranks_are_for_the_launcher():
    words = LastWords()
    gone = b'isthmus: rank 1 (cluster "east") ended without MPI_Finalize or was killed\n'
    other = b"isthmus: MPI_File_open is not done across clusters\n"
    assert words.sift(b"a\n" + gone + other + gone, "") == b"a\n" + other
    assert words.sift(b"isthmus: the link is cut\n", "the link is cut") == b""
    assert len(words.kept) == 2


@pytest.mark.parametrize("said", [
    RULE + b"mpirun noticed that process rank 0 with PID 7 on node n1 exited on signal 11 (Seg"
    b"mentation fault).\n" + RULE,
    RULE + b"prterun noticed that process rank 0 with PID 7 on node n1 exited on\n"
    b"signal 11 (Segmentation fault).\n" + RULE,
    BAR + b"=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 7 RUNNING AT n1\n"
    b"=   EXIT CODE: 11\n" + BAR + b"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation"
    b" fault (signal 11)\n",
])  # fmt: skip
def test_the_signal_and_the_host(said):
    chatter = Chatter()
    chatter.sift(2, said)
    assert (chatter.signal, chatter.host) == (11, "n1")


def test_endings_in_words():
    assert how_ended(139, 11, "n1") == "was killed by signal 11 (SIGSEGV) on n1"
    assert how_ended(139, 11) == "was killed by signal 11 (SIGSEGV)"
    assert how_ended(139, None) == "ended with status 139, its own or that of signal 11 (SIGSEGV)"
    assert how_ended(3, None) == "ended with status 3"
    gone = 'rank 1 (cluster "east") ended without MPI_Finalize or was killed'
    assert of_the_rank(gone, "west", 3, None) == gone
    assert of_the_rank(gone, "east", 139, 11, "n1").endswith(
        "was killed by signal 11 (SIGSEGV) on n1"
    )
    assert of_the_rank(gone, "east", 3, None).endswith("MPI_Finalize, with status 3")
    either = "was killed by signal 9 (SIGKILL), or ended without MPI_Finalize, with status 137"
    said = of_the_rank(gone, "east", 137, None)
    assert said.endswith(either)
    assert surely_killed(said).endswith("was killed by signal 9 (SIGKILL)")


def test_the_end_of_a_rank_names_its_host():
    """The host that a gateway or a watcher knows goes before the launcher's."""
    rank = 'rank 1 (cluster "east")'
    gone = f"{rank} ended without MPI_Finalize or was killed on n2"
    assert of_the_rank(gone, "east", 139, 11, "n1").endswith("11 (SIGSEGV) on n2")
    assert of_the_rank(gone, "east", 3, None) == (
        f"{rank} ended without MPI_Finalize, with status 3, on n2"
    )
    assert left_the_others(gone).startswith(f"{rank} ended without MPI_Finalize on n2, while")
    early = f"{rank} ended in MPI_Init or was killed on n2"
    assert of_the_rank(early, "east", 134, 6) == (
        f"{rank} was killed by signal 6 (SIGABRT) on n2 in MPI_Init"
    )
    assert of_the_rank(early, "east", 1, None) == f"{rank} ended in MPI_Init, with status 1, on n2"
    said = of_the_rank(early, "east", 137, None)
    assert surely_killed(said) == f"{rank} was killed by signal 9 (SIGKILL) on n2 in MPI_Init"


def test_a_native_launcher_that_is_killed():
    said = launcher_killed("mpirun", "n1", 9)
    assert said == "the native launcher mpirun was killed by signal 9 (SIGKILL) on n1"
    assert not launcher_killed("mpirun", "n1", 11)  # it has stumbled over the end of a rank
