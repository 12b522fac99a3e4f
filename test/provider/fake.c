/* fake.c: the provider of the unit tests (world.h), which records what it is asked, and here does it as well: commands are processes of this machine, files
 * are its files. It has the mandatory contract only, by descriptors of its own, as a remote provider would. What it makes outlives it, as sandboxes do. */

#include <dirent.h>
#include <ftw.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <utlist.h>

#include "../unit/world.h"
#include "conformance.h"

#define PIPE_CHUNK 65536

typedef struct Actor Actor;

/* A command, which lives on when the daemon does not. */
typedef struct Process {
        char id[SANDBOX_ID_LENGTH + 1];
        uint64_t number, output_max;
        usec_t started;
        pid_t pid;
        int pipes[_STREAM_MAX], journals[_STREAM_MAX], input;
        int wait_status;
        struct rusage used;
        bool told, ended, timed_out;
        ProviderEnd end;
        ProviderNotStarted failure; /* error 0: it started */
        usec_t deadline, kill_at; /* 0: none */
        struct Process *prev, *next;
} Process;

typedef struct Place {
        char id[SANDBOX_ID_LENGTH + 1];
        struct Place *prev, *next;
} Place;

/* An event that is told in the next turn of the loop. */
typedef struct Later {
        enum { LATER_UP, LATER_CREATED, LATER_DESTROYED, LATER_ADOPTED, LATER_LISTED, LATER_STDIN } kind;
        char id[SANDBOX_ID_LENGTH + 1];
        uint64_t number;
        struct Later *prev, *next;
} Later;

typedef struct Writing {
        FileOp *op;
        FileRequest request;
        int pipe, temporary;
        bool committed;
        int error;
        struct Writing *prev, *next;
} Writing;

struct Actor {
        Fake fake;
        sd_event_source *clock; /* looks at everything, each few milliseconds */
        Sandbox *sandbox; /* the one that is known */
        Later *laters;
        Writing *writings;
        bool stopping;
};

static Process *processes;
static Place *places;

static Place *place_find(const char *id) {
        Place *p;

        DL_FOREACH(places, p)
                if (strcmp(p->id, id) == 0)
                        return p;
        return NULL;
}

static Process *process_find(const char *id, uint64_t number) {
        Process *p;

        DL_FOREACH(processes, p)
                if (strcmp(p->id, id) == 0 && p->number == number)
                        return p;
        return NULL;
}

static int later(Provider *p, int kind, const char *id, uint64_t number) {
        Later *l = calloc(1, sizeof(*l));

        if (!l)
                return -ENOMEM;
        l->kind = kind;
        l->number = number;
        (void) snprintf(l->id, sizeof(l->id), "%s", id);
        DL_APPEND(((Actor *) p)->laters, l);
        return 0;
}

/* Sandboxes */

static int act_create(Provider *p, Sandbox *sb, Error *reterr) {
        Place *place = calloc(1, sizeof(*place));
        Actor *a = (Actor *) p;

        a->fake.created = sb;
        a->fake.n_created++;
        a->sandbox = sb;
        memcpy(place->id, sb->id, sizeof(place->id));
        DL_APPEND(places, place);
        return later(p, LATER_CREATED, sb->id, 0);
}

static int act_adopt(Provider *p, Sandbox *sb) {
        int r = fake_adopt(p, sb);

        if (r < 0 || !place_find(sb->id))
                return r < 0 ? r : -ECONNREFUSED;
        ((Actor *) p)->sandbox = sb;
        return later(p, LATER_ADOPTED, sb->id, 0);
}

static void process_free(Process *x) {
        DL_DELETE(processes, x);
        for (int i = 0; i < _STREAM_MAX; i++) {
                (void) fd_close(x->pipes[i]);
                (void) fd_close(x->journals[i]);
        }
        (void) fd_close(x->input);
        free(x);
}

static int act_destroy(Provider *p, const char *id, Sandbox *sb) {
        Place *place = place_find(id);
        Process *x, *next;

        (void) fake_destroy(p, id, sb);
        DL_FOREACH_SAFE(processes, x, next)
                if (strcmp(x->id, id) == 0) {
                        if (x->pid > 0 && !x->ended) {
                                (void) kill(-x->pid, SIGKILL);
                                (void) waitpid(x->pid, NULL, 0);
                        }
                        process_free(x);
                }
        if (place) {
                DL_DELETE(places, place);
                free(place);
        }
        return later(p, LATER_DESTROYED, id, 0);
}

static int act_list(Provider *p) {
        (void) fake_list(p);
        return later(p, LATER_LISTED, "", 0);
}

