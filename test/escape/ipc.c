/* ipc.c: objects of the host that are found by a name or a number instead of a path. */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "probe.h"

/* The argument is the key of the runner's shared memory, queue and semaphore. */
static Verdict try_sysv(char **args) {
        key_t key = (key_t) number_or_die(arg_or_die(args, 0));
        Verdict v = HELD;

        v = worst(v, failed("shmget of the host's segment", shmget(key, 0, 0)));
        v = worst(v, failed("msgget of the host's queue", msgget(key, 0)));
        return worst(v, failed("semget of the host's semaphore", semget(key, 0, 0)));
}

static Verdict try_sysv_scan(char **args) {
        struct shmid_ds shm;
        struct msqid_ds msg;
        Verdict v = HELD;

        for (int i = 0; i < 1024; i++) {
                v = worst(v, failed("a shared memory segment by its index", shmctl(i, SHM_STAT, &shm)));
                v = worst(v, failed("a message queue by its index", msgctl(i, MSG_STAT, &msg)));
        }
        return v;
}

/* The argument is the name of the runner's object. */
static Verdict try_posix_shm(char **args) {
        Verdict v = failed("shm_open of the host's object", shm_open(arg_or_die(args, 0), O_RDONLY, 0));
        char path[256];

        (void) snprintf(path, sizeof(path), "/dev/shm%s", args[0]);
        return worst(v, absent(path));
}

static Verdict try_posix_mq(char **args) {
        return failed("mq_open of the host's queue", mq_open(arg_or_die(args, 0), O_RDONLY));
}

static Verdict connect_unix(const char *what, const char *name, bool abstract) {
        static const int kinds[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET };
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        size_t offset = abstract ? 1 : 0;
        Verdict v = HELD;

        if (strlen(name) + offset >= sizeof(address.sun_path))
                return broken("the name is too long: %s", name);
        memcpy(address.sun_path + offset, name, strlen(name));
        for (size_t i = 0; i < ELEMENTSOF(kinds); i++) {
                int fd = socket(AF_UNIX, kinds[i] | SOCK_CLOEXEC, 0);

                if (fd < 0)
                        return broken("socket: %m");
                v = worst(v, failed(what, connect(fd, (const struct sockaddr *) &address,
                                                          (socklen_t) (offsetof(struct sockaddr_un,
                                                                                       sun_path) +
                                                                          offset + strlen(name)))));
                (void) close(fd);
        }
        return v;
}

static Verdict try_abstract(char **args) {
        return connect_unix("connecting to the host's abstract socket", arg_or_die(args, 0), true);
}

static Verdict try_abstract_list(char **args) {
        char text[65536];

        if (read_file("/proc/net/unix", text, sizeof(text)) < 0)
                return HELD;
        return strstr(text, arg_or_die(args, 0)) ? escaped("/proc/net/unix shows the host's sockets") : HELD;
}

static Verdict try_unix(char **args) {
        return connect_unix("connecting to the host's socket", arg_or_die(args, 0), false);
}

/* The socket lies in a directory that was bound read-only: whoever binds it lends it. The peer's credentials must be
 * those of nobody. */
static Verdict try_unix_credentials(char **args) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        char reply[64] = "";
        int fd;

        (void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", arg_or_die(args, 0));
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return broken("socket: %m");
        if (connect(fd, (const struct sockaddr *) &address, sizeof(address)) < 0)
                return HELD;
        if (read(fd, reply, sizeof(reply) - 1) <= 0)
                return broken("the runner did not answer: %m");
        return number_or_die(reply) == 0 ? escaped("the host sees the guest as root") : HELD;
}

/* clang-format off */
const Attempt ipc_attempts[] = {
        { "ipc-sysv", try_sysv, AS_BOTH,
          "System V objects are those of the ipc namespace" },
        { "ipc-sysv-scan", try_sysv_scan, AS_BOTH,
          "nor can they be found by their index" },
        { "ipc-posix-shm", try_posix_shm, AS_BOTH,
          "/dev/shm is the sandbox's own" },
        { "ipc-posix-mq", try_posix_mq, AS_BOTH,
          "message queues are those of the ipc namespace" },
        { "ipc-abstract", try_abstract, AS_BOTH,
          "abstract sockets are those of the network namespace" },
        { "ipc-abstract-list", try_abstract_list, AS_BOTH,
          "nor are the host's listed" },
        { "ipc-abstract-net", try_abstract, AS_BOTH,
          "with --net host, Landlock keeps the guest from abstract sockets outside" },
        { "ipc-unix", try_unix, AS_BOTH,
          "a socket file that was not bound is not there" },
        { "ipc-unix-credentials", try_unix_credentials, AS_BOTH,
          "through a socket that was lent, guest root is an unprivileged id" },
        { NULL },
};
/* clang-format on */
