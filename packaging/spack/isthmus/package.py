# Copyright The Isthmus developers
#
# SPDX-License-Identifier: BSD-3-Clause
from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class Isthmus(PythonPackage):
    """One MPI_COMM_WORLD over several clusters with different MPI libraries, for unmodified
    programs."""

    homepage = "https://example.org/isthmus"
    git = "https://example.org/isthmus.git"

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.2.0", tag="v0.2.0")

    variant("ucx", default=False, description="Use UCX between clusters on one fabric")
    variant("map", default=False, description="Place ranks by METIS (isthmus map)")

    # Headers alone: programs bring their own library. Spack concretizes one MPI in a graph; the
    # headers of further ones are given by the environment (README.md, Installing).
    depends_on("mpi", type="build")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("py-scikit-build-core@0.10:", type="build")
    depends_on("asio", type="build")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("fmt", type=("build", "link"))
    depends_on("spdlog", type=("build", "link"))
    depends_on("zstd", type=("build", "link", "run"))
    depends_on("openssl@3:", type=("build", "link", "run"))
    depends_on("ucx", type=("build", "run"), when="+ucx")

    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-clustershell@1.9:", type=("build", "run"))
    depends_on("py-pydantic@2.5:", type=("build", "run"))
    depends_on("py-rich@13:", type=("build", "run"))
    depends_on("py-tomli@2:", type=("build", "run"), when="^python@:3.10")
    depends_on("py-typer@0.15.4:", type=("build", "run"))
    depends_on("py-pymetis@2025.1:", type="run", when="+map")

    conflicts("%gcc@:11", msg="C++20 of gcc 12 is needed")

    def setup_run_environment(self, env: EnvironmentModifications) -> None:
        env.set("ISTHMUS_PREFIX", self.prefix)

    def test_version(self):
        """the command and the agent start"""
        for name in ("isthmus", "isthmusd"):
            program = which(self.prefix.bin.join(name))
            assert str(self.spec.version) in program("--version", output=str.split)
