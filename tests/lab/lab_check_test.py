"""The lab's own test, in small sizes, on every shipped testbed.

A busy machine makes things slower. So the test fails only for what load cannot cause. A host is
reached that must not be, or is not reached, or a way is shorter or faster than possible."""

import json
import sys

import pytest

from isthmus_lab.lab import testbed

SIZES = {
    "hablot": ["--nodes", "1"],
    "matsuda": ["--nodes", "2"],
    "zipper": ["--nodes", "1", "--zippers", "2"],
    "chain": ["--nodes", "1"],
    "fatpipe": ["--nodes", "1"],
    "lossy": ["--nodes", "1"],
    "room": ["--nodes", "1"],
    "trio": ["--nodes", "1"],
    "walled": ["--nodes", "1"],
    "hablot16": ["--nodes", "1"],
    "slow16": ["--nodes", "1", "--set", "site.*.cores=none"],  # not every host can (lab_shares)
    "matsuda16": ["--nodes", "2"],
    "leiden": ["--nodes", "1"],
    "distant": ["--nodes", "1"],
    "zippers": [],
}


@pytest.mark.parametrize("name", SIZES)
def test_shipped(lab, name):
    done = lab("check", name, *SIZES[name], "--seconds", "0.3", "--all", "--json")
    assert done.stderr == ""
    report = json.loads(done.stdout)
    assert [f for f in report["findings"] if f["verdict"] == "WRONG"] == []
    assert done.returncode == 0 or not report["busy"]
    kinds = {f["what"] for f in report["findings"]}
    assert "RTT" in kinds
    assert ("rate" in kinds) == (name != "zippers")  # whose links are not shaped
    assert ("64 KiB" in kinds) == any(site.link for site in testbed.load(name)[1].site.values())
    assert ("reach" in kinds) == (name in ("zipper", "zippers", "chain", "walled", "leiden"))
    assert ("loss" in kinds) == (name == "lossy")


def test_a_message_takes_as_long_as_its_link_needs(lab):
    """64 KiB of payload take 524 us at 1 Gbit/s; the burst of the link passes at once."""
    link = ["--set", "site.a.link=1 Gbit/s"]
    done = lab("check", "room", "--nodes", "2", *link, "--seconds", "0.1", "--all", "--json")
    times = {
        f["what"]: float(f["found"].split()[0])
        for f in json.loads(done.stdout)["findings"]
        if f["what"].endswith("KiB") and f["source"] == "a1"
    }
    assert times["64 KiB"] > 0.5
    assert times["8 KiB"] > 0.03


def test_a_testbed_that_is_not_as_its_file_says_is_found_out(lab):
    """The lab is checked against a file after its link was changed behind its back."""
    program = (
        "import dataclasses, sys; from isthmus_lab.lab import check, registry; "
        "from isthmus_lab.lab.links import model_of; lab = registry.find(None); "
        "network = model_of(lab); "
        "network.links = [dataclasses.replace(x, delay=0.5) for x in network.links]; "
        "sys.exit(check.run(network, lab, 0, True, False))"
    )
    done = lab("run", "hablot", "--nodes", "1", "--", sys.executable, "-c", program)
    assert done.returncode == 1
    assert "WRONG" in done.stdout
