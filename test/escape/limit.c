/* limit.c: using more than was given. Each attempt is told a number clearly above the limit, and has escaped when it
 * gets there.
 *
 * Some end with the sandbox being killed; the runner then reads in the report why. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

#define MIB (1024l * 1024l)

static double now(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static void wait_forever(void) {
        for (;;)
                (void) pause();
}

static void end_children(const pid_t *pids, long n) {
        for (long i = 0; i < n; i++)
                (void) kill(pids[i], SIGKILL);
        for (long i = 0; i < n; i++)
                (void) waitpid(pids[i], NULL, 0);
}

/* Raising what was set */

static Verdict try_raise(char **args) {
        Verdict v = HELD;

        for (int resource = 0; resource < RLIM_NLIMITS; resource++) {
                struct rlimit limit;
                char what[64];

                if (getrlimit((__rlimit_resource_t) resource, &limit) < 0 || limit.rlim_max == RLIM_INFINITY)
                        continue;
                limit.rlim_max++;
                (void) snprintf(what, sizeof(what), "raising limit %d", resource);
                v = worst(v, refused(what, setrlimit((__rlimit_resource_t) resource, &limit)));
        }
        return v;
}

/* Those which protect the host must have a ceiling at all. */
static Verdict try_unlimited(char **args) {
        static const struct {
                const char *name;
                __rlimit_resource_t resource;
        } limits[] = {
                { "core",        RLIMIT_CORE      },
                { "nofile",     RLIMIT_NOFILE    },
                { "memlock",    RLIMIT_MEMLOCK   },
                { "msgqueue",   RLIMIT_MSGQUEUE  },
                { "sigpending", RLIMIT_SIGPENDING },
                { "rtprio",     RLIMIT_RTPRIO    },
                { "nice",       RLIMIT_NICE      },
        };
        Verdict v = HELD;

        for (size_t i = 0; i < ELEMENTSOF(limits); i++) {
                struct rlimit limit;

                if (getrlimit(limits[i].resource, &limit) == 0 && limit.rlim_max == RLIM_INFINITY)
                        v = escaped("there is no limit of %s", limits[i].name);
        }
        return v;
}

/* Processes */

static Verdict try_processes(char **args) {
        long ceiling = number_or_die(arg_or_die(args, 0)), n;
        pid_t *pids = calloc((size_t) ceiling, sizeof(pid_t));
        Verdict v = HELD;

        if (!pids)
                return broken("calloc: %m");
        for (n = 0; n < ceiling; n++) {
                pids[n] = fork();
                if (pids[n] < 0)
                        break;
                if (pids[n] == 0)
                        wait_forever();
        }
        if (n == ceiling)
                v = escaped("%ld processes were started", n);
        else if (errno != EAGAIN)
                v = broken("fork: %m");
        end_children(pids, n);
        free(pids);
        return v;
}

static void *thread_main(void *unused) {
        wait_forever();
        return NULL;
}

static Verdict try_threads(char **args) {
        long ceiling = number_or_die(arg_or_die(args, 0));
        pthread_attr_t attr;
        pthread_t thread;

        (void) pthread_attr_init(&attr);
        (void) pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
        for (long n = 0; n < ceiling; n++) {
                int r = pthread_create(&thread, &attr, thread_main, NULL);

                if (r != 0)
                        return r == EAGAIN ? HELD : broken("pthread_create: %s", strerror(r));
        }
        return escaped("%ld threads were started", ceiling);
}

/* Everyone forks as fast as it can, in sessions of their own, until the timeout. */
static Verdict try_fork_bomb(char **args) {
        double end = now() + 30;

        while (now() < end)
                if (fork() == 0)
                        (void) setsid();
        return HELD;
}

/* Memory: the argument is in MiB. */

static Verdict try_memory(char **args) {
        long ceiling = number_or_die(arg_or_die(args, 0));

        for (long n = 0; n < ceiling; n++) {
                char *map = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

                if (map == MAP_FAILED)
                        return HELD;
                for (long i = 0; i < MIB; i += 4096)
                        map[i] = (char) (n + i + 1);
        }
        return escaped("%ld MiB of memory were taken", ceiling);
}

