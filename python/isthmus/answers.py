"""The answers of agents to the launcher's requests (docs/control.md)."""

# And what an agent that does not give it has not done.
ANSWERS = {
    "hello": "start",
    "configured": "open its gateways",
    "stage": "look at the files to be staged",
    "staged": "write a staged file",
    "program": "look at the program",
    "linked": "join its gateways to the others",
    "spawned": "start the ranks",
    "grown": "make room for spawned ranks",
    "junction": "open a way to another run",
    "serve": "open a way for guests",
    "stats": "say what crossed",
    "clock": "tell its time",
    "traces": "list its traces",
    "trace": "send a trace",
}
