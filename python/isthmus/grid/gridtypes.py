"""Types for the values of a grid file, with their checks. Only gridmodels.py imports this when the
program runs: pydantic takes a third of the time in which `isthmus run` starts (2026-11)."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from isthmus.base.quantities import Duration, Rate
from isthmus.grid.gridkeys import (
    Net,
    Reach,
    check_absolute,
    check_addresses,
    check_congestion,
    check_env,
    check_host,
    check_hosts,
    check_interface,
    check_launch,
    check_link_name,
    check_meet,
    check_path,
    check_patience,
    check_ports,
    check_scheduler,
    check_service,
    check_subnet,
    check_tag,
    check_wait,
    mpi_choice,
)
from isthmus.grid.reach import check_words

__all__ = ["Annotated", "Field", "Net", "Rate", "Reach"]

Tag = Annotated[str, AfterValidator(check_tag)]
LinkName = Annotated[str, AfterValidator(check_link_name)]
Congestion = Annotated[str, AfterValidator(check_congestion)]
Host = Annotated[str, AfterValidator(check_host)]
Start = Annotated[list[str], AfterValidator(check_words)]
PathThere = Annotated[str, AfterValidator(check_path)]
Absolute = Annotated[str, AfterValidator(check_absolute)]
Mpi = Annotated[str, AfterValidator(mpi_choice)]
Launch = Annotated[str, AfterValidator(check_launch)]
Env = Annotated[dict[str, str], AfterValidator(check_env)]
Hosts = Annotated[str, AfterValidator(check_hosts)]
Scheduler = Annotated[str, AfterValidator(check_scheduler)]
Addresses = Annotated[tuple[str, ...], BeforeValidator(check_addresses)]
Ports = Annotated[str, AfterValidator(check_ports)]
Subnet = Annotated[str, AfterValidator(check_subnet)]
Interface = Annotated[str, AfterValidator(check_interface)]
Wait = Annotated[Duration, AfterValidator(check_wait)]
Patience = Annotated[Duration, AfterValidator(check_patience)]
Meet = Annotated[str, AfterValidator(check_meet)]
Service = Annotated[str, AfterValidator(check_service)]
