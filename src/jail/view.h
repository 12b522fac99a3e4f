/* view.h: shows a sandbox its own limits in place of the machine's size.
 *
 * Programs size themselves by /proc/meminfo, /proc/cpuinfo, /sys/devices/system/cpu/online and their CPU affinity.
 * Files of the sandbox's own are mounted over those of the kernel, read-only; no guest can remove them. Runs inside,
 * while mounts may still be made.
 * Must not know: how limits are enforced. */
#pragma once

#include "base/error.h"
#include "jail/spec.h"

/* The number of cores of the CPU limit, rounded up; 0: no limit. */
unsigned view_count_cores(const JailSpec *spec);

/* Limits the CPU affinity of the calling process to that many cores; children inherit it. The cores are those from
 * spec->first_core on, wrapping around. The quota enforces the limit; the affinity is what nproc and language runtimes
 * read. */
int view_take_cores(const JailSpec *spec, Error *reterr);

/* Mounts the files. name: a file name in /dev/shm that no guest could have taken. ret_meminfo_fd: open for writing;
 * NULL: not needed. */
int view_attach(const JailSpec *spec, const char *name, int *ret_meminfo_fd, Error *reterr);

/* Starts the time since boot (/proc/uptime, sysinfo(2), CLOCK_BOOTTIME) at zero for the caller and its children. */
void view_begin_uptime(void);
