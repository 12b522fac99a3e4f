/* world.h: the objects of the core, over a real store, with a provider that does what the test says. */
#pragma once

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "config/config.h"
#include "core/internal.h"
#include "store/store.h"

/* A provider that remembers what it was asked. */

typedef struct Fake {
        Provider provider;
        Sandbox *created, *frozen, *thawed, *stopped, *adopted;
        char destroyed[64][SANDBOX_ID_LENGTH + 1];
        unsigned n_created, n_destroyed, n_exec, n_forgotten, n_signals;
        uint64_t last_exec;
        int last_journal; /* where its output would go; ours to close */
        ProviderSegment segment; /* NEVER: output goes to journals */
        int segment_fds[_STREAM_MAX]; /* of the sandbox that brought it last; ours to close */
        struct {
                const Sandbox *sandbox;
                uint64_t exec;
                int journal;
        } asked[32]; /* the last ones, each once for its sandbox */
        int last_signal;
        int adopt_result;
        unsigned n_listed;
        SandboxUsage usage;
        bool row_was_there; /* when it was asked to create */
        TreeRequest tree;   /* the last that was asked, */
        uint64_t tree_token, tree_cancelled;
        unsigned n_trees;
        int tree_fds[4];    /* of a RUN: ours to close */
        int tree_result;    /* what asking gives */
        int freeze_result, destroy_result; /* likewise */
} Fake;

typedef struct World {
        sd_event *event;
        Store *store;
        Access *access;
        Manager *manager;
        Config *settings;
        Fake fake;
        char state[512];
} World;

__attribute__((unused)) static World *the_world; /* for callbacks that get nothing else */

static inline int find_row(Sandbox *row, void *userdata) {
        bool *found = userdata;

        *found = true;
        return 0;
}

static inline int fake_create(Provider *p, Sandbox *sb, Error *reterr) {
        Fake *f = (Fake *) p;

        f->created = sb;
        f->n_created++;
        (void) store_sandbox_each(sb->manager->store, find_row, &f->row_was_there);
        return 0;
}

static inline int fake_adopt(Provider *p, Sandbox *sb) {
        Fake *f = (Fake *) p;

        f->adopted = sb;
        return f->adopt_result;
}

static inline int fake_destroy(Provider *p, const char *id, Sandbox *sb) {
        Fake *f = (Fake *) p;

        (void) snprintf(f->destroyed[f->n_destroyed++ % 64], SANDBOX_ID_LENGTH + 1, "%s", id);
        return f->destroy_result;
}

static inline int fake_freeze(Provider *p, Sandbox *sb, bool freeze) {
        Fake *f = (Fake *) p;

        if (f->freeze_result >= 0)
                *(freeze ? &f->frozen : &f->thawed) = sb;
        return f->freeze_result;
}

static inline int fake_stop(Provider *p, Sandbox *sb, usec_t grace) {
        ((Fake *) p)->stopped = sb;
        return 0;
}

static inline void fake_remember(Fake *f, const Sandbox *sb, uint64_t exec, int journal) {
        size_t i = 0, free_one = ELEMENTSOF(f->asked);

        for (; i < ELEMENTSOF(f->asked) && f->asked[i].sandbox != sb; i++)
                if (!f->asked[i].sandbox && free_one == ELEMENTSOF(f->asked))
                        free_one = i;
        i = i < ELEMENTSOF(f->asked) ? i : free_one < ELEMENTSOF(f->asked) ? free_one : 0;
        if (f->asked[i].sandbox)
                (void) fd_close(f->asked[i].journal);
        f->asked[i].sandbox = sb;
        f->asked[i].exec = exec;
        f->asked[i].journal = fcntl(journal, F_DUPFD_CLOEXEC, 0);
}

/* The number of what it was asked last for this sandbox; 0: nothing. With text, that is its output. */
static inline uint64_t fake_asked(Fake *f, const Sandbox *sb, const char *text) {
        for (size_t i = 0; i < ELEMENTSOF(f->asked); i++)
                if (f->asked[i].sandbox == sb) {
                        check_int("said", write(f->asked[i].journal, text, strlen(text)), (intmax_t) strlen(text));
                        return f->asked[i].exec;
                }
        return 0;
}

static inline ProviderSegment fake_segment(Provider *p, const Sandbox *sb) {
        return ((Fake *) p)->segment;
}

