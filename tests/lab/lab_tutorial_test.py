"""The tutorials, command by command: on this host, and over two sites of a lab in place of two
clusters behind ssh."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from running import ran, shell_script

DOCS = Path(__file__).parents[2] / "docs"
# Measuring and queues take their time; other tests have them.
LEFT_OUT = ("tune", "submit")


def examples(page: str) -> list[tuple[str, list[str]]]:
    """The commands of a page, each with the lines that the page shows below it."""
    text = (DOCS / page).read_text()
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def write_files(page: str, folder: Path) -> None:
    """Writes the files that a page tells to save."""
    text = (DOCS / page).read_text()
    for name, content in re.findall(
        r'^```\w+ title="([^"]+)"\n(.*?)^```', text, re.MULTILINE | re.DOTALL
    ):
        (folder / name).write_text(content)


def with_command(folder: Path) -> str:
    """A PATH on which `isthmus` is this project's."""
    bin_folder = folder / "bin"
    shell_script(bin_folder / "isthmus", f'exec {shlex.quote(sys.executable)} -m isthmus "$@"')
    return f"{bin_folder}:{os.environ['PATH']}"


def test_first_run(lab, tmp_path) -> None:
    write_files("first-run.md", tmp_path)
    env = {**lab.env, "PATH": with_command(tmp_path), "OMPI_ALLOW_RUN_AS_ROOT": "1"}
    env |= {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    done = examples("first-run.md")
    assert len(done) > 10
    for command, shown in done:
        result = subprocess.run(
            command, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True,
            timeout=240, check=False,
        )  # fmt: skip
        assert result.returncode == 0, f"{command}:\n{result.stdout}{result.stderr}"
        assert set(shown) <= set(result.stdout.splitlines()), f"{command}:\n{result.stdout}"
        if re.search(r"\brun .*\./ring(\.mpich)?$", command):
            assert "the sum is 6" in result.stdout, command


def test_two_clusters(lab, tmp_path) -> None:
    """Both sites see the same home, so one installation and one program serve both."""
    write_files("first-run.md", tmp_path)
    write_files("two-clusters.md", tmp_path)
    grid = tmp_path / "grid.toml"
    grid.write_text(re.sub(r'host( +)= "(lyon|tsukuba)"', r'host\1= "\g<2>0"', grid.read_text()))
    testbed = tmp_path / "sites.toml"
    testbed.write_text(
        '[site.lyon]\n[site.tsukuba]\n[[wan]]\nsites = ["lyon", "tsukuba"]\ndelay = "2 ms"\n'
    )
    subprocess.run(["mpicc.openmpi", "ring.c", "-o", "ring"], cwd=tmp_path, check=True, timeout=240)
    script = ["set -e"]
    for command, _ in examples("two-clusters.md"):
        words = shlex.split(command)
        if words[0] == "isthmus" and words[1] not in LEFT_OUT:
            if words[1] == "install":
                words = [*words[:2], "lyon0", "tsukuba0"]
            script.append(shlex.join(words))
    assert len(script) == 6
    env = {"PATH": with_command(tmp_path), "HOME": str(tmp_path)}
    done = ran(
        lab.command("run", testbed, "--", "sh", "-c", "\n".join(script)),
        cwd=tmp_path,
        env={**lab.env, **env},
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    assert "fail" not in re.findall(r"^  (ok|warn|fail)", done.stdout, re.MULTILINE)
    for rank in range(4):
        where = "lyon" if rank < 2 else "tsukuba"
        assert f"rank {rank} of 4, cluster {where}, sum" in done.stdout
    assert "the sum is 6" in done.stdout
    assert (tmp_path / "isthmus/bin/isthmusd").is_file()
    shutil.rmtree(tmp_path / "isthmus")