static int act_stop(Provider *p, Sandbox *sb, usec_t grace) {
        Process *x;

        (void) fake_stop(p, sb, grace);
        ((Actor *) p)->stopping = true;
        DL_FOREACH(processes, x)
                if (strcmp(x->id, sb->id) == 0 && !x->ended) {
                        (void) kill(-x->pid, SIGTERM);
                        x->kill_at = clock_usec() + grace;
                }
        return 0;
}

/* Commands */

static void child_run(const ProviderCommand *c, int input, const int outputs[static _STREAM_MAX], int report) {
        int failure[2] = { PROVIDER_FAILURE_COMMAND, 0 };

        (void) setsid();
        if (dup2(input, 0) < 0 || dup2(outputs[STREAM_STDOUT], 1) < 0 || dup2(outputs[STREAM_STDERR], 2) < 0)
                _exit(1);
        if (chdir(c->cwd) < 0)
                failure[0] = PROVIDER_FAILURE_WORKDIR;
        else
                (void) execve(c->args->items[0], c->args->items, c->env->items ? c->env->items : (char *[]) { NULL });
        failure[1] = errno;
        (void) !write(report, failure, sizeof(failure));
        _exit(1);
}

static int process_start(Process *x, const ProviderCommand *c) {
        int report[2], input[2], outputs[_STREAM_MAX][2], failure[2] = { 0, 0 };

        if (pipe2(report, O_CLOEXEC) < 0 || pipe2(input, O_CLOEXEC) < 0 || pipe2(outputs[0], O_CLOEXEC) < 0 || pipe2(outputs[1], O_CLOEXEC) < 0)
                return -errno;
        x->pid = fork();
        if (x->pid == 0)
                child_run(c, input[0], (int[]) { outputs[0][1], outputs[1][1] }, report[1]);
        (void) close(report[1]);
        (void) close(input[0]);
        x->input = c->stdin_open ? input[1] : fd_close(input[1]);
        for (int i = 0; i < _STREAM_MAX; i++) {
                (void) close(outputs[i][1]);
                x->pipes[i] = outputs[i][0];
                (void) fcntl(x->pipes[i], F_SETFL, O_NONBLOCK);
                x->journals[i] = fcntl(c->journals[i], F_DUPFD_CLOEXEC, 0);
        }
        (void) !read(report[0], failure, sizeof(failure));
        (void) close(report[0]);
        x->failure = (ProviderNotStarted) { .number = x->number, .kind = (ProviderFailure) failure[0], .error = failure[1], .step = "exec", .detail = "" };
        return 0;
}

static int act_exec(Provider *p, Sandbox *sb, const ProviderCommand *c) {
        Process *x = calloc(1, sizeof(*x));

        if (!x || !place_find(sb->id)) {
                free(x);
                return -ENOTCONN;
        }
        (void) fake_exec(p, sb, c);
        *x = (Process) { .number = c->number, .output_max = c->output_max, .started = clock_usec(), .input = -EBADF };
        memcpy(x->id, sb->id, sizeof(x->id));
        x->deadline = c->timeout_usec > 0 ? x->started + c->timeout_usec : 0;
        DL_APPEND(processes, x);
        return process_start(x, c);
}

static int act_signal(Provider *p, Sandbox *sb, uint64_t number, int signal_number) {
        Process *x = process_find(sb->id, number);

        (void) fake_signal(p, sb, number, signal_number);
        if (x && !x->ended)
                (void) kill(-x->pid, signal_number);
        return 0;
}

static int act_forget(Provider *p, Sandbox *sb, uint64_t number) {
        Process *x = process_find(sb->id, number);

        (void) fake_forget(p, sb, number);
        if (x && x->ended)
                process_free(x);
        return 0;
}

static int act_stdin_open(Provider *p, Sandbox *sb, uint64_t number) {
        return later(p, LATER_STDIN, sb->id, number);
}

static int act_stdin_close(Provider *p, Sandbox *sb, uint64_t number) {
        Process *x = process_find(sb->id, number);

        if (x)
                x->input = fd_close(x->input);
        return 0;
}

static void process_copy(Process *x, ExecutionStream s) {
        char chunk[PIPE_CHUNK];
        ssize_t n;

        while (x->pipes[s] >= 0 && (n = read(x->pipes[s], chunk, sizeof(chunk))) > 0) {
                ExecutionJournal *j = x->end.journals + s;
                size_t room = (size_t) (x->output_max - j->bytes), kept = (size_t) n < room ? (size_t) n : room;

                check_int("journal", write(x->journals[s], chunk, kept), (intmax_t) kept);
                j->bytes += kept;
                j->truncated = j->truncated || kept < (size_t) n;
        }
}

