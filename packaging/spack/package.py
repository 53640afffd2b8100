# SPDX-License-Identifier: BSD-3-Clause
"""Spack recipe: link or copy it to packages/headway/package.py of a Spack repository.

The source comes by git. HEADWAY_GIT names the repository; a link into a clone takes that clone.
"""

import os

from spack.package import depends_on, join_path, license, variant, version

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:  # Spack before 1.0
    from spack.package import CMakePackage


def repository():
    """Where git finds the source."""
    recipe = os.path.realpath(__file__)
    clone = os.path.dirname(os.path.dirname(os.path.dirname(recipe)))
    is_in_clone = os.path.exists(join_path(clone, "spec", "mpi-functions.toml"))
    return os.environ.get("HEADWAY_GIT") or (f"file://{clone}" if is_in_clone else None)


class Headway(CMakePackage):
    """Overlap of communication and computation for unmodified MPI programs: a library that is
    preloaded between a program and its MPI, and a command that runs, explains and tunes."""

    git = repository()

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.1.0", commit="d561e3910e14e7508e0b91e28566dee5428ab9dd")

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
