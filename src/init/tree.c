#include "init/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"

#define PROCESSES_FIRST 256
#define PROCESSES_MAX   (1u << 22) /* the kernel's own ceiling */
#define STOP_ROUNDS     64
#define PATIENT_ROUNDS  3 /* rounds without a pause; after them a stopped process is given time to notice */
#define PATIENCE_NSEC   (100 * 1000)

typedef struct Process {
        pid_t pid, parent, session;
        uint32_t n_threads;
        char state;
        bool member;
        bool stopped; /* got our SIGSTOP in an earlier round */
} Process;

typedef struct Scan {
        Process *list; /* ascending by pid, as in /proc */
        size_t n, room;
} Scan;

static void scan_done(Scan *s) {
        if (s->list)
                (void) munmap(s->list, s->room * sizeof(Process));
        *s = (Scan) { 0 };
}

static int scan_grow(Scan *s) {
        size_t room = s->room > 0 ? 2 * s->room : PROCESSES_FIRST;
        Process *list;

        if (room > PROCESSES_MAX)
                return -E2BIG;
        list = mmap(NULL, room * sizeof(Process), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (list == MAP_FAILED)
                return -errno;
        if (s->n > 0)
                memcpy(list, s->list, s->n * sizeof(Process));
        if (s->list)
                (void) munmap(s->list, s->room * sizeof(Process));
        s->list = list;
        s->room = room;
        return 0;
}

/* "pid (name) state parent group session tty foreground flags 4 faults 4 times priority nice threads …"; the
 * name may contain any character. False: the process is gone. */
static bool process_read(int proc_fd, const char *name, Process *ret) {
        char path[32], text[512];
        const char *p;
        ssize_t n;
        Process process = { .pid = (pid_t) strtol(name, NULL, 10) };

        (void) snprintf(path, sizeof(path), "%.16s/stat", name);
        n = file_read(proc_fd, path, text, sizeof(text));
        if (n < 0)
                return false;
        p = strrchr(text, ')');
        if (!p || sscanf(p + 1, " %c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %u", &process.state,
                                  &process.parent, &process.session, &process.n_threads) != 4)
                return false;
        *ret = process;
        return true;
}

static int scan_add(Scan *s, int proc_fd, const char *name) {
        if (*name < '0' || *name > '9')
                return 0;
        if (s->n == s->room) {
                int r = scan_grow(s);
                if (r < 0)
                        return r;
        }
        s->n += process_read(proc_fd, name, s->list + s->n);
        return 0;
}

static const Process *scan_find(const Scan *s, pid_t pid) {
        size_t low = 0, high = s->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (s->list[middle].pid == pid)
                        return s->list + middle;
                if (s->list[middle].pid < pid)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

/* By generations: a child may have a lower pid than its parent. */
static void scan_mark(Scan *s) {
        pid_t self = getpid(), session = getsid(0);
        bool changed;

        do {
                changed = false;
                for (size_t i = 0; i < s->n; i++) {
                        Process *p = s->list + i;
                        const Process *parent;

                        if (p->member || p->session == session)
                                continue;
                        parent = p->parent == self ? NULL : scan_find(s, p->parent);
                        if (p->parent != self && !(parent && parent->member))
                                continue;
                        p->member = changed = true;
                }
        } while (changed);
}

/* struct linux_dirent64 of the kernel; the C libraries hide it behind a DIR, which they allocate. */
typedef struct DirectoryEntry {
        uint64_t inode;
        int64_t offset;
        uint16_t size;
        uint8_t type;
        char name[];
} DirectoryEntry;

static int scan_read(Scan *ret) {
        _cleanup_close_ int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        Scan s = { 0 };

        if (proc_fd < 0)
                return -errno;
        for (;;) {
                _Alignas(DirectoryEntry) char entries[4096];
                long size = syscall(SYS_getdents64, proc_fd, entries, sizeof(entries));
                int r = size < 0 ? -errno : 0;

                if (size == 0)
                        break;
                for (long at = 0; at < size && r >= 0;) {
                        const DirectoryEntry *entry = (const DirectoryEntry *) (const void *) (entries + at);

                        r = scan_add(&s, proc_fd, entry->name);
                        at += entry->size;
                }
                if (r < 0) {
                        scan_done(&s);
                        return r;
                }
        }
        scan_mark(&s);
        *ret = s;
        return 0;
}

/* A leader that has ended is a zombie while any thread of its process lives. */
static bool init_tree_is_dead(const Process *p) {
        return (p->state == 'Z' || p->state == 'X') && p->n_threads <= 1;
}

/* A process with our SIGSTOP can fork no more: the kernel does not finish a fork while a signal is pending. But
 * only one of its threads may have noticed the signal, so the process must have been seen not to run. */
static bool is_still(const Process *p) {
        return p->stopped && p->state != 'R' && p->state != 'S';
}

/* Sends SIGSTOP in one round; returns how many processes may still run. */
static size_t stop_members(Scan *s, const Scan *before) {
        size_t n_running = 0;

        for (size_t i = 0; i < s->n; i++) {
                Process *p = s->list + i;
                const Process *earlier;

                if (!p->member || init_tree_is_dead(p))
                        continue;
                earlier = scan_find(before, p->pid);
                p->stopped = earlier && earlier->member;
                if (is_still(p))
                        continue;
                /* A pid is not reused that soon: the kernel goes round all pids first. */
                (void) kill(p->pid, SIGSTOP);
                n_running++;
        }
        return n_running;
}

static int signal_members(const Scan *s, int signal_number) {
        int n = 0;

        for (size_t i = 0; i < s->n; i++)
                if (s->list[i].member && !init_tree_is_dead(s->list + i)) {
                        (void) kill(s->list[i].pid, signal_number);
                        n++;
                }
        return n;
}

int tree_kill(void) {
        Scan before = { 0 }, scan = { 0 };
        int r;

        for (int round = 0; round < STOP_ROUNDS; round++) {
                r = scan_read(&scan);
                if (r < 0) {
                        (void) signal_members(&before, SIGKILL);
                        scan_done(&before);
                        return r;
                }
                if (stop_members(&scan, &before) == 0)
                        break;
                scan_done(&before);
                before = scan;
                scan = (Scan) { 0 };
                if (round >= PATIENT_ROUNDS)
                        (void) nanosleep(&(struct timespec) { .tv_nsec = PATIENCE_NSEC }, NULL);
        }
        r = signal_members(scan.list ? &scan : &before, SIGKILL);
        scan_done(&before);
        scan_done(&scan);
        return r;
}

int tree_signal(int signal_number) {
        Scan scan;
        int r = scan_read(&scan);

        if (r < 0)
                return r;
        r = signal_members(&scan, signal_number);
        scan_done(&scan);
        return r;
}

pid_t tree_parent(pid_t pid) {
        _cleanup_close_ int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char name[16];
        Process p;

        (void) snprintf(name, sizeof(name), "%d", pid);
        return proc_fd >= 0 && process_read(proc_fd, name, &p) ? p.parent : 0;
}

int tree_count_guests(void) {
        pid_t session = getsid(0);
        Scan scan;
        int r = scan_read(&scan), n = 0;

        if (r < 0)
                return r;
        for (size_t i = 0; i < scan.n; i++)
                n += scan.list[i].session != session && !init_tree_is_dead(scan.list + i);
        scan_done(&scan);
        return n;
}