static void process_finish(Process *x) {
        for (ExecutionStream s = 0; s < _STREAM_MAX; s++)
                process_copy(x, s);
        (void) kill(-x->pid, SIGKILL);
        x->ended = true;
        x->input = fd_close(x->input);
        x->end.number = x->number;
        x->end.exit_code = WIFEXITED(x->wait_status) ? WEXITSTATUS(x->wait_status) : -1;
        x->end.signal = WIFEXITED(x->wait_status) ? 0 : WTERMSIG(x->wait_status);
        x->end.timed_out = x->timed_out;
        x->end.wall_usec = clock_usec() - x->started;
        x->end.user_usec = (usec_t) x->used.ru_utime.tv_sec * USEC_PER_SEC + (usec_t) x->used.ru_utime.tv_usec;
        x->end.system_usec = (usec_t) x->used.ru_stime.tv_sec * USEC_PER_SEC + (usec_t) x->used.ru_stime.tv_usec;
}

static void process_tell(Actor *a, Process *x) {
        const ProviderEvents *e = a->fake.provider.events;

        if (!a->sandbox || strcmp(a->sandbox->id, x->id) != 0)
                return;
        if (x->failure.error != 0) {
                (void) waitpid(x->pid, NULL, 0);
                e->exec_failed(a->sandbox, &x->failure, a->fake.provider.userdata);
                process_free(x);
                return;
        }
        if (!x->told)
                e->exec_started(a->sandbox, x->number, x->pid, a->fake.provider.userdata);
        x->told = true;
        if (x->ended)
                e->exec_exited(a->sandbox, &x->end, a->fake.provider.userdata);
}

static void process_look(Actor *a, Process *x) {
        usec_t now = clock_usec();

        if (x->ended)
                return;
        for (ExecutionStream s = 0; s < _STREAM_MAX; s++)
                process_copy(x, s);
        if ((x->deadline > 0 && now >= x->deadline) || (x->kill_at > 0 && now >= x->kill_at)) {
                x->timed_out = x->deadline > 0 && now >= x->deadline;
                (void) kill(-x->pid, SIGKILL);
        }
        if (x->failure.error == 0 && wait4(x->pid, &x->wait_status, WNOHANG, &x->used) == x->pid)
                process_finish(x);
        if (!x->told || x->ended)
                process_tell(a, x);
}

/* Files */

static void entry_of(const char *path, const char *name, FileEntry *ret) {
        struct stat st;

        *ret = (FileEntry) { 0 };
        (void) snprintf(ret->path, sizeof(ret->path), "%s", name);
        if (lstat(path, &st) < 0)
                return;
        ret->mode = st.st_mode;
        ret->size = (uint64_t) st.st_size;
}

static int act_remove_item(const char *path, const struct stat *st, int type, struct FTW *at) {
        return remove(path) < 0 ? -1 : 0;
}

/* All but a write: a negative errno, or the count. */
static int file_act(FileOp *op, const FileRequest *q) {
        _cleanup_close_ int fd = -EBADF;
        struct dirent *item;
        FileEntry entry;
        int n = 0;
        DIR *d;

        switch (q->operation) {
        case FILE_MKDIR:
                if (mkdir(q->path, 0777) < 0)
                        return -errno;
                break;
        case FILE_MOVE:
                if (rename(q->path, q->target) < 0)
                        return -errno;
                break;
        case FILE_REMOVE:
                if ((q->flags & FILE_RECURSIVE ? nftw(q->path, act_remove_item, 16, FTW_DEPTH | FTW_PHYS) : remove(q->path)) < 0)
                        return errno == ENOENT && (q->flags & FILE_MISSING_OK) ? 0 : -errno;
                return 1;
        case FILE_READ:
                fd = open(q->path, O_RDONLY | O_CLOEXEC);
                if (fd < 0)
                        return -errno;
                break;
        case FILE_LIST:
                d = opendir(q->path);
                if (!d)
                        return -errno;
                while ((item = readdir(d)))
                        if (item->d_name[0] != '.') {
                                char path[FILE_PATH_BYTES + 300];

                                (void) snprintf(path, sizeof(path), "%s/%s", q->path, item->d_name);
                                entry_of(path, item->d_name, &entry);
                                fileop_on_entry(op, &entry, -EBADF);
                                n++;
                        }
                (void) closedir(d);
                return n;
        case FILE_STAT:
                if (access(q->path, F_OK) < 0)
                        return -errno;
                break;
        default:
                return -EOPNOTSUPP;
        }
        entry_of(q->operation == FILE_MOVE ? q->target : q->path, q->operation == FILE_MOVE ? q->target : q->path, &entry);
        fileop_on_entry(op, &entry, TAKE_FD(fd));
        return 1;
}