static void take_and_wait(long bytes) {
        char *map = mmap(NULL, (size_t) bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        for (long i = 0; map != MAP_FAILED && i < bytes; i += 4096)
                map[i] = (char) (i + 1);
        (void) raise(SIGSTOP); /* done; the parent sees it */
}

/* Split over children, each of which is small. Where the kernel kills one of them, the others and we live on. */
static Verdict try_memory_tree(char **args) {
        enum { CHILDREN = 8 };
        long ceiling = number_or_die(arg_or_die(args, 0));
        pid_t pids[CHILDREN];
        int n_done = 0;

        for (int k = 0; k < CHILDREN; k++) {
                pids[k] = fork();
                if (pids[k] < 0)
                        return broken("fork: %m");
                if (pids[k] == 0) {
                        take_and_wait(ceiling / CHILDREN * MIB);
                        _exit(0);
                }
        }
        for (int k = 0; k < CHILDREN; k++) {
                int status;

                n_done += waitpid(pids[k], &status, WUNTRACED) == pids[k] && WIFSTOPPED(status);
        }
        end_children(pids, CHILDREN);
        return n_done == CHILDREN
                               ? escaped("%ld MiB of memory were taken by %d processes", ceiling, CHILDREN)
                               : HELD;
}

static Verdict write_much(int fd, long mib, const char *what) {
        static char block[MIB];

        memset(block, 0x5a, sizeof(block));
        for (long n = 0; n < mib; n++)
                if (write(fd, block, sizeof(block)) != (ssize_t) sizeof(block))
                        return HELD;
        return escaped("%ld MiB were written to %s", mib, what);
}

/* Memory with a file's face. */
static Verdict try_memory_shm(char **args) {
        int fd = open("/dev/shm/fill", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

        return fd < 0 ? HELD : write_much(fd, number_or_die(arg_or_die(args, 0)), "/dev/shm");
}

static Verdict try_memory_memfd(char **args) {
        int fd = memfd_create("fill", MFD_CLOEXEC);

        return fd < 0 ? HELD : write_much(fd, number_or_die(arg_or_die(args, 0)), "a memfd");
}

/* In buffers of the kernel: pipes at their largest, sockets that nobody reads. */
static Verdict try_memory_kernel(char **args) {
        long ceiling = number_or_die(arg_or_die(args, 0)) * MIB, total = 0;
        static char block[65536];

        for (;;) {
                long before = total;
                int fds[2];
                ssize_t k;

                if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0) {
                        (void) fcntl(fds[1], F_SETPIPE_SZ, MIB);
                        while ((k = write(fds[1], block, sizeof(block))) > 0)
                                total += k;
                }
                if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0)
                        while ((k = write(fds[1], block, sizeof(block))) > 0)
                                total += k;
                if (total >= ceiling)
                        return escaped("%ld MiB were left in buffers of the kernel", total / MIB);
                if (total == before)
                        return HELD; /* out of descriptors */
        }
}

/* Numbers that the whole host shares. The first two hold what they took until stdin ends, for the runner to look
 * whether there is some left. */

static Verdict hold(const char *what, long n) {
        char byte;

        printf("holds %ld %s\n", n, what);
        (void) fflush(stdout);
        while (read(STDIN_FILENO, &byte, 1) > 0)
                ;
        return HELD;
}

static Verdict try_inotify(char **args) {
        long n = 0;

        while (inotify_init1(IN_CLOEXEC) >= 0)
                n++;
        return n == 0 ? broken("inotify_init1: %m") : hold("inotify instances", n);
}

/* A signal that is queued and blocked stays. The limit is per user, so guest root goes through many. */
static long queue_signals(uid_t uid) {
        sigset_t all;
        long n = 0;

        (void) sigfillset(&all);
        (void) sigprocmask(SIG_BLOCK, &all, NULL);
        if (getuid() == 0 && setresuid(uid, uid, uid) < 0)
                return 0;
        while (n < 1000000 && sigqueue(getpid(), SIGRTMIN, (union sigval) { .sival_int = 0 }) == 0)
                n++;
        return n;
}

static Verdict try_signals(char **args) {
        enum { USERS = 60 };
        pid_t pids[USERS];
        int n = getuid() == 0 ? USERS : 1;

        for (int i = 0; i < n; i++) {
                pids[i] = fork();
                if (pids[i] < 0)
                        return broken("fork: %m");
                if (pids[i] == 0) {
                        (void) queue_signals((uid_t) (2000 + i));
                        (void) raise(SIGSTOP);
                        wait_forever();
                }
                (void) waitpid(pids[i], NULL, WUNTRACED);
        }
        (void) hold("users with full signal queues", n);
        end_children(pids, n);
        return HELD;
}

static Verdict try_terminals(char **args) {
        long ceiling = number_or_die(arg_or_die(args, 0));

        for (long n = 0; n < ceiling; n++)
                if (posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC) < 0)
                        return errno == ENOSPC || errno == EMFILE || errno == EIO
                                               ? HELD
                                               : broken("posix_openpt: %m");
        return escaped("%ld of the host's terminals were taken", ceiling);
}

