"""An agent that speaks docs/control.md and starts nothing. It does what `scenario.json`, beside
its bin/, says: for each op received, a list of actions in place of the usual answer. It writes
the messages that it gets to `heard.jsonl`.

Actions: {"say": message, "text": payload} | {"raw": text} | {"stderr": text} | {"die": status}
       | {"kill_self": signal} | {"sleep": seconds} | {"usual": true}
       | {"mark": name} | {"wait_for": "cluster/name"} (until that agent has come to its mark)
"""

import json
import os
import sys
import time
from pathlib import Path

HOME = Path(sys.argv[1])
SCENARIO = json.loads((HOME / "scenario.json").read_text())
told = {}


def say(text="", **message):
    payload = text.encode()
    if payload:
        message["n"] = len(payload)
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\n" + payload)
    sys.stdout.buffer.flush()


def usual(op, message):
    if op == "hello":
        machine = {"arch": "x86_64", "byteorder": "little", "long": 8, "long_double": "64/16"}
        hello = {"host": "fakehost", "user": "me", "pid": os.getpid(), "machine": machine}
        say(op="hello", **{**hello, **SCENARIO["hello"]})
    elif op == "configure":
        gateways = []
        for i, gateway in enumerate(message["gateways"]):
            listen = [a.removesuffix(":0") + f":{9000 + i}" for a in gateway["listen"]]
            gateways.append({"node": gateway["node"], "addresses": ["unix:/tmp/x", *listen]})
        say(op="configured", gateways=gateways)
    elif op == "inspect":
        say(
            op="program",
            path=message["argv"][0],
            abi="ompi",
            library="/lib/libmpi.so.40",
            mpi_version="Open MPI v4.1.4",
            launcher="/usr/bin/mpirun",
            stub="/lib/stub.so",
        )
    elif op == "link":
        say(op="linked")
    elif op == "spawn":
        say(op="spawned")
        if not SCENARIO.get("keep_running"):
            for i in range(message["size"]):
                say(op="output", fd=1, text=f"rank {message['first'] + i}\n")
            say(op="joined", ranks=message["size"])
            say(op="exit", status=0, signal=None, joined=True, finalized=True)
    elif op == "stdin-eof":
        if SCENARIO.get("echo"):
            say(op="exit", status=0, signal=None, joined=True, finalized=True)
    elif op == "kill":
        say(op="exit", status=143, signal=15, joined=True, finalized=False)
    elif op == "pause":
        say(op="paused")
    elif op == "count":
        say(op="count", ranks={told["configure"]["cluster"]: SCENARIO.get("count", 0)})
    elif op == "stats":
        links = [
            {
                "from": link["from"],
                "to": link["to"],
                "messages": 3,
                "bytes": 24,
                "frames": 5,
                "wire_bytes": 2048,
            }
            for link in told["link"]["links"]
        ]
        say(op="stats", links=links, **SCENARIO.get("stats", {}))


def act(op, message):
    for action in SCENARIO.get("on", {}).get(op, [{"usual": True}]):
        if "say" in action:
            say(action.get("text", ""), **action["say"])
        elif "raw" in action:
            sys.stdout.write(action["raw"])
            sys.stdout.flush()
        elif "stderr" in action:
            print(action["stderr"], file=sys.stderr, flush=True)
        elif "die" in action:
            os._exit(action["die"])
        elif "mark" in action:
            (HOME / action["mark"]).touch()
        elif "wait_for" in action:
            while not (HOME.parent / action["wait_for"]).exists():
                time.sleep(0.005)
        elif "sleep" in action:
            time.sleep(action["sleep"])
        elif "kill_self" in action:
            os.kill(os.getpid(), action["kill_self"])
        else:
            usual(op, message)


def main():
    (HOME / "pid").write_text(str(os.getpid()))
    with (HOME / "heard.jsonl").open("w") as log:
        act("hello", {})
        for line in sys.stdin.buffer:
            message = json.loads(line)
            payload = sys.stdin.buffer.read(message.get("n", 0))
            print(json.dumps({**message, "payload": payload.decode()}), file=log, flush=True)
            told[message["op"]] = message
            if message["op"] == "end":
                return
            if message["op"] == "stdin" and SCENARIO.get("echo"):
                say(payload.decode(), op="output", fd=1)
            act(message["op"], message)
        print(json.dumps({"op": "EOF"}), file=log, flush=True)


main()