static int act_file_start(Provider *p, Sandbox *sb, const FileRequest *request, int data_fd, FileOp *op) {
        Writing *w = calloc(1, sizeof(*w));

        if (!w)
                return -ENOMEM;
        *w = (Writing) { .op = op, .request = *request, .temporary = -EBADF, .pipe = data_fd >= 0 ? fcntl(data_fd, F_DUPFD_CLOEXEC, 0) : -EBADF };
        if (w->pipe >= 0) {
                w->temporary = memfd_create("fake", MFD_CLOEXEC);
                (void) fcntl(w->pipe, F_SETFL, O_NONBLOCK);
        }
        fileop_set_provider_data(op, w);
        DL_APPEND(((Actor *) p)->writings, w);
        return 0;
}

static int act_file_commit(Provider *p, FileOp *op) {
        ((Writing *) fileop_provider_data(op))->committed = true;
        return 0;
}

static void act_file_end(Provider *p, FileOp *op) {
        Writing *w = fileop_provider_data(op);

        w->op = NULL; /* freed in the next turn */
}

/* What is read from the pipe so far. */
static void writing_copy(Writing *w) {
        char chunk[PIPE_CHUNK];
        ssize_t n;

        while (w->pipe >= 0 && (n = read(w->pipe, chunk, sizeof(chunk))) > 0)
                if (write(w->temporary, chunk, (size_t) n) != n)
                        w->error = -EIO;
}

static int writing_make_parents(const char *path) {
        char parent[FILE_PATH_BYTES], *slash;

        (void) snprintf(parent, sizeof(parent), "%s", path);
        slash = strrchr(parent, '/');
        *slash = '\0';
        return mkdir(parent, 0777) < 0 && errno != EEXIST ? -errno : 0;
}

static int writing_place(const Writing *w) {
        const FileRequest *q = &w->request;
        _cleanup_close_ int fd = -EBADF;
        struct stat st;

        if (w->error < 0)
                return w->error;
        if (q->flags & FILE_PARENTS && writing_make_parents(q->path) < 0)
                return -errno;
        fd = open(q->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | (q->flags & FILE_NO_REPLACE ? O_EXCL : 0), 0666);
        if (fd < 0)
                return -errno;
        if (fstat(w->temporary, &st) < 0)
                return -errno;
        for (off_t at = 0; at < st.st_size;) {
                char chunk[PIPE_CHUNK];
                ssize_t n = pread(w->temporary, chunk, sizeof(chunk), at);

                if (n <= 0 || write(fd, chunk, (size_t) n) != n)
                        return -EIO;
                at += n;
        }
        return 0;
}

static void writing_free(Actor *a, Writing *w) {
        DL_DELETE(a->writings, w);
        (void) fd_close(w->pipe);
        (void) fd_close(w->temporary);
        free(w);
}

static void writing_look(Actor *a, Writing *w) {
        bool write_ = w->request.operation == FILE_WRITE;
        FileEntry entry;
        int r;

        if (w->op && write_)
                writing_copy(w);
        if (w->op && (!write_ || w->committed)) {
                r = write_ ? writing_place(w) : file_act(w->op, &w->request);
                if (r >= 0 && write_) {
                        entry_of(w->request.path, w->request.path, &entry);
                        fileop_on_entry(w->op, &entry, -EBADF);
                }
                if (w->op && r < 0)
                        fileop_on_failed(w->op, r, w->request.path);
                else if (w->op)
                        fileop_on_end(w->op, (uint64_t) r);
        }
        if (!w->op)
                writing_free(a, w);
}

/* The turn of the loop in which everything is told. */

static void tell_listed(Actor *a) {
        const Provider *p = &a->fake.provider;
        Place *place;

        DL_FOREACH(places, place)
                p->events->listed(place->id, p->userdata);
        p->events->listed(NULL, p->userdata);
}

static void tell_adopted(Actor *a) {
        const Provider *p = &a->fake.provider;
        Process *x, *next;

        DL_FOREACH_SAFE(processes, x, next)
                if (strcmp(x->id, a->sandbox->id) == 0) {
                        x->told = false;
                        process_look(a, x);
                        if (x->ended && !x->told)
                                process_tell(a, x);
                }
        p->events->adopted(a->sandbox, NULL, p->userdata);
}

