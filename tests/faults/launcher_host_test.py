"""The launcher is lost together with the clusters on its host, and the others go on: `isthmus run
--survive`. Other hosts are emulated: the boot id differs there, which agents tell the launcher."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from faulty import Grid, says, wrapped
from lasting import await_heads, built, statuses, written
from marks import processes
from running import Running
from waiting import eventually

from isthmus.install import find_isthmusd

pytestmark = pytest.mark.usefixtures("place")
LOST = "which is lost; "


@pytest.fixture(scope="module", params=["mpich", "ompi"])
def parted(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    return built(tmp_path_factory.mktemp("parted"), "parted", request.param)


@pytest.fixture(scope="module")
def with_mpich(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("parted"), "parted", "mpich")


def elsewhere(home: Path) -> Path:
    """A folder with an isthmusd that runs on a host of its own, as far as it can tell."""
    home.mkdir()
    (home / "id").write_text(f"{uuid.uuid4()}\n")
    rights = "" if os.geteuid() == 0 else "--map-root-user"
    mounts = f"mount --bind '{home}/id' /proc/sys/kernel/random/boot_id"
    enter = f'exec unshare --mount {rights} sh -c "{mounts} && exec \\"\\$0\\" \\"\\$@\\""'
    return wrapped(home, f"{enter} '{find_isthmusd()}' \"$@\"")


Make = Callable[..., Running]


@pytest.fixture
def start(remote: Grid) -> Make:
    def make(
        program: Path, sizes: Sequence[int] = (2, 2, 2), here: str = "a", links: str = ""
    ) -> Running:
        """A run of clusters a, b and so on, of which those named in `here` are on the launcher's
        host. `links` are the pairs that are linked, such as "ab bc"; all pairs by default."""
        names = "abcd"[: len(sizes)]
        far = {
            name: elsewhere(remote.folder / f"host-{name}") for name in names if name not in here
        }
        text = "patience = '3 s'\n"
        for name in names:
            text += f"[cluster.{name}]\n"
            text += f"host = 'site'\nprefix = '{far[name]}'\n" if name in far else ""
        text += "".join(f"[[link]]\nbetween = {[*pair]}\n" for pair in links.split())
        remote.write(text)
        words: list[object] = []
        for name, size in zip(names, sizes, strict=True):
            words += [*([":"] if words else []), "--on", name, "-n", size, program, remote.folder]
        running = remote.start("--survive", "-g", "grid.toml", *words)
        says(running, f"up {sum(sizes)}\n")
        return running

    return make


def on_this_host(grid: Grid) -> list[int]:
    """The run's processes on the launcher's host, the launcher among them. Without those that
    remove its folders, which nobody would do after the end of a real host."""
    own = namespace(os.getpid())
    return [
        pid
        for pid, line in processes(grid.mark).items()
        if namespace(pid) == own and "isthmus-sweep" not in line
    ]


def on_other_hosts(grid: Grid) -> list[int]:
    own = namespace(os.getpid())
    return [pid for pid in processes(grid.mark) if namespace(pid) not in ("", own)]


def namespace(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/mnt").readlink())
    except OSError:
        return ""


def send(number: signal.Signals, pids: Sequence[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def lose_host(grid: Grid, running: Running) -> None:
    """Its processes do not end one by one: nobody notices the end of another."""
    pids = on_this_host(grid)
    send(signal.SIGSTOP, pids)
    send(signal.SIGKILL, pids)
    running.communicate(timeout=240)


def check_they_go_on(grid: Grid, ranks: Sequence[int], clusters: int) -> None:
    """These ranks, of this number of clusters."""
    went_on = f"{LOST}{clusters} clusters go on"
    eventually(
        lambda: [went_on in text for text in written(grid, "err")].count(True) >= clusters,
        "that the others give up the launcher's clusters",
        120,
    )
    (grid.folder / "bell").touch()
    eventually(
        lambda: len([text for text in written(grid, "status") if text == "0\n"]) >= clusters,
        "that the others end well",
        120,
    )
    out = "".join(written(grid, "out"))
    for rank in ranks:
        assert f"rank {rank}: sum {sum(ranks)} of {len(ranks)}\n" in out


@pytest.mark.parametrize("links", ["", "ab bc"], ids=["mesh", "chain"])
def test_the_others_go_on(remote: Grid, start: Make, parted: Path, links: str) -> None:
    with start(parted, links=links) as running:
        lose_host(remote, running)
        check_they_go_on(remote, [2, 3, 4, 5], 2)


def test_they_reach_each_other_without_gateways(
    remote: Grid, start: Make, with_mpich: Path
) -> None:
    remote.environment["ISTHMUS_REACH"] = "direct"
    with start(with_mpich) as running:
        lose_host(remote, running)
        check_they_go_on(remote, [2, 3, 4, 5], 2)


def test_the_launcher_is_lost_first(remote: Grid, start: Make, parted: Path) -> None:
    with start(parted) as running:
        running.kill()
        running.communicate(timeout=240)
        await_heads(remote, 3)
        lose_host(remote, running)
        check_they_go_on(remote, [2, 3, 4, 5], 2)


def test_the_cluster_is_lost_first(remote: Grid, start: Make, parted: Path) -> None:
    """The launcher does not hear of it any more."""
    with start(parted) as running:
        running.send_signal(signal.SIGSTOP)
        pids = [pid for pid in on_this_host(remote) if pid != running.pid]
        clients = remote.find("ssh -F")
        send(signal.SIGKILL, [pid for pid in pids if pid not in clients])
        eventually(
            lambda: {*on_this_host(remote)} <= {running.pid, *clients}, "that the cluster is gone"
        )
        lose_host(remote, running)
        check_they_go_on(remote, [2, 3, 4, 5], 2)


def test_the_launchers_host_is_cut_off(remote: Grid, start: Make, parted: Path) -> None:
    """It comes back after the others have ended well, and gives way to them."""
    with start(parted) as running:
        pids = on_this_host(remote)
        send(signal.SIGSTOP, pids)
        check_they_go_on(remote, [2, 3, 4, 5], 2)
        send(signal.SIGCONT, pids)
        _, err = running.communicate(timeout=240)
    assert running.returncode == 1
    assert 'this launcher has lost cluster "b" and cluster "c", and does not know whether' in err
    assert "look for isthmus-*.err" in err


def test_a_cluster_that_was_given_up_ends_when_it_comes_back(
    remote: Grid, start: Make, with_mpich: Path
) -> None:
    """The launcher has been killed before, so no one tells it."""
    with start(with_mpich) as running:
        running.kill()
        running.communicate(timeout=240)
        await_heads(remote, 3)
        pids = on_this_host(remote)
        send(signal.SIGSTOP, pids)
        check_they_go_on(remote, [2, 3, 4, 5], 2)
        send(signal.SIGCONT, pids)
        assert statuses(remote).count("0") == 2
    why = 'the launcher is lost, and clusters on other hosts may go on without cluster "a"'
    assert why in written(remote, "err")[0]


def test_two_clusters_on_the_launchers_host(remote: Grid, start: Make, parted: Path) -> None:
    with start(parted, sizes=(1, 1, 2, 2), here="ab") as running:
        lose_host(remote, running)
        check_they_go_on(remote, [2, 3, 4, 5], 2)


def test_three_others(remote: Grid, start: Make, with_mpich: Path) -> None:
    """In a chain, whose far end hears of the loss from others alone."""
    with start(with_mpich, sizes=(2, 1, 1, 1), links="ab bc cd") as running:
        lose_host(remote, running)
        check_they_go_on(remote, [2, 3, 4], 3)


@pytest.mark.parametrize(
    ("sizes", "links", "why"),
    [
        ((4, 1, 1), "", "have 2 of 6 ranks"),
        ((2, 1, 1), "", "have 2 of 4 ranks"),
        ((2, 2, 2), "ab ac", "nobody can go on without cluster"),
    ],
    ids=["minority", "half", "parted"],
)
def test_no_majority_is_left(
    remote: Grid, start: Make, with_mpich: Path, sizes: Sequence[int], links: str, why: str
) -> None:
    with start(with_mpich, sizes=sizes, links=links) as running:
        lose_host(remote, running)
        assert statuses(remote, 2).count("0") == 0
    assert all(why in text and "all ranks end" in text for text in written(remote, "err"))


def test_another_cluster_is_lost_with_the_host(remote: Grid, start: Make, with_mpich: Path) -> None:
    with start(with_mpich, sizes=(1, 2, 2)) as running:
        rank = int((remote.folder / "3").read_text())
        pids = on_this_host(remote)
        send(signal.SIGSTOP, pids)
        send(signal.SIGKILL, [*pids, rank])
        running.communicate(timeout=240)
        assert statuses(remote, 2).count("0") == 0


def test_a_launcher_gives_way_to_clusters_that_are_silent(
    remote: Grid, start: Make, with_mpich: Path
) -> None:
    with start(with_mpich) as running:
        pids = on_other_hosts(remote)
        send(signal.SIGSTOP, pids)
        _, err = running.communicate(timeout=240)
        send(signal.SIGCONT, pids)
    assert running.returncode == 1
    assert 'this launcher has lost cluster "b" and cluster "c", and does not know whether' in err


def test_a_launcher_goes_on_without_clusters_that_are_dead(
    remote: Grid, start: Make, parted: Path
) -> None:
    with start(parted) as running:
        for rank, left in ((2, 4), (4, 2)):
            os.kill(int((remote.folder / str(rank)).read_text()), signal.SIGKILL)
            says(running, f"left {left}\n")
        (remote.folder / "bell").touch()
        out, err = running.communicate(timeout=240)
    assert running.returncode == 0, err
    assert sorted(out.splitlines()) == ["rank 0: sum 1 of 2", "rank 1: sum 1 of 2"]


def test_a_launcher_goes_on_without_the_silent_if_they_are_the_minority(
    remote: Grid, start: Make, with_mpich: Path
) -> None:
    with start(with_mpich, sizes=(3, 1, 1)) as running:
        pids = on_other_hosts(remote)
        send(signal.SIGSTOP, pids)
        while (line := running.stdout.readline()) != "left 3\n":
            assert line.startswith("left"), line
        (remote.folder / "bell").touch()
        _, err = running.communicate(timeout=240)
        send(signal.SIGCONT, pids)
    assert running.returncode == 0, err
