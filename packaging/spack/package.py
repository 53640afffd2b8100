# SPDX-License-Identifier: BSD-3-Clause
"""Spack recipe: copy it to packages/headway/package.py of a Spack repository.

The source is headway-<version>.tar.gz in the directory spack is called from:
git archive --prefix=headway-0.1.0/ -o headway-0.1.0.tar.gz HEAD
"""

import os

from spack.package import depends_on, join_path, license, variant, version

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:  # Spack before 1.0
    from spack.package import CMakePackage


class Headway(CMakePackage):
    """Overlap of communication and computation for unmodified MPI programs: a library that is
    preloaded between a program and its MPI, and a command that runs, explains and tunes."""

    manual_download = True
    url = f"file://{os.getcwd()}/headway-0.1.0.tar.gz"

    license("BSD-3-Clause")

    version("0.1.0")

    variant("plots", default=False, description="plots of benchmarks and of the demonstration")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("mpi", type=("build", "test"))
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-jinja2@3.1:", type="run")
    depends_on("py-rich@13:", type="run")
    depends_on("py-matplotlib@3.7:", type="run", when="+plots")

    def cmake_args(self):
        """One library, for the ABI of the MPI it is built beside; nothing of that MPI is linked."""
        mpi = self.spec["mpi"]
        flavour = "ompi" if mpi.name == "openmpi" else "mpich"
        header = join_path(mpi.prefix.include, "mpi.h")
        return [
            self.define("HEADWAY_FLAVOURS", flavour),
            self.define(f"HEADWAY_{flavour.upper()}_HEADERS", header),
            self.define("BUILD_TESTING", self.run_tests),
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
            self.define("Python3_EXECUTABLE", self.spec["python"].command.path),
        ]

    def setup_run_environment(self, env):
        """`import headway` in Python programs."""
        env.prepend_path("PYTHONPATH", join_path(self.prefix.lib, "headway", "python"))