/* Descriptors */

static Verdict try_descriptors(char **args) {
        long ceiling = number_or_die(arg_or_die(args, 0));

        for (long n = 0; n < ceiling; n++)
                if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
                        return errno == EMFILE ? HELD : broken("open: %m");
        return escaped("%ld files are open", ceiling);
}

/* Disk: the argument is in MiB, the sum over all places where the guest can write. */

static const char *const places[] = { "/workspace", "/home/user", "/tmp", "/var/tmp", "/root", "/usr",
        "/etc", "/run", "/var/lib", "/srv" };

static Verdict judge_disk(long written, long ceiling, bool was_full) {
        if (written >= ceiling)
                return escaped("%ld MiB are on the disk", written / MIB);
        return was_full ? HELD : broken("nothing could be written: %m");
}

static Verdict try_disk(char **args) {
        long ceiling = number_or_die(arg_or_die(args, 0)) * MIB, written = 0;
        static char block[MIB];
        bool was_full = false;

        memset(block, 0xa5, sizeof(block));
        for (size_t i = 0; i < ELEMENTSOF(places); i++) {
                char path[64];
                ssize_t n;
                int fd;

                (void) snprintf(path, sizeof(path), "%s/fill", places[i]);
                fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
                if (fd < 0) {
                        was_full = was_full || errno == ENOSPC;
                        continue;
                }
                while (written < ceiling && (n = write(fd, block, sizeof(block))) > 0)
                        written += n;
                was_full = was_full || (written < ceiling && errno == ENOSPC);
                (void) close(fd);
        }
        return judge_disk(written, ceiling, was_full);
}