static inline int fake_exec(Provider *p, Sandbox *sb, const ProviderCommand *c) {
        Fake *f = (Fake *) p;

        f->n_exec++;
        f->last_exec = c->number;
        if (c->segment) {
                for (int i = 0; i < _STREAM_MAX && f->segment == PROVIDER_SEGMENT_WANTED; i++) {
                        (void) fd_close(f->segment_fds[i]);
                        f->segment_fds[i] = fcntl(c->journals[i], F_DUPFD_CLOEXEC, 0);
                }
                f->segment = PROVIDER_SEGMENT_KEPT;
                return 0;
        }
        (void) fd_close(f->last_journal);
        f->last_journal = fcntl(c->journals[STREAM_STDOUT], F_DUPFD_CLOEXEC, 0);
        fake_remember(f, sb, c->number, c->journals[STREAM_STDOUT]);
        check_true("journals", (c->journals[STREAM_STDERR] < 0) == c->pty);
        return 0;
}

static inline int fake_signal(Provider *p, Sandbox *sb, uint64_t number, int signal_number) {
        Fake *f = (Fake *) p;

        f->n_signals++;
        f->last_signal = signal_number;
        return 0;
}

static inline int fake_forget(Provider *p, Sandbox *sb, uint64_t number) {
        ((Fake *) p)->n_forgotten++;
        return 0;
}

static inline int fake_stdin(Provider *p, Sandbox *sb, uint64_t number) {
        return 0;
}

static inline int fake_resize(Provider *p, Sandbox *sb, uint64_t number, uint16_t columns, uint16_t rows) {
        return 0;
}

static inline int fake_keep(Provider *p, Sandbox *sb, int pid, const int *fds, const char *text) {
        return 0;
}

static inline int fake_ask_kept(Provider *p, Sandbox *sb, unsigned number) {
        return 0;
}

static inline int fake_kill(Provider *p, Sandbox *sb, int pid, int signal_number) {
        return 0;
}

/* Files: what is asked is taken and never answered. */

static inline int fake_file_start(Provider *p, Sandbox *sb, const FileRequest *request, int data_fd, FileOp *op) {
        return 0;
}

static inline int fake_file_commit(Provider *p, FileOp *op) {
        return 0;
}

static inline int fake_file_pause(Provider *p, FileOp *op, bool pause) {
        return 0;
}

static inline void fake_file_end(Provider *p, FileOp *op) {
}

static inline int fake_usage(Provider *p, Sandbox *sb, SandboxUsage *ret) {
        *ret = ((Fake *) p)->usage;
        return 0;
}

static inline int fake_list(Provider *p) {
        ((Fake *) p)->n_listed++;
        return 0;
}

static inline int fake_tree(Provider *p, const TreeRequest *request, const int *fds, uint64_t token) {
        Fake *f = (Fake *) p;

        if (f->tree_result < 0)
                return f->tree_result;
        f->n_trees++;
        f->tree = *request;
        f->tree_token = token;
        for (size_t i = 0; fds && i < ELEMENTSOF(f->tree_fds); i++)
                f->tree_fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
        return 0;
}

static inline int fake_tree_cancel(Provider *p, uint64_t token) {
        ((Fake *) p)->tree_cancelled = token;
        return 0;
}

static inline void fake_release(Provider *p, Sandbox *sb) {
}

static const ProviderOps fake_ops = {
        .name = "fake",
        .create = fake_create,
        .adopt = fake_adopt,
        .destroy = fake_destroy,
        .list = fake_list,
        .stop = fake_stop,
        .usage = fake_usage,
        .segment = fake_segment,
        .exec = fake_exec,
        .signal = fake_signal,
        .forget = fake_forget,
        .stdin_open = fake_stdin,
        .stdin_close = fake_stdin,
        .file_start = fake_file_start,
        .file_commit = fake_file_commit,
        .file_pause = fake_file_pause,
        .file_end = fake_file_end,
        .release = fake_release,
};

static const ProviderPause fake_pause = { .freeze = fake_freeze };
static const ProviderTerminals fake_terminals = { .resize = fake_resize };
static const ProviderTrees fake_trees = { .ask = fake_tree, .cancel = fake_tree_cancel };
static const ProviderChannels fake_channels = { .open = fake_stdin, .keep = fake_keep, .ask_kept = fake_ask_kept, .kill = fake_kill };

static const Principal admin = { .kind = PRINCIPAL_ADMIN };

