"""Orders for fake agents, and the launcher's expected sentence."""

EXIT_0 = {"op": "exit", "status": 0, "signal": None, "joined": True, "finalized": True}
RUNNING = {"keep_running": True}
PATIENT = {"ISTHMUS_GRACE": "60"}  # until all have said what they have to say


def spawned(*actions):
    """A scenario in which the ranks were started and then `actions` happen."""
    return {"on": {"spawn": [{"say": {"op": "spawned"}}, *actions]}}


def exits(**keys):
    return {"say": {**EXIT_0, **keys}}


def check(done, status, *words):
    """A sentence, said once, and nothing like a traceback."""
    assert done.returncode == status, done.stderr
    for word in words:
        assert done.stderr.count(word) == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("isthmus: ")
