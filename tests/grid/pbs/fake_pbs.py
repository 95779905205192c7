#!/usr/bin/env python3
"""The commands of PBS that scripts of `isthmus submit` need, on one host. Arguments, output and a
job's environment are those of OpenPBS' manual pages (section 1B). The pages say no more of a status
than that it is above 0: here it is the number of pbs_error.h modulo 256. In the folder $FAKE_PBS a
file `queue.NAME` is a queue, and `blocked.NAME` keeps its jobs from starting. Linked as qsub,
qstat, qdel, qrerun."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(os.environ["FAKE_PBS"])
SERVER = "pbs1"
DIRECTIVES = {"-N", "-l", "-j", "-o", "-r", "-q", "-S"}
KILL_DELAY = 1.0  # from SIGTERM to SIGKILL


def fail(status: int, sentence: str) -> None:
    print(sentence, file=sys.stderr)
    sys.exit(status)


def note(job: str, **changes: object) -> dict:
    """The state of a job, with the changes."""
    file = HERE / f"{job}.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    known |= changes
    new = file.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps(known))
    new.replace(file)
    return known


def known_job(command: str, job: str) -> dict:
    if not (HERE / f"{job}.json").exists():
        fail(153, f"{command}: Unknown Job Id {job}")
    return note(job)


def qsub(script: str) -> None:
    text = Path(script).read_text()
    said = {"queue": "workq", "name": Path(script).name, "walltime": 3600, "output": ""}
    said["shell"] = "/bin/sh"  # the user's
    for line in re.findall(r"^#PBS (.*)$", text, re.MULTILINE):
        option, _, value = line.partition(" ")
        if option not in DIRECTIVES:
            fail(2, f"qsub: illegal {option} value")
        if option == "-q":
            said["queue"] = value
        elif option == "-o":
            said["output"] = value
        elif option == "-S":
            said["shell"] = value
        elif option == "-N":
            said["name"] = value
        elif value.startswith("walltime="):
            hours, minutes, seconds = map(int, value.partition("=")[2].split(":"))
            said["walltime"] = 3600 * hours + 60 * minutes + seconds
        elif option == "-l" and not re.fullmatch(r"select=\d+:ncpus=1:mpiprocs=1", value):
            fail(166, f"qsub: Illegal attribute or resource value {value}")
    if not (HERE / f"queue.{said['queue']}").exists():
        fail(170, "qsub: Unknown queue")
    job = f"{933 + len(list(HERE.glob('*.script')))}.{SERVER}"
    (HERE / f"{job}.script").write_text(text)
    note(job, state="Q", folder=str(Path.cwd()), **said)
    # As the server has it: apart from who submits, and not of the job that may do so.
    subprocess.Popen(
        [sys.executable, __file__, "mom", job], start_new_session=True, cwd="/",
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    print(job)


def deleted(job: str) -> bool:
    return (HERE / f"{job}.deleted").exists()


def mom(job: str) -> None:
    """Starts the job when its queue lets it, and brings its output home."""
    said = note(job)
    while (HERE / f"blocked.{said['queue']}").exists() and not deleted(job):
        time.sleep(0.05)
    if deleted(job):
        note(job, state="F")
        return
    nodes = HERE / f"{job}.nodes"
    nodes.write_text(socket.gethostname() + "\n")
    own = {
        "PBS_JOBID": job, "PBS_JOBNAME": said["name"], "PBS_QUEUE": said["queue"],
        "PBS_O_WORKDIR": said["folder"], "PBS_ENVIRONMENT": "PBS_BATCH",
        "PBS_NODEFILE": str(nodes),
    }  # fmt: skip
    with (HERE / f"{job}.OU").open("wb") as output:
        running = subprocess.Popen(
            [said["shell"], "-l", HERE / f"{job}.script"],
            env=os.environ | own, cwd=Path.home(), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
        note(job, state="R")
        limit = time.monotonic() + said["walltime"]
        while running.poll() is None:
            if time.monotonic() > limit:
                output.write(b"=>> PBS: job killed: walltime exceeded limit\n")
            if time.monotonic() > limit or deleted(job):
                end(running.pid)
                running.wait()
            time.sleep(0.05)
    end(running.pid)  # whatever it has left behind
    home = Path(said["folder"], said["output"])
    if home.parent.is_dir():  # else it stays undelivered
        with home.open("ab") as into:
            into.write((HERE / f"{job}.OU").read_bytes())
    note(job, state="F")


def session(leader: int) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            of = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(of[3]) == leader and of[0] != "Z":
            found.append(int(entry.name))
    return found


def end(leader: int) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in session(leader):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                continue
        deadline = time.monotonic() + KILL_DELAY
        while session(leader) and time.monotonic() < deadline:
            time.sleep(0.02)


def qdel(job: str) -> None:
    said = known_job("qdel", job)
    if said["state"] == "F":
        fail(35, f"qdel: Job has finished {job}")
    (HERE / f"{job}.deleted").touch()


def qstat(job: str) -> None:
    said = known_job("qstat", job)
    if said["state"] == "F":
        fail(
            35, f"qstat: {job} Job has finished, use -x or -H to obtain historical job information"
        )
    print(f"Job Id: {job}\n    Job_Name = {said['name']}\n    job_state = {said['state']}")
    print(f"    queue = {said['queue']}\n    server = {SERVER}\n")


def qrerun(job: str) -> None:
    known_job("qrerun", job)
    fail(159, f"qrerun: Unauthorized Request {job}")  # for all but operators


if __name__ == "__main__":
    role, words = Path(sys.argv[0]).name, sys.argv[1:]
    if role == Path(__file__).name and words[:1] == ["mom"]:
        mom(words[1])
    elif role == "qstat":
        qstat(words[words.index("-f") + 1])
    else:
        {"qsub": qsub, "qdel": qdel, "qrerun": qrerun}[role](words[0])
