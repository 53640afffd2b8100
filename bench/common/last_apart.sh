#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# last_apart.sh CORE CORE-OF-LAST PROGRAM...: the last process of a job runs on a core of its own, all
# others share one. With a ghost on each node the last process is the target's ghost.
rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}
size=${PMI_SIZE:-$OMPI_COMM_WORLD_SIZE}
core=$1
[ "$((rank + 1))" -eq "$size" ] && core=$2
shift 2
exec taskset -c "$core" "$@"
