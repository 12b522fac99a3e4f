/* probe.h: finds out what this host can do by trying it.
 *
 * Each guard is raised for real in a throw-away process or on a throw-away object, never guessed from a version. A
 * missing guard is reported with its cause and the command that cures it.
 * Must not know: how findings are shown. */
#pragma once

#include <stdbool.h>

#include "jail/cgroup.h"
#include "wire/guard.h"
#include "wire/network.h"

#define PROBE_TEXT_MAX 256

typedef struct Finding {
        bool ok;
        char detail[PROBE_TEXT_MAX]; /* how well, or why not */
        char cure[PROBE_TEXT_MAX];   /* a command; empty when there is nothing to cure, or no cure */
} Finding;

typedef enum ProbeLevel {
        PROBE_FULL,     /* every guard */
        PROBE_PARTIAL,  /* all that is missing is left out without --allow-missing: Landlock, where the kernel has none */
        PROBE_ROOTLESS, /* a plain user's set: no id range, no id-mapped template, maybe no cgroups */
        PROBE_REDUCED,  /* another guard is missing; runs only with --allow-missing */
        PROBE_NONE,     /* no sandbox can be made here */
        _PROBE_LEVEL_MAX,
} ProbeLevel;

typedef struct Probe {
        Finding guards[_GUARD_MAX];
        bool privileged;
        CgroupVersion cgroup;
        ProbeLevel level;
        Finding networks[_SPAWN_NETWORK_MAX]; /* not walls, so not part of the level */
} Probe;

void probe_host(Probe *ret);
const char *probe_level_name(ProbeLevel l);

void probe_networks(Probe *p); /* part of probe_host() */
const char *probe_network_name(SpawnNetwork shape);
const char *probe_network_purpose(SpawnNetwork shape);
