/* view.h: what a sandbox sees of the machine: its own limits.
 *
 * Programs size themselves by /proc/meminfo, /proc/cpuinfo, /sys/devices/system/cpu/online and by the cores that they may run on. Files of the sandbox's
 * own lie over those of the kernel, read-only; nobody inside may take them away. Runs inside, while mounts may still be made.
 * Must not know: how limits are held. */
#pragma once

#include "base/error.h"
#include "jail/spec.h"

/* How many cores the limit means, begun ones included; 0: there is none. */
unsigned view_count_cores(const JailSpec *spec);

/* Leaves the calling process as many of its cores as that: children have them from it. They are those from
 * spec->first_core on, counted round. What holds the limit is the quota; this is what nproc and run times of languages ask. */
int view_take_cores(const JailSpec *spec, Error *reterr);

/* Puts the files in place. name: of a file in /dev/shm that nobody inside could have made. ret_meminfo_fd: open for
 * writing; NULL: nobody will. */
int view_attach(const JailSpec *spec, const char *name, int *ret_meminfo_fd, Error *reterr);

/* The children of the caller count the time since the boot (/proc/uptime, sysinfo(2), CLOCK_BOOTTIME) from here on; the caller himself does not. */
void view_begin_uptime(void);
