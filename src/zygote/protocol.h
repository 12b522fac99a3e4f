/* protocol.h: the messages between the spawner and a zygote, over a SOCK_SEQPACKET pair. They are sent as they are in
 * memory, since both sides come from one build.
 *
 *      zygote    READY, once, when everything is loaded
 *      spawner   ZygoteFork + descriptors: report, channel, stdout, stderr, the namespaces in the order below, files to enter cgroups (v1)
 *
 * and over the report, a socket pair for each child:
 *
 *      child     ZYGOTE_ENTERED, only if it was asked to wait (cgroup v2): the spawner moves it, and sends a byte
 *      child     ZYGOTE_STARTED, or ZYGOTE_FAILED with the step; hang-up without either: it died
 *
 * No data of a guest is sent here: a child gets its instructions over its channel, when it is in its sandbox.
 * Must not know: the daemon, contexts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define ZYGOTE_READY "ready"

/* Our directory in the zygote's mount namespace, and descriptors of the zygote and of its children */
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
        uint8_t n_tasks; /* cgroup files to which it writes itself */
        uint8_t n_early; /* of these, written before the second fork: controllers that count memory and processes and cannot stop it */
        bool waits;      /* it waits until the spawner moves it (cgroup v2) */
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
