/* spec.c: the request for a sandbox: its description, defaults, copying and freeing. */

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "core/profile.h"
#include "core/sandbox.h"

#define MEMORY_DEFAULT       (UINT64_C(512) << 20)
#define DISK_DEFAULT         (UINT64_C(256) << 20) /* half of the memory; it lies there, and is made at once */
#define PIDS_DEFAULT         512
#define OUTPUT_DEFAULT       (UINT64_C(64) << 20)
#define NOFILE_DEFAULT       4096
#define USER_DEFAULT         1000

#define MB_MAX      1073741824.0 /* 2^50 bytes */
#define CPU_MIN     0.001
#define CPU_MAX     4096
#define PIDS_MAX    4194303
#define NOFILE_MAX  1048576
#define SECONDS_MAX (10 * 365 * 86400.0)
#define OUTPUT_MAX  1125899906842624.0

#define LIMIT(member) offsetof(SandboxLimits, member)
static const ShapeField sandbox_limits_fields[] = {
        { "memoryMB", SHAPE_UINT64, LIMIT(memory_bytes), SHAPE_NULLABLE | SHAPE_POOL, 4, MB_MAX, SHAPE_MEGABYTES, .column = "memory_bytes" },
        { "cpuCores", SHAPE_UINT32, LIMIT(cpu_milli), SHAPE_NULLABLE | SHAPE_ZERO_NULL | SHAPE_POOL, CPU_MIN, CPU_MAX, SHAPE_CORES, .column = "cpu_milli" },
        { "cpuTimeSeconds", SHAPE_UINT64, LIMIT(cpu_time_usec), SHAPE_NULLABLE | SHAPE_ZERO_NULL, 0, SECONDS_MAX, SHAPE_SECONDS, .column = "cpu_time_usec" },
        { "diskMB", SHAPE_UINT64, LIMIT(disk_bytes), SHAPE_NULLABLE | SHAPE_POOL, 1, MB_MAX, SHAPE_MEGABYTES, .column = "disk_bytes" },
        { "pids", SHAPE_UINT32, LIMIT(pids), SHAPE_NULLABLE | SHAPE_POOL, 1, PIDS_MAX, .column = "pids" },
        { "timeoutSeconds", SHAPE_UINT64, LIMIT(exec_timeout_usec), SHAPE_NULLABLE | SHAPE_ZERO_NULL, 0, SECONDS_MAX, SHAPE_SECONDS, .column = "exec_timeout_usec" },
        { "outputBytes", SHAPE_UINT64, LIMIT(output_bytes), SHAPE_NULLABLE, 1, OUTPUT_MAX, .column = "output_bytes" },
        { "nofile", SHAPE_UINT64, LIMIT(nofile), SHAPE_NULLABLE, 3, NOFILE_MAX, .column = "nofile" },
};
const Shape sandbox_limits_shape = SHAPE_OF(sandbox_limits, SandboxLimits);

static const char *const access_words[] = { [false] = "ro", [true] = "rw" };
static const ShapeNames volume_access = SHAPE_WORDS(access_words);

static const ShapeField volume_fields[] = {
        { .kind = SHAPE_TEXT, .offset = offsetof(SandboxVolume, name)                                  },
        { .kind = SHAPE_TEXT, .offset = offsetof(SandboxVolume, tree)                                  },
        { .kind = SHAPE_TEXT, .offset = offsetof(SandboxVolume, target)                                },
        { .kind = SHAPE_BOOL, .offset = offsetof(SandboxVolume, writable), .names = &volume_access     },
};
static const Shape volume_shape = SHAPE_OF(volume, SandboxVolume);

