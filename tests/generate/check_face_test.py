from check_face import problems

FINE = "0000 T isthmus_face_open\n"
TLS = "  TLS            0x2cffd8 0x00002d0fd8 0x00002d0fd8 0x000000 {} R   0x8\n"


def test_a_fine_face() -> None:
    assert problems("   U ompi_mpi_comm_world\n", FINE, TLS.format("0x000030")) == []


def test_what_is_wrong_is_named() -> None:
    found = problems("   U isthmus::net::f()\n", FINE + "0000 T g\n", TLS.format("0x000c20"))
    assert len(found) == 3
    assert "isthmus::net::f()" in found[0]
    assert "g" in found[1]
    assert "3104 bytes" in found[2]
