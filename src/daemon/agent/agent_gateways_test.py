"""isthmusd agents with gateways, linked to each other."""
# ruff: noqa: PT009, PTH110, PTH118, PTH120, PTH123, PTH208
# unittest and os: CTest runs this with whatever Python the build has.

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from agent_case import FIRST_GATEWAY, SECRET, SINGLE, AgentCase
from agent_client import DEADLINE


class GatewayTest(AgentCase):
    """Agents with gateways, linked to each other."""

    NODES = [FIRST_GATEWAY, FIRST_GATEWAY + 1]

    def open_gateways(self, secrets=(SECRET, SECRET)):
        self.agents, self.addresses = [], []
        for name, node, secret in zip(("east", "west"), self.NODES, secrets, strict=True):
            self.agents.append(self.start())
            reply = self.configure(
                SINGLE,
                cluster=name,
                secret=secret,
                gateways=[{"node": node, "listen": ["tcp:127.0.0.1:0"]}],
            )
            self.assertEqual(reply["op"], "configured", reply)
            (gateway,) = reply["gateways"]
            self.assertEqual(gateway["node"], node)
            self.addresses.append(gateway["addresses"])

    def link_gateways(self, target=None, patience=None):
        gateways = [
            {"node": node, "clusters": [i], "addresses": self.addresses[i]}
            for i, node in enumerate(self.NODES)
        ]
        world = {
            "clusters": [{"name": "east", "size": 1}, {"name": "west", "size": 1}],
            "gateways": gateways,
        }
        link = {
            "from": self.NODES[0],
            "to": self.NODES[1],
            "encrypt": True,
            "rate": None,
            "streams": None,
            "patience": patience,
            "addresses": target or [self.addresses[1][-1]],
        }
        for i, agent in enumerate(self.agents):
            agent.send(
                "link",
                world=world,
                links=[] if i else [link],
                routes=[{"node": self.NODES[i], "next": {str(1 - i): [self.NODES[1 - i]]}}],
            )

    def test_addresses_are_a_private_socket_and_the_port_asked_for(self):
        self.open_gateways()
        unix, tcp = self.addresses[0]
        self.assertTrue(unix.startswith("unix:" + self.runtime), unix)
        self.assertTrue(os.path.exists(unix.removeprefix("unix:")))
        self.assertRegex(tcp, r"^tcp:127\.0\.0\.1:[1-9][0-9]*$")

    def test_link_run_count_and_end(self):
        self.open_gateways()
        self.link_gateways()
        for agent in self.agents:
            agent.expect("linked")
        for first, agent in enumerate(self.agents):
            agent.send(
                "spawn",
                parts=[{"n": 1, "argv": ["sh", "-c", "echo $ISTHMUS_WORLD"]}],
                first=first,
                size=1,
            )
        for agent in self.agents:
            agent.expect("spawned")
            exit_message, output = agent.until("exit")
            self.assertEqual(exit_message["status"], 0)
            self.assertFalse(exit_message["joined"])
            self.assertIn(self.addresses[0][0].encode(), output[1])
        for agent, node in zip(self.agents, self.NODES, strict=True):
            agent.send("stats")
            stats = agent.expect("stats")
            self.assertGreater(stats["cpu"], 0)
            for link in stats["links"]:
                self.assertEqual(link["from"], node)
                self.assertEqual(link["messages"], 0)
        for agent in self.agents:
            agent.send("end")
        for agent in self.agents:
            self.assertEqual(agent.process.wait(DEADLINE), 0)
        self.assertEqual(os.listdir(self.runtime), [])

    def test_a_wrong_secret_does_not_link(self):
        self.open_gateways(secrets=(SECRET, "ab" * 32))
        self.link_gateways()
        self.assertIn(self.addresses[1][-1], self.agents[0].expect("error")["message"])

    def test_an_unreachable_gateway_is_named(self):
        self.open_gateways()
        closed = "tcp:127.0.0.1:1"
        self.link_gateways([closed])
        self.assertIn(closed, self.agents[0].expect("error")["message"])

    def test_a_taken_port_is_named(self):
        self.open_gateways()
        taken = self.addresses[0][-1]
        self.start()
        reply = self.configure(gateways=[{"node": self.NODES[0], "listen": [taken]}])
        self.assertEqual(reply["op"], "error")
        self.assertIn(taken.removeprefix("tcp:"), reply["message"])

    def test_a_killed_agent_is_a_fault_for_the_other(self):
        self.open_gateways()
        self.link_gateways(patience=2)
        for agent in self.agents:
            agent.expect("linked")
        self.agents[1].process.kill()
        fault, _ = self.agents[0].until("fault")  # it tells of the silence before
        self.assertIn("west", fault["message"])