static void tell_stdin(Actor *a, const Later *l) {
        const Provider *p = &a->fake.provider;
        Process *x = process_find(l->id, l->number);
        int fd = x && x->input >= 0 ? fcntl(x->input, F_DUPFD_CLOEXEC, 0) : -EBADF;

        p->events->exec_stdin(a->sandbox, l->number, fd < 0 ? (x ? EBADF : ESRCH) : 0, fd, p->userdata);
}

static void tell_later(Actor *a, const Later *l) {
        const Provider *p = &a->fake.provider;

        switch (l->kind) {
        case LATER_UP:
                p->events->up(&a->fake.provider, p->userdata);
                break;
        case LATER_CREATED:
                p->events->created(a->sandbox, 0, 0, 0, NULL, p->userdata);
                break;
        case LATER_DESTROYED:
                p->events->destroyed(l->id, NULL, p->userdata);
                break;
        case LATER_ADOPTED:
                tell_adopted(a);
                break;
        case LATER_LISTED:
                tell_listed(a);
                break;
        case LATER_STDIN:
                tell_stdin(a, l);
                break;
        }
}

static bool something_runs(const Actor *a) {
        const Process *x;

        DL_FOREACH(processes, x)
                if (a->sandbox && strcmp(x->id, a->sandbox->id) == 0 && !x->ended)
                        return true;
        return false;
}

static int on_turn(sd_event_source *source, uint64_t usec, void *userdata) {
        Actor *a = userdata;
        Process *x, *next_x;
        Writing *w, *next_w;

        while (a->laters) {
                Later *l = a->laters;

                DL_DELETE(a->laters, l);
                tell_later(a, l);
                free(l);
        }
        DL_FOREACH_SAFE(processes, x, next_x)
                process_look(a, x);
        DL_FOREACH_SAFE(a->writings, w, next_w)
                writing_look(a, w);
        if (a->stopping && !something_runs(a)) {
                a->stopping = false;
                a->fake.provider.events->stopped(a->sandbox, a->fake.provider.userdata);
        }
        (void) sd_event_source_set_time_relative(source, 2 * USEC_PER_MSEC);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static void act_release(Provider *p, Sandbox *sb) {
        Actor *a = (Actor *) p;

        fake_release(p, sb);
        if (a->sandbox == sb)
                a->sandbox = NULL;
}

static Provider *act_free(Provider *p) {
        Actor *a = (Actor *) p;
        Writing *w, *next_w;
        Later *l, *next_l;

        DL_FOREACH_SAFE(a->writings, w, next_w)
                writing_free(a, w);
        DL_FOREACH_SAFE(a->laters, l, next_l)
                free(l);
        a->clock = sd_event_source_disable_unref(a->clock);
        a->fake.last_journal = fd_close(a->fake.last_journal);
        for (size_t i = 0; i < ELEMENTSOF(a->fake.asked); i++)
                if (a->fake.asked[i].sandbox)
                        (void) fd_close(a->fake.asked[i].journal);
        free(a);
        return NULL;
}

static const ProviderOps act_ops = {
        .name = "fake",
        .create = act_create,
        .adopt = act_adopt,
        .destroy = act_destroy,
        .list = act_list,
        .stop = act_stop,
        .usage = fake_usage,
        .segment = fake_segment,
        .exec = act_exec,
        .signal = act_signal,
        .forget = act_forget,
        .stdin_open = act_stdin_open,
        .stdin_close = act_stdin_close,
        .file_start = act_file_start,
        .file_commit = act_file_commit,
        .file_pause = fake_file_pause,
        .file_end = act_file_end,
        .release = act_release,
        .free = act_free,
};

static Provider *act_make(sd_event *event, const char *state_dir, Error *reterr) {
        Actor *a = calloc(1, sizeof(*a));

        if (!a)
                return NULL;
        a->fake.provider.ops = &act_ops;
        a->fake.last_journal = -EBADF;
        (void) sd_event_add_time_relative(event, &a->clock, CLOCK_MONOTONIC, 0, 1, on_turn, a);
        (void) later(&a->fake.provider, LATER_UP, "", 0);
        return &a->fake.provider;
}

static const char *act_workdir(void) {
        static char path[512];

        if (!path[0]) {
                (void) snprintf(path, sizeof(path), "%s", unit_path("inside"));
                (void) mkdir(path, 0700);
        }
        return path;
}

const ProviderFactory provider_factory = { .make = act_make, .workdir = act_workdir };