/* A field whose name callers may write, and which a surface reads by its own rules, is read-only here. */
#define SPEC(member) offsetof(SandboxSpec, member)
#define OPTIONAL     SHAPE_NULLABLE
#define SHOWN        SHAPE_READ_ONLY
#define HIDDEN       NULL
#define BOX          SPEC_OF_SANDBOX
#define SNAP         SPEC_OF_SNAPSHOT
#define JOB          SPEC_OF_JOB
static const ShapeField sandbox_spec_fields[] = {
        { "name",           SHAPE_TEXT,   SPEC(name),          SHOWN | BOX, .column = "name"                                                  },
        { "tenant",         SHAPE_TEXT,   SPEC(tenant),        SHOWN | BOX | JOB, .column = "tenant"                                          },
        { "template",       SHAPE_TEXT,   SPEC(template_name), OPTIONAL | BOX | SNAP | JOB, 1, SANDBOX_TEXT_MAX, .column = "template_name"    },
        { "profile",        SHAPE_TEXT,   SPEC(profile),       OPTIONAL | BOX | SNAP | JOB, 1, PROFILE_NAME_MAX, .column = "profile"          },
        { "agent_type",     SHAPE_TEXT,   SPEC(agent_type),    SHOWN | BOX | SNAP | JOB, .column = "agent_type"                               },
        { "task_id",        SHAPE_TEXT,   SPEC(task_id),       SHOWN | BOX | SNAP | JOB, .column = "task_id"                                  },
        { "taskId",         SHAPE_TEXT,   SPEC(task_id),       OPTIONAL | SHAPE_ALIAS, 0, SANDBOX_TEXT_MAX                                    },
        { "limits",         SHAPE_OBJECT, SPEC(limits),        SHOWN | BOX | SNAP | JOB, .shape = &sandbox_limits_shape                                          },
        { "env",            SHAPE_ENV,    SPEC(env),           OPTIONAL | BOX | SNAP | JOB, 0, SANDBOX_ENV_MAX, .column = "env"               },
        { "workdir",        SHAPE_TEXT,   SPEC(workdir),       SHOWN | BOX | SNAP | JOB, .column = "workdir"                                  },
        { HIDDEN,           SHAPE_UINT32, SPEC(uid),           BOX | SNAP | JOB | SHAPE_POOL, .column = "uid"                                 },
        { HIDDEN,           SHAPE_UINT32, SPEC(gid),           BOX | SNAP | JOB | SHAPE_POOL, .column = "gid"                                 },
        { "sudo",           SHAPE_BOOL,   SPEC(sudo),          OPTIONAL | BOX | SNAP | SHAPE_POOL, .column = "sudo"                           },
        { "metadata",       SHAPE_JSON,   SPEC(metadata),      OPTIONAL | BOX | SNAP, 0, SANDBOX_METADATA_MAX, .column = "metadata"           },
        { HIDDEN,           SHAPE_TEXT,   SPEC(dialect),       BOX | SNAP, .column = "dialect"                                                },
        { "critical",       SHAPE_BOOL,   SPEC(critical),      OPTIONAL | BOX | SNAP | JOB, .column = "critical"                              },
        { "timeoutSeconds", SHAPE_UINT64, SPEC(timeout_usec),  OPTIONAL | SHAPE_WRITE_ONLY | SNAP, 0, SECONDS_MAX, SHAPE_SECONDS, .column = "timeout_usec" },
        { "onTimeout",      SHAPE_ENUM,   SPEC(on_timeout),    OPTIONAL | SNAP, .names = &on_timeout_names, .column = "on_timeout"            },
        { HIDDEN,           SHAPE_UINT8,  SPEC(network),       BOX | SNAP | JOB, .column = "network"                                          },
        { HIDDEN,           SHAPE_TEXT,   SPEC(group),         BOX | SNAP | JOB, .column = "network_group"                                    },
        { HIDDEN,           SHAPE_TEXT,   SPEC(policy),        BOX | SNAP | JOB, .column = "policy"                                           },
        { "persistent",     SHAPE_BOOL,   SPEC(persistent),    OPTIONAL | BOX | SHAPE_POOL, .column = "persistent"                            },
        { HIDDEN,           SHAPE_TEXT,   SPEC(layer),         BOX | SNAP, .column = "layer"                                                  },
        { HIDDEN,           SHAPE_TEXT,   SPEC(base),          BOX | SNAP, .column = "base"                                                   },
        { "templateDigest", SHAPE_TEXT,   SPEC(digest),        SHOWN | BOX | SNAP, .column = "digest"                                         },
        { "snapshot",       SHAPE_TEXT,   SPEC(snapshot),      OPTIONAL | BOX, 1, SANDBOX_TEXT_MAX, .column = "snapshot"                      },
        { "parent",         SHAPE_TEXT,   SPEC(parent),        SHOWN | BOX, .column = "parent"                                                },
        { HIDDEN,           SHAPE_LIST,   SPEC(volumes),       BOX | SNAP, 0, SANDBOX_VOLUMES_MAX, .count = SPEC(n_volumes), .shape = &volume_shape, .column = "volumes" },
        { "record",         SHAPE_BOOL,   SPEC(record),        OPTIONAL | BOX | SNAP, .column = "record"                                      },
        { HIDDEN,           SHAPE_UINT32, SPEC(address),       BOX, .column = "address"                                                       },
        { .kind = SHAPE_CHARS, SHAPE_AT(SandboxSpec, scratch), .flags = SHAPE_ONCE                                                            },
        { HIDDEN,           SHAPE_BOOL,   SPEC(takes_scratch), SHAPE_ONCE                                                                     },
};
_Static_assert(ELEMENTSOF(sandbox_spec_fields) <= 64, "a bit for each field that was said");
const Shape sandbox_spec_shape = { "SandboxSpec", sandbox_spec_fields, ELEMENTSOF(sandbox_spec_fields), sizeof(SandboxSpec),
                                   .said = SPEC(said), .remembers = true };