class ThreadsTest(AgentCase):
    """Agents with several gateways each: the i-th of one linked with the i-th of the other."""

    COUNT = 3

    def nodes(self, cluster):
        return [FIRST_GATEWAY + self.COUNT * cluster + i for i in range(self.COUNT)]

    def open_gateways(self):
        self.agents, self.gateways = [], []
        for cluster, name in enumerate(("east", "west")):
            self.agents.append(self.start())
            own = [{"node": n, "listen": ["tcp:127.0.0.1:0"]} for n in self.nodes(cluster)]
            reply = self.configure(SINGLE, cluster=name, gateways=own)
            self.assertEqual(reply["op"], "configured", reply)
            self.gateways += [{**g, "clusters": [cluster]} for g in reply["gateways"]]

    def link_gateways(self, patience=None, closed=()):
        """`closed`: of the second cluster, those to which no address leads."""
        clusters = [{"name": "east", "size": 1}, {"name": "west", "size": 1}]
        addresses = {g["node"]: g["addresses"][-1] for g in self.gateways}
        links = [
            {
                "from": source,
                "to": target,
                "encrypt": True,
                "rate": None,
                "streams": None,
                "patience": patience,
                "addresses": ["tcp:127.0.0.1:1" if i in closed else addresses[target]],
            }
            for i, (source, target) in enumerate(zip(self.nodes(0), self.nodes(1), strict=True))
        ]
        for cluster, agent in enumerate(self.agents):
            pairs = zip(self.nodes(cluster), self.nodes(1 - cluster), strict=True)
            agent.send(
                "link",
                world={"clusters": clusters, "gateways": self.gateways},
                links=[] if cluster else links,
                routes=[{"node": a, "next": {str(1 - cluster): [b]}} for a, b in pairs],
            )

    def threads(self, agent):
        folder = f"/proc/{agent.process.pid}/task"
        names = []
        for thread in os.listdir(folder):
            with open(os.path.join(folder, thread, "comm")) as comm:
                names.append(comm.read().strip())
        return sorted(set(names))  # resolvers have threads of their own

    def test_all_but_the_first_have_a_thread_and_end_with_the_agent(self):
        self.open_gateways()
        self.link_gateways()
        for cluster, agent in enumerate(self.agents):
            agent.expect("linked")
            self.assertEqual(self.threads(agent), ["gateway1", "gateway2", "isthmusd"])
            agent.send("stats")
            links = agent.expect("stats")["links"]
            self.assertEqual(sorted(link["from"] for link in links), self.nodes(cluster))
        for agent in self.agents:
            agent.send("end")
        for agent in self.agents:
            self.assertEqual(agent.process.wait(DEADLINE), 0)
        self.assertEqual(os.listdir(self.runtime), [])

    def test_a_link_of_one_that_fails_is_named(self):
        self.open_gateways()
        self.link_gateways(closed=[2])
        self.assertIn("tcp:127.0.0.1:1", self.agents[0].expect("error")["message"])

    def test_a_port_that_one_finds_taken_is_named(self):
        self.open_gateways()
        taken = self.gateways[0]["addresses"][-1]
        self.start()
        own = [
            {"node": self.nodes(0)[0], "listen": ["tcp:127.0.0.1:0"]},
            {"node": self.nodes(0)[1], "listen": [taken]},
        ]
        reply = self.configure(gateways=own)
        self.assertEqual(reply["op"], "error")
        self.assertIn(taken.removeprefix("tcp:"), reply["message"])

    def test_a_killed_agent_is_one_fault_for_the_other(self):
        self.open_gateways()
        self.link_gateways(patience=2)
        for agent in self.agents:
            agent.expect("linked")
        self.agents[1].process.kill()
        fault, _ = self.agents[0].until("fault")
        self.assertIn("west", fault["message"])
        self.agents[0].send("end")
        self.assertEqual(self.agents[0].process.wait(DEADLINE), 0)

    def test_an_end_without_goodbye(self):
        self.open_gateways()
        self.link_gateways()
        for agent in self.agents:
            agent.expect("linked")
        self.agents[0].process.terminate()
        self.assertEqual(self.agents[0].process.wait(DEADLINE), 128 + 15)


if __name__ == "__main__":
    unittest.main()