/* The daemon's objects over a store that may have been there before. */
static inline void world_open(World *w) {
        const ManagerConfig config = {
                .state_dir = w->state,
                .journal_total_bytes = 1 << 20,
                .keep_ended_usec = 3600 * USEC_PER_SEC,
                .sandboxes_max = 16,
        };
        char path[600];
        Error error = { 0 };

        memset(&w->fake, 0, sizeof(w->fake));
        w->fake.provider = (Provider) {
                .ops = &fake_ops,
                .pause = &fake_pause,
                .terminals = &fake_terminals,
                .trees = &fake_trees,
                .layers = &fake_trees,
                .disks = &fake_trees,
                .channels = &fake_channels,
        };
        w->fake.last_journal = w->fake.segment_fds[0] = w->fake.segment_fds[1] = -EBADF;
        (void) snprintf(path, sizeof(path), "%s/cove.db", w->state);
        check_result("loop", sd_event_new(&w->event) < 0, 0);
        check_result("store", store_open(path, &w->store, &error), 0);
        check_result("access", access_new(w->store, w->state, &w->access, &error), 0);
        check_result("settings", config_defaults(&w->settings), 0);
        check_result("manager", manager_new(&config, w->settings, w->event, w->store, w->access, &w->manager, &error), 0);
        manager_set_provider(w->manager, &w->fake.provider);
        the_world = w;
}

static inline void world_close(World *w) {
        w->manager = manager_free(w->manager);
        w->settings = config_free(w->settings);
        w->access = access_free(w->access);
        w->store = store_close(w->store);
        w->event = sd_event_unref(w->event);
        w->fake.last_journal = fd_close(w->fake.last_journal);
        for (int i = 0; i < _STREAM_MAX; i++)
                w->fake.segment_fds[i] = fd_close(w->fake.segment_fds[i]);
        for (size_t i = 0; i < ELEMENTSOF(w->fake.asked); i++)
                if (w->fake.asked[i].sandbox)
                        (void) fd_close(w->fake.asked[i].journal);
}

/* Recovered: nothing was there. */
static inline void world_up(World *w) {
        const ProviderEvents *e = w->fake.provider.events;

        e->up(&w->fake.provider, w->manager);
        e->listed(NULL, w->manager);
}

static inline void world_new(World *w, const char *name) {
        char path[600];

        memset(w, 0, sizeof(*w));
        (void) snprintf(w->state, sizeof(w->state), "%s", unit_path(name));
        (void) mkdir(w->state, 0700);
        (void) snprintf(path, sizeof(path), "%s/box", w->state);
        (void) mkdir(path, 0700);
        world_open(w);
        world_up(w);
        check_true("recovered", !w->manager->recovering);
}

typedef struct Answer {
        unsigned n;
        int code;
        char text[256];
} Answer;

static inline void on_done(Sandbox *sb, const Error *error, void *userdata) {
        Answer *a = userdata;

        a->n++;
        a->code = error ? error->code : 0;
        (void) snprintf(a->text, sizeof(a->text), "%.255s", error ? error->text : "");
}

static inline Sandbox *create(World *w, const char *name, Answer *a) {
        SandboxSpec spec;
        Sandbox *sb = NULL;
        bool existing;
        Error error = { 0 };

        sandbox_spec_defaults(&spec);
        spec.name = name ? strdup(name) : NULL;
        check_result("create", manager_create(w->manager, &admin, &spec, &sb, &existing, on_done, a, &error), 0);
        sandbox_spec_done(&spec);
        return sb;
}

static inline Sandbox *create_ready(World *w, const char *name) {
        static Answer a;
        Sandbox *sb = create(w, name, &a);

        w->fake.provider.events->created(sb, 4711, 1 << 30, 0, NULL, w->manager);
        check_string("status", sandbox_status_name(sb->status), "ready");
        return sb;
}

static inline Execution *start(Sandbox *sb, const char *command) {
        ExecutionSpec spec = { .args = STRV_INIT(8), .env = STRV_INIT(8) };
        Execution *x = NULL;
        Error error = { 0 };

        check_result("push", strv_push(&spec.args, command), 0);
        check_result("exec", execution_start(sb, &admin, &spec, &x, &error), 0);
        execution_spec_done(&spec);
        return x;
}

static inline ProviderEnd fake_end(uint64_t number, int wait_status) {
        bool exited = WIFEXITED(wait_status);

        return (ProviderEnd) {
                .number = number,
                .exit_code = exited ? WEXITSTATUS(wait_status) : -1,
                .signal = exited ? 0 : WTERMSIG(wait_status),
        };
}

static inline void tell_exit(World *w, Sandbox *sb, uint64_t exec, int wait_status) {
        ProviderEnd e = fake_end(exec, wait_status);

        w->fake.provider.events->exec_exited(sb, &e, w->manager);
}