bool sandbox_spec_said(const SandboxSpec *spec, const char *name) {
        return shape_is_said(&sandbox_spec_shape, spec, shape_find(&sandbox_spec_shape, name));
}

void sandbox_spec_defaults(SandboxSpec *spec) {
        *spec = (SandboxSpec) {
                .limits = {
                        .memory_bytes = MEMORY_DEFAULT,
                        .disk_bytes = DISK_DEFAULT,
                        .pids = PIDS_DEFAULT,
                        .exec_timeout_usec = SANDBOX_EXEC_TIMEOUT_DEFAULT,
                        .output_bytes = OUTPUT_DEFAULT,
                        .nofile = NOFILE_DEFAULT,
                },
                .env = STRV_INIT(SANDBOX_ENV_MAX),
                .uid = USER_DEFAULT,
                .gid = USER_DEFAULT,
                .hub_fd = -EBADF,
        };
}

void sandbox_volumes_done(SandboxSpec *spec) {
        for (size_t i = 0; i < spec->n_volumes; i++)
                shape_done(&volume_shape, spec->volumes + i);
        free(spec->volumes);
        spec->volumes = NULL;
        spec->n_volumes = 0;
}

int sandbox_spec_add_volume(SandboxSpec *spec, const char *name, const char *tree, const char *target, bool writable) {
        SandboxVolume v;

        if (spec->n_volumes >= SANDBOX_VOLUMES_MAX)
                return -E2BIG;
        if (ARRAY_EXTEND(spec->volumes, spec->n_volumes) < 0)
                return -ENOMEM;
        v = (SandboxVolume) { strdup(name), strdup(tree), strdup(target), writable };
        spec->volumes[spec->n_volumes++] = v; /* complete or not, sandbox_spec_done() frees it */
        return v.name && v.tree && v.target ? 0 : -ENOMEM;
}

void sandbox_spec_done(SandboxSpec *spec) {
        shape_done(&sandbox_spec_shape, spec);
        *spec = (SandboxSpec) { .hub_fd = -EBADF };
}

int sandbox_spec_copy(const SandboxSpec *from, SandboxSpec *ret) {
        SandboxSpec copy = { .hub_fd = -EBADF };
        int r = shape_copy(&sandbox_spec_shape, from, &copy);

        if (r >= 0)
                *ret = copy;
        return r;
}

const char *sandbox_spec_base(const SandboxSpec *spec) {
        return spec->base ? spec->base : spec->template_name && !spec->layer ? spec->template_name : "host";
}
