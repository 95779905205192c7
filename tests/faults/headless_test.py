"""The launcher is lost, and the run goes on: `isthmus run --survive`."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from faulty import Grid, says
from lasting import await_heads, built, statuses, written
from running import Running
from waiting import eventually

pytestmark = pytest.mark.usefixtures("place")
CLUSTERS = "[cluster.a]\n[cluster.b]\n[cluster.c]\n"
# A chain, of which the middle stays until the ends need it no more.
CHAIN = CLUSTERS + "".join(f"[[link]]\nbetween = {pair}\n" for pair in (["a", "b"], ["b", "c"]))


@pytest.fixture(scope="module", params=["mpich", "ompi"])
def headless(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    return built(tmp_path_factory.mktemp("headless"), "headless", request.param)


def start(grid: Grid, program: Path, *words: object) -> Running:
    """A run of two ranks in each of three clusters."""
    running = grid.start("--survive", "-g", "grid.toml", "-n", 6, program, grid.folder, *words)
    says(running, "up 6\n")
    return running


def lose_launcher(grid: Grid, running: Running) -> None:
    """Kills it, and waits until all clusters have noticed."""
    running.kill()
    running.communicate(timeout=240)
    await_heads(grid, 3)


def check_it_goes_on(grid: Grid, running: Running) -> None:
    lose_launcher(grid, running)
    (grid.folder / "bell").touch()
    assert statuses(grid) == ["0", "0", "0"]
    out = written(grid, "out")
    for cluster in range(3):
        for rank in (2 * cluster, 2 * cluster + 1):
            assert f"rank {rank}: sum 15\n" in out[cluster]
    assert all(text.count("isthmus: ") == 1 for text in written(grid, "err"))
    assert "MPI_ERR_SPAWN MPI_Comm_spawn: the launcher of this run is lost" in out[0]


@pytest.mark.parametrize("text", [CLUSTERS, CHAIN], ids=["mesh", "chain"])
def test_the_clusters_go_on(grid: Grid, headless: Path, text: str) -> None:
    grid.write(text)
    with start(grid, headless, "spawn") as running:
        check_it_goes_on(grid, running)


def test_a_spawn_that_failed_before_does_not_matter(grid: Grid, headless: Path) -> None:
    grid.write(CLUSTERS)
    with start(grid, headless, "fail") as running:
        assert running.stdout.readline().startswith("MPI_ERR_SPAWN")
        lose_launcher(grid, running)
        (grid.folder / "bell").touch()
        assert statuses(grid) == ["0", "0", "0"]


def test_clusters_by_ssh_go_on(remote: Grid, prefix: Path, headless: Path) -> None:
    """Output that comes after the loss does not end them with a broken pipe."""
    far = f"host = 'site'\nprefix = '{prefix}'\n"
    remote.write(f"[cluster.a]\n[cluster.b]\n{far}[cluster.c]\n{far}")
    with start(remote, headless, "spawn") as running:
        check_it_goes_on(remote, running)


def test_a_relay_goes_on_and_ends_after_a_second_failure(grid: Grid, headless: Path) -> None:
    """It has no process that would end, and hears of no cluster that is done."""
    grid.write(f"{CLUSTERS}[[relay]]\n")
    with start(grid, headless) as running:
        lose_launcher(grid, running)
        os.kill(grid.find("isthmusd", " agent")[0], signal.SIGTERM)
        assert "0" not in statuses(grid)


def test_a_gateway_that_has_lost_its_launcher_alone_ends_with_the_run(
    remote: Grid, prefix: Path, headless: Path
) -> None:
    """Only its ssh has died. The others still have the launcher, and end by its word."""
    own = "[[gateway]]\ncluster = 'a'\n"
    clusters = f"[cluster.a]\nprefix = '{prefix}'\n[cluster.b]\n[cluster.c]\n"
    remote.write(f"{clusters}{own}{own}host = 'site'\n")
    with start(remote, headless) as running:
        (client,) = remote.find("ssh -F", "isthmusd", "gateway")
        os.kill(client, signal.SIGKILL)
        while "the other gateways of the cluster go on" not in (line := running.stderr.readline()):
            assert line, "the launcher has ended"
        (remote.folder / "bell").touch()
        _, err = running.communicate(timeout=240)
    assert running.returncode == 0, err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_process_group_ends_clusters_by_ssh(
    remote: Grid, prefix: Path, headless: Path, number: int
) -> None:
    """As `timeout` sends it: not ssh decides what the agents hear, but the launcher."""
    far = f"host = 'site'\nprefix = '{prefix}'\n"
    remote.write(f"[cluster.a]\n{far}[cluster.b]\n{far}[cluster.c]\n{far}")
    with start(remote, headless) as running:
        os.killpg(running.pid, number)
        running.communicate(timeout=240)
    assert running.returncode == 128 + number
    assert not [*remote.folder.glob("isthmus-*")]


def test_ranks_that_were_stopped_continue(grid: Grid, headless: Path) -> None:
    """Ctrl-Z, and then the launcher is killed."""
    grid.write(CLUSTERS)
    with start(grid, headless, "spawn") as running:
        running.send_signal(signal.SIGTSTP)
        eventually(lambda: stopped(running.pid), "that the launcher has stopped")
        assert stopped(int((grid.folder / "0").read_text()))
        check_it_goes_on(grid, running)


def stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def test_a_launcher_that_is_not_heard_is_lost(grid: Grid, headless: Path) -> None:
    """As when its host is cut off: the connections stay, and nothing comes."""
    grid.write(f'patience = "2 s"\n{CLUSTERS}')
    with start(grid, headless) as running:
        running.send_signal(signal.SIGSTOP)
        await_heads(grid, 3)
        (grid.folder / "bell").touch()
        assert statuses(grid) == ["0", "0", "0"]
        running.kill()


@pytest.mark.parametrize("how", ["rank", "agent", "abort"])
def test_a_second_failure_ends_all(grid: Grid, headless: Path, how: str) -> None:
    """SIGTERM to one agent, as a user does, is one."""
    grid.write(CLUSTERS)
    with start(grid, headless, "abort" if how == "abort" else "") as running:
        lose_launcher(grid, running)
        if how == "rank":
            os.kill(int((grid.folder / "2").read_text()), signal.SIGKILL)
        elif how == "agent":
            os.kill(grid.find("isthmusd", " agent")[1], signal.SIGTERM)
        else:
            (grid.folder / "bell").touch()
        found = statuses(grid)
    assert "0" not in found
    if how == "abort":
        assert found == ["7", "7", "7"]
    else:
        assert "all ranks end" in written(grid, "err")[0]


def test_an_agent_stays_whose_cluster_has_failed_before(grid: Grid, tmp_path: Path) -> None:
    """Its gateway serves the others."""
    grid.write(f"{CLUSTERS}[[gateway]]\nclusters = ['a', 'b', 'c']\n")
    with start(grid, built(tmp_path, "parted", "mpich")) as running:
        os.kill(int((grid.folder / "0").read_text()), signal.SIGKILL)
        says(running, "left 4\n")
        lose_launcher(grid, running)
        (grid.folder / "bell").touch()
        failed, *others = statuses(grid)
    assert failed != "0"
    assert others == ["0", "0"]
    assert "rank 2: sum 14 of 4\n" in written(grid, "out")[1]


@pytest.mark.parametrize("times", [1, 2])
def test_a_launcher_that_is_told_to_end_ends_all(grid: Grid, headless: Path, times: int) -> None:
    grid.write(CLUSTERS)
    with start(grid, headless) as running:
        for _ in range(times):
            running.send_signal(signal.SIGTERM)
        running.communicate(timeout=240)
    assert running.returncode == 128 + signal.SIGTERM
    assert not [*grid.folder.glob("isthmus-*")]
