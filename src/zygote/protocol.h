/* protocol.h: what the spawner and a zygote say to each other, over a SOCK_SEQPACKET pair, as it lies in memory: both are of one build.
 *
 *      zygote    READY, once, when everything is loaded
 *      spawner   ZygoteFork + descriptors: report, channel, stdout, stderr, the namespaces in the order below, files to enter cgroups (v1)
 *
 * and over the report, a pair of its own for each child, which ends with it:
 *
 *      child     ZYGOTE_ENTERED, only when it was asked to wait (cgroup v2): the spawner moves it, and says a byte
 *      child     ZYGOTE_STARTED, or ZYGOTE_FAILED with the step; nothing: it died
 *
 * Nothing of a guest's comes by these: what a child shall be told, it is told over its channel, when it is in its sandbox.
 * Must not know: the daemon, contexts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define ZYGOTE_READY "ready"

/* Its place in the zygote's mount namespace, and descriptors of the zygote and of its children */
#define ZYGOTE_DIRECTORY "/.cove"
#define ZYGOTE_LIBRARY   "zygote.so"
#define ZYGOTE_SOCKET_FD 3 /* of a zygote */
#define ZYGOTE_CHANNEL_FD 3 /* of a child */

/* The user namespace first: all rights to the others come from it. Time last: it takes a process with memory of its own. */
typedef enum ZygoteNamespace {
        ZYGOTE_USER,
        ZYGOTE_PID,
        ZYGOTE_IPC,
        ZYGOTE_UTS,
        ZYGOTE_NET,
        ZYGOTE_CGROUP,
        ZYGOTE_MOUNT,
        ZYGOTE_TIME,
        _ZYGOTE_NAMESPACE_MAX,
} ZygoteNamespace;

enum { ZYGOTE_FD_REPORT, ZYGOTE_FD_CHANNEL, ZYGOTE_FD_OUT, ZYGOTE_FD_ERR, ZYGOTE_FD_NAMESPACES, ZYGOTE_FD_TASKS = ZYGOTE_FD_NAMESPACES + _ZYGOTE_NAMESPACE_MAX };

#define ZYGOTE_TASKS_MAX 6

typedef struct ZygoteFork {
        uint32_t uid, gid; /* on the host: of the sandbox's user, who owns its user namespace */
        uint32_t inside_uid, inside_gid;
        uint64_t nofile, nproc, file_bytes;
        uint8_t n_tasks; /* files that it writes itself to */
        uint8_t n_early; /* of these, before it becomes a process of its own: what counts memory and processes, and holds nobody up */
        bool waits;      /* to be moved instead */
        bool no_processes;
} ZygoteFork;

typedef enum ZygoteEvent {
        ZYGOTE_ENTERED = 1,
        ZYGOTE_STARTED,
        ZYGOTE_FAILED,
} ZygoteEvent;

typedef struct ZygoteReport {
        uint32_t event;
        int32_t pid;   /* STARTED: inside */
        int32_t error; /* FAILED: positive errno */
        char step[24];
} ZygoteReport;
