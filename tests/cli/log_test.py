"""ISTHMUS_LOG: what agents write on their standard error is shown, and only then."""

SAYS = [{"stderr": "12:00:00.000 info the link stands\n"}, {"usual": True}]


def test_the_log_is_shown_where_it_is_asked_for(pair):
    grid = pair(None, {"on": {"link": SAYS}})
    done = grid.run("-n", "2", "x", env={"ISTHMUS_LOG": "info"})
    assert done.returncode == 0, done.stderr
    assert "isthmus: cluster west: 12:00:00.000 info the link stands\n" in done.stderr
    for install in grid.installs.values():
        assert install.told("configure")["settings"]["log"] == "info"


def test_without_it_a_run_is_quiet(pair):
    grid = pair(None, {"on": {"link": SAYS}})
    done = grid.run("-n", "2", "x", env={"ISTHMUS_LOG": ""})
    assert (done.returncode, done.stderr) == (0, "")
    assert "log" not in grid.installs["west"].told("configure")["settings"]
