/* processes.c: the processes of a sandbox, read from outside.
 *
 * Every user may read /proc/PID/stat and /proc/PID/task/TID/children. A process that ends between two reads is left
 * out. The guest chooses the names of its processes. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fd.h"
#include "base/macro.h"
#include "reaper/diagnosis-internal.h"

#define PROCESSES_MAX 512 /* the most that are read */
#define CHILDREN_BYTES 16384

typedef struct ProcessesWalk {
        int pids[PROCESSES_MAX];
        size_t n, next;
} ProcessesWalk;

static ssize_t processes_read_file(const char *path, char *buffer, size_t size) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, buffer, size - 1);

        if (n >= 0)
                buffer[n] = '\0';
        return n;
}

static int add_children(ProcessesWalk *w, int pid, int tid) {
        char path[64], text[CHILDREN_BYTES], *rest = text;
        ssize_t n;

        (void) snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
        n = processes_read_file(path, text, sizeof(text));
        if (n < 0)
                return -ENOENT;
        for (long child; (child = strtol(rest, &rest, 10)) > 0 && w->n < PROCESSES_MAX;)
                w->pids[w->n++] = (int) child;
        return 0;
}

/* Each thread has its own children. */
static int add_all_children(ProcessesWalk *w, int pid) {
        _cleanup_directory_ DIR *tasks = NULL;
        const struct dirent *entry;
        char path[64];
        int r = -ENOENT;

        (void) snprintf(path, sizeof(path), "/proc/%d/task", pid);
        tasks = directory_open(AT_FDCWD, path);
        while ((entry = directory_next(tasks)))
                if (add_children(w, pid, atoi(entry->d_name)) >= 0)
                        r = 0;
        return r;
}

static unsigned *processes_counter_of(ProcessCount *c, char state) {
        switch (state) {
        case 'R': return &c->running;
        case 'D': return &c->blocked;
        case 'T':
        case 't': return &c->stopped;
        case 'Z':
        case 'X': return &c->zombies;
        default: return &c->sleeping;
        }
}

static void read_channel(int pid, ProcessCount *c) {
        char path[64];

        (void) snprintf(path, sizeof(path), "/proc/%d/wchan", pid);
        if (processes_read_file(path, c->wait_channel, sizeof(c->wait_channel)) <= 0 || strcmp(c->wait_channel, "0") == 0)
                c->wait_channel[0] = '\0';
}

/* "pid (name) state ppid …"; fields 14 and 15 are the CPU time. The name may contain any character, also
 * parentheses. */
static void processes_look_at(int pid, ProcessCount *c, uint64_t *most) {
        char path[64], text[1024], state;
        const char *open, *close;
        unsigned long user, system;

        (void) snprintf(path, sizeof(path), "/proc/%d/stat", pid);
        if (processes_read_file(path, text, sizeof(text)) <= 0)
                return;
        open = strchr(text, '(');
        close = strrchr(text, ')');
        if (!open || !close || close < open ||
                        sscanf(close + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &state, &user, &system) != 3)
                return;
        if (strncmp(open, "(cove-shim)", 11) == 0 || strncmp(open, "(cove-worker)", 13) == 0)
                return;
        c->total++;
        ++*processes_counter_of(c, state);
        c->ticks += user + system;
        if (c->busiest != 0 && user + system <= *most)
                return;
        *most = user + system;
        c->busiest = pid;
        c->state = state;
        (void) snprintf(c->name, sizeof(c->name), "%.*s", (int) MIN_OF(close - open - 1, (ptrdiff_t) 31), open + 1);
}

void processes_read(int pid_one, ProcessCount *ret) {
        ProcessesWalk w = { .pids = { pid_one }, .n = 1 };
        uint64_t most = 0;

        memset(ret, 0, sizeof(*ret));
        if (pid_one <= 0)
                return;
        for (; w.next < w.n; w.next++) {
                int pid = w.pids[w.next], r = add_all_children(&w, pid);

                if (w.next == 0)
                        ret->known = r >= 0;
                else
                        processes_look_at(pid, ret, &most);
        }
        if (ret->busiest > 0)
                read_channel(ret->busiest, ret);
}
