"""The answers of agents to the launcher's requests (docs/control.md)."""

# The value completes "the agent did not ...", for an agent that does not answer.
ANSWERS = {
    "hello": "start",
    "configured": "open its gateways",
    "stage": "check the files to be staged",
    "staged": "write a staged file",
    "program": "inspect the program",
    "linked": "connect its gateways to the others",
    "spawned": "start the ranks",
    "grown": "prepare for spawned ranks",
    "junction": "open a connection to another run",
    "serve": "open a port for guests",
    "stats": "report its traffic",
    "clock": "report its time",
    "traces": "list its traces",
    "trace": "send a trace",
}
