"""Which connection of a full door gives way."""

from isthmus.doors.admission import Admission, Limits, Tally, of_address, of_user

FEW = Limits(total=64, of_network=16, of_site=32, remembered=4)


class Waiting:
    """The connections at a door, as numbers."""

    def __init__(self) -> None:
        self.admission = Admission(FEW, seed=28)
        self.here = set()
        self.last = self.dropped = 0

    def arrives(self, address):
        self.last += 1
        dropped = self.admission.arrives(self.last, of_address(address))
        if dropped is not None:
            self.here.remove(dropped)
            self.dropped += 1
        self.here.add(self.last)
        assert len(self.admission) == len(self.here)
        return self.last

    def proves(self, ticket):
        self.admission.proved(ticket)
        self.here.discard(ticket)


def test_nobody_is_dropped_within_the_limits():
    door = Waiting()
    for number in range(FEW.total):
        door.arrives(f"192.0.2.{number % 4}")
    assert door.dropped == 0
    for ticket in list(door.here):
        door.admission.left(ticket)
        door.admission.left(ticket)  # void now
    assert len(door.admission) == 0


def test_an_address_beyond_its_limit_drops_its_own():
    door = Waiting()
    other = door.arrives("192.0.2.1")
    for _ in range(500):
        door.arrives("::ffff:192.0.2.2")
    assert other in door.here
    assert len(door.here) == FEW.of_network + 1


def test_a_full_door_drops_from_the_most_crowded_address():
    door = Waiting()
    crowd = [f"198.51.100.{number}" for number in range(20)]
    for number in range(500):
        door.arrives(crowd[number % 20])
    alone = door.arrives("192.0.2.1")
    for number in range(500):
        door.arrives(crowd[number % 20])
    assert alone in door.here
    assert len(door.here) == FEW.total


def test_of_many_addresses_with_one_connection_any_gives_way():
    for first in ("192.0.2.1", "255.0.2.1"):
        door = Waiting()
        mine = [door.arrives(first)]
        for number in range(FEW.total * 4):
            door.arrives(f"198.51.{number // 250}.{number % 250}")
            if number >= FEW.total and mine[-1] not in door.here:
                mine.append(door.arrives(first))
        assert 1 < len(mine) < 20


def test_one_of_a_crowded_address_often_survives_a_while():
    survived = 0
    door = Waiting()
    for _ in range(1000):
        mine = door.arrives("192.0.2.1")
        for _ in range(FEW.of_network // 2):
            door.arrives("192.0.2.1")
        survived += mine in door.here
    assert survived > 500  # about exp(-1/2)


def test_networks_and_sites_of_ipv6_have_limits():
    door = Waiting()
    for host in range(255):
        door.arrives(f"2001:db8:1:1::{host:x}")
    assert len(door.here) == FEW.of_network
    neighbour = door.arrives("2001:db8:2:1::1")
    for network in range(255):
        door.arrives(f"2001:db8:1:{network:x}::1")
    assert len(door.here) == FEW.of_site + 1
    assert neighbour in door.here


def test_known_networks_have_places_apart_and_the_latest_are_remembered():
    door = Waiting()
    for number in range(5):
        door.proves(door.arrives(f"192.0.2.{number}"))
    friend, forgotten = door.arrives("192.0.2.4"), door.arrives("192.0.2.0")
    for number in range(500):
        door.arrives(f"198.51.100.{number % 200}")
        door.arrives("192.0.2.0")
    assert friend in door.here
    assert forgotten not in door.here
    assert len(door.here) == FEW.total + 1


def test_users_of_a_host_are_apart():
    assert of_user(0).network != of_user(1000).network


def test_a_tally_speaks_once_a_minute():
    tally, origin = Tally(), of_address("192.0.2.7")
    said = [tally.add(number / 10, origin) for number in range(1300)]
    assert [number for number, text in enumerate(said) if text] == [0, 600, 1200]
    assert said[600].startswith("600 connections came")
    assert said[0].endswith("192.0.2.7")
