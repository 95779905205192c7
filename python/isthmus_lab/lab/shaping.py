"""Shaped links of nodes.

A link sends one packet after another, at its rate. The kernel's shaper (tbf) lets a packet go as
soon as it has tokens for it. A link that was idle has tokens for `burst` bytes, which pass at once.
So the burst is as small as the machine can bear: every shaped packet costs processor time.
"""

import math

from isthmus_lab.lab.network import LAN_OVERHEAD, Network

# Packets a second that two cores shape on all node links together, and pass through a WAN box.
# Beyond these, nodes send several packets as one super-packet.
_SHAPED, _BOXED = 170_000, 24_000
# A timer that is late loses the tokens that do not fit the burst. This much of it is made up for.
_LATE = 20e-6  # seconds


def segments(network: Network) -> int:
    """The packets of a super-packet on shaped links of nodes. Without a minimum TCP sends far
    hosts two at a time. When 16 nodes did so, the WAN box delivered 6 ms late on average. A minimum
    of six made that 50 us (2 cores, November 2026)."""
    frame = 8 * (network.mtu + LAN_OVERHEAD)
    sites = {
        site: sum(node.ports[0].rate or 0 for node in network.of_site(site, "node")) / frame
        for site in network.segments
    }
    boxes = [max(sites[link.a], sites[link.b]) for link in network.boxes]
    needed = [sum(sites.values()) / _SHAPED, max(boxes, default=0) / _BOXED]
    return max(1, math.ceil(max(needed)))


def burst(network: Network, rate: int) -> int:
    """The bytes that an idle link of this rate sends at once."""
    return segments(network) * (network.mtu + LAN_OVERHEAD) + math.ceil(_LATE * rate / 8)


def shaped(network: Network, device: str, rate: int, limit: int) -> str:
    """The words for `tc`; `limit` is the queue in bytes."""
    size = burst(network, rate)
    return f"qdisc add dev {device} root tbf rate {rate}bit burst {size} limit {limit}"