/* Unlinked files hold their blocks as long as they are open. */
static Verdict try_disk_unlinked(char **args) {
        long ceiling = number_or_die(arg_or_die(args, 0)) * MIB, written = 0;
        static char block[MIB];

        for (int i = 0; i < 64; i++) {
                int fd = open("/workspace", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

                if (fd < 0)
                        fd = open("/workspace/unlinked", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
                (void) unlink("/workspace/unlinked");
                if (fd < 0)
                        return judge_disk(written, ceiling, errno == ENOSPC);
                for (int k = 0; k < 64; k++) {
                        ssize_t n = write(fd, block, sizeof(block));

                        if (n < 0)
                                return judge_disk(written, ceiling, errno == ENOSPC);
                        written += n;
                        if (written >= ceiling)
                                return judge_disk(written, ceiling, false);
                }
        }
        return judge_disk(written, ceiling, true);
}

static Verdict try_disk_allocate(char **args) {
        long ceiling = number_or_die(arg_or_die(args, 0)) * MIB;
        int fd = open("/workspace/allocated", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

        if (fd < 0)
                return broken("/workspace: %m");
        if (fallocate(fd, 0, 0, ceiling) == 0)
                return escaped("%ld MiB were allocated", ceiling / MIB);
        return errno == ENOSPC || errno == EOPNOTSUPP ? HELD : broken("fallocate: %m");
}

/* The argument is a number of files. */
static Verdict try_inodes(char **args) {
        long ceiling = number_or_die(arg_or_die(args, 0));
        char path[64];

        if (mkdir("/workspace/many", 0700) < 0)
                return broken("/workspace: %m");
        for (long n = 0; n < ceiling; n++) {
                int fd;

                (void) snprintf(path, sizeof(path), "/workspace/many/%ld", n);
                fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
                if (fd < 0)
                        return errno == ENOSPC ? HELD : broken("%s: %m", path);
                (void) close(fd);
        }
        return escaped("%ld files were made", ceiling);
}

/* Output, time */

/* To both streams, also through a descriptor of our own and from a child. */
static Verdict try_output(char **args) {
        static char block[65536];
        int again = open("/proc/self/fd/1", O_WRONLY | O_CLOEXEC);

        memset(block, 'x', sizeof(block));
        (void) signal(SIGPIPE, SIG_IGN);
        (void) fork();
        for (long i = 0; i < 100000; i++) {
                ssize_t a = write(STDOUT_FILENO, block, sizeof(block)),
                        b = write(STDERR_FILENO, block, sizeof(block)),
                        c = again < 0 ? -1 : write(again, block, sizeof(block));

                if (a < 0 && b < 0 && c < 0)
                        wait_forever();
        }
        return escaped("much more than the limit was written");
}

static void burn(double seconds) {
        double end = now() + seconds;
        volatile uint64_t x = 1;

        while (now() < end)
                for (int i = 0; i < 100000; i++)
                        x = x * 6364136223846793005u + 1;
}

static void *burn_thread(void *unused) {
        burn(60);
        return NULL;
}

static Verdict try_cpu(char **args) {
        pthread_t thread;

        (void) signal(SIGXCPU, SIG_IGN);
        (void) signal(SIGTERM, SIG_IGN);
        (void) pthread_create(&thread, NULL, burn_thread, NULL);
        burn(60);
        return escaped("60 seconds were burnt");
}

/* One short-lived child after the other: none of them reaches a limit of its own. */
static Verdict try_cpu_tree(char **args) {
        double end = now() + 60;

        while (now() < end) {
                pid_t pid = fork();

                if (pid == 0) {
                        burn(0.1);
                        _exit(0);
                }
                (void) waitpid(pid, NULL, 0);
        }
        return escaped("children burnt for 60 seconds");
}

static Verdict try_timeout(char **args) {
        sigset_t all;

        (void) sigfillset(&all);
        (void) sigprocmask(SIG_BLOCK, &all, NULL);
        for (int i = 0; i < 60; i++)
                (void) sleep(1);
        return escaped("60 seconds were slept");
}

/* Leaves a process behind that has nothing to do with us any more: other session, other group, all signals blocked. */
static Verdict try_daemon(char **args) {
        sigset_t all;

        (void) sigfillset(&all);
        if (fork() == 0) {
                (void) setsid();
                (void) sigprocmask(SIG_BLOCK, &all, NULL);
                if (fork() == 0) {
                        (void) prctl(PR_SET_NAME, "left-behind");
                        (void) close(STDIN_FILENO);
                        (void) close(STDOUT_FILENO);
                        (void) close(STDERR_FILENO);
                        wait_forever();
                }
                _exit(0);
        }
        return HELD;
}

/* clang-format off */
const Attempt limit_attempts[] = {
        { "limit-raise", try_raise, AS_BOTH,
          "hard limits cannot be raised without CAP_SYS_RESOURCE" },
        { "limit-unlimited", try_unlimited, AS_BOTH,
          "every limit that protects the host is set" },
        { "limit-processes", try_processes, AS_BOTH,
          "--pids holds the number of processes" },
        { "limit-threads", try_threads, AS_BOTH,
          "a thread counts as a process" },
        { "limit-fork-bomb", try_fork_bomb, AS_BOTH | IN_PROCESS,
          "a fork bomb stays within --pids and dies with the sandbox" },
        { "limit-memory", try_memory, AS_BOTH | IN_PROCESS,
          "--memory holds; the sandbox is killed and the report says why" },
        { "limit-memory-tree", try_memory_tree, AS_BOTH,
          "memory is counted over the whole tree" },
        { "limit-memory-shm", try_memory_shm, AS_BOTH | IN_PROCESS,
          "files in memory count as memory" },
        { "limit-memory-memfd", try_memory_memfd, AS_BOTH | IN_PROCESS,
          "files without a name count as memory" },
        { "limit-memory-kernel", try_memory_kernel, AS_BOTH | IN_PROCESS,
          "so do buffers in the kernel, or the number of descriptors ends it" },
        { "limit-inotify", try_inotify, AS_BOTH,
          "the host counts inotify instances by user, and the sandbox is a user of its own" },
        { "limit-signals", try_signals, AS_BOTH,
          "the same for queued signals" },
        { "limit-terminals", try_terminals, AS_BOTH,
          "terminals are one number for the whole host: the sandbox's part is small" },
        { "limit-descriptors", try_descriptors, AS_BOTH,
          "--nofile holds" },
        { "limit-disk", try_disk, AS_BOTH,
          "--disk holds over all places together, and is met as ENOSPC" },
        { "limit-disk-unlinked", try_disk_unlinked, AS_BOTH,
          "files without a name count as well" },
        { "limit-disk-allocate", try_disk_allocate, AS_BOTH,
          "so does space that was only reserved" },
        { "limit-inodes", try_inodes, AS_BOTH,
          "empty files end as well: the number of inodes has a limit" },
        { "limit-output", try_output, AS_BOTH | IN_PROCESS,
          "--output-limit holds over both streams, however they are written" },
        { "limit-cpu", try_cpu, AS_BOTH | IN_PROCESS,
          "--cpu-time holds, also when the signal is ignored" },
        { "limit-cpu-tree", try_cpu_tree, AS_BOTH,
          "CPU time is counted over the whole tree, the dead included" },
        { "limit-timeout", try_timeout, AS_BOTH,
          "--timeout ends a program that blocks every signal" },
        { "limit-daemon", try_daemon, AS_BOTH,
          "no process outlives the sandbox" },
        { NULL },
};
/* clang-format on */
