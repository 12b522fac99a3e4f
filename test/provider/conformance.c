/* conformance.c: the contract of core/provider.h, item by item, against the provider that provider_factory makes. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit/unit.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/segment.h"
#include "core/manager.h"
#include "conformance.h"

#define PATIENCE      (30 * USEC_PER_SEC)
#define SETTLE        (200 * USEC_PER_MSEC) /* for what must not come */
#define OUTPUT_MAX    (1 << 20)
#define EXECS_MAX     16
#define LISTED_MAX    64
#define MODE_ISOLATED 1 /* NetworkMode of policy/egress.h */
#define MODE_EGRESS   2
#define GROUP_ADDRESS UINT32_C(0x0ad50102) /* 10.213.1.2 */

/* All that is known of one command. */
typedef struct Exec {
        uint64_t number;
        unsigned n_started, n_failed, n_ends, n_stdin, n_channel;
        ProviderFailure failure;
        int error;
        ProviderEnd end;
        int out, err; /* journals */
        int stdin_error, stdin_fd;
        int channel_error, channel[_EXECUTION_CHANNEL_MAX];
} Exec;

/* The suite in place of the core: one sandbox, and what was told. */
static struct {
        sd_event *event;
        Manager manager;
        Sandbox sandbox;
        bool asking; /* a call is under way: nothing may be told */
        unsigned n_up, n_created, n_gone, n_destroyed, n_stopped, n_adopted, n_list_ends, n_frozen, n_network, n_socket, n_tree_done, n_zygote, n_kept;
        bool frozen;
        int error; /* of the last answer; 0: well */
        char destroyed[SANDBOX_ID_LENGTH + 1];
        char listed[LISTED_MAX][SANDBOX_ID_LENGTH + 1];
        size_t n_listed, n_network_fds;
        Exec execs[EXECS_MAX];
        size_t n_execs;
        uint64_t last_number, token;
        uint64_t tree_bytes;
        int socket_fd, kept_pid;
        char kept_text[SANDBOX_KEPT_TEXT_MAX];
} core;

static Provider *provider(void) {
        return core.manager.provider;
}

/* Events never come from within a call. */
static void told(const Error *error) {
        check_true("an event comes from within a call", !core.asking);
        core.error = error ? error->code : 0;
}

#define ASK(call)                       \
        ({                              \
                int asked_r_;           \
                core.asking = true;     \
                asked_r_ = (call);      \
                core.asking = false;    \
                asked_r_;               \
        })

static Exec *exec_find(uint64_t number) {
        for (size_t i = 0; i < core.n_execs; i++)
                if (core.execs[i].number == number)
                        return core.execs + i;
        fprintf(stderr, "told of command %ju, which nobody has asked for\n", (uintmax_t) number);
        check_true("a known number", false);
        return NULL;
}

static void on_up(Provider *p, void *userdata) {
        told(NULL);
        core.n_up++;
}

static void on_created(Sandbox *sb, int pid, uint32_t id_base, uint64_t guards_missing, const Error *error, void *userdata) {
        told(error);
        if (error)
                fprintf(stderr, "created: %s\n", error->text);
        core.n_created++;
}

static void on_gone(Sandbox *sb, void *userdata) {
        told(NULL);
        core.n_gone++;
}

static void on_destroyed(const char *id, const Error *error, void *userdata) {
        told(error);
        (void) snprintf(core.destroyed, sizeof(core.destroyed), "%s", id);
        core.n_destroyed++;
}

static void on_stopped(Sandbox *sb, void *userdata) {
        told(NULL);
        core.n_stopped++;
}

static void on_adopted(Sandbox *sb, const Error *error, void *userdata) {
        told(error);
        core.n_adopted++;
}

static void on_listed(const char *id, void *userdata) {
        told(NULL);
        check_uint("after the last", core.n_list_ends, 0);
        if (!id)
                core.n_list_ends++;
        else if (core.n_listed < LISTED_MAX)
                (void) snprintf(core.listed[core.n_listed++], sizeof(core.listed[0]), "%s", id);
}

static void on_exec_started(Sandbox *sb, uint64_t number, int pid, void *userdata) {
        Exec *e = exec_find(number);

        told(NULL);
        check_uint("a start after the end", e->n_ends, 0);
        e->n_started++;
}

static void on_exec_failed(Sandbox *sb, const ProviderNotStarted *f, void *userdata) {
        Exec *e = exec_find(f->number);

        told(NULL);
        e->n_failed++;
        e->failure = f->kind;
        e->error = f->error;
        check_true("words", f->step && f->detail);
}

static void on_exec_exited(Sandbox *sb, const ProviderEnd *end, void *userdata) {
        Exec *e = exec_find(end->number);

        told(NULL);
        e->n_ends++;
        e->end = *end;
}

static void on_exec_stdin(Sandbox *sb, uint64_t number, int error, int fd, void *userdata) {
        Exec *e = exec_find(number);

        told(NULL);
        check_true("a descriptor or an error", (fd >= 0) == (error == 0));
        e->n_stdin++;
        e->stdin_error = error;
        e->stdin_fd = fd;
}

static void on_frozen(Sandbox *sb, bool frozen, const Error *error, void *userdata) {
        told(error);
        core.n_frozen++;
        core.frozen = frozen;
}

static void on_reclaimed(Sandbox *sb, const Error *error, void *userdata) {
        told(error);
}

static void on_network(Sandbox *sb, int error, uint8_t shape, const int *fds, size_t n_fds, void *userdata) {
        told(NULL);
        core.error = -error;
        core.n_network++;
        core.n_network_fds = n_fds;
        for (size_t i = 0; i < n_fds; i++)
                (void) fd_close(fds[i]);
}

static void on_socket(Sandbox *sb, uint64_t token, int error, int fd, void *userdata) {
        told(NULL);
        check_uint("token", token, core.token);
        core.error = -error;
        core.n_socket++;
        (void) fd_close(core.socket_fd);
        core.socket_fd = fd;
}

static void on_exec_channel(Sandbox *sb, uint64_t number, int error, int fds[static _EXECUTION_CHANNEL_MAX], void *userdata) {
        Exec *e = exec_find(number);

        told(NULL);
        e->n_channel++;
        e->channel_error = error;
        memcpy(e->channel, fds, sizeof(e->channel));
}

static void on_kept(Sandbox *sb, unsigned number, int pid, const char *text, int fds[static _EXECUTION_CHANNEL_MAX], void *userdata) {
        told(NULL);
        core.n_kept++;
        core.kept_pid = pid;
        (void) snprintf(core.kept_text, sizeof(core.kept_text), "%s", pid > 0 ? text : "");
        for (int i = 0; i < _EXECUTION_CHANNEL_MAX; i++)
                (void) fd_close(fds[i]);
}

static void on_tree_item(uint64_t token, const TreeRef *ref, uint64_t bytes, void *userdata) {
        told(NULL);
        check_uint("token", token, core.token);
}

static void on_tree_done(uint64_t token, int wait_status, uint64_t bytes, const Error *error, void *userdata) {
        told(error);
        check_uint("token", token, core.token);
        core.n_tree_done++;
        core.tree_bytes = bytes;
}

static void on_zygote(uint64_t token, int pid, int fds[static _EXECUTION_CHANNEL_MAX], const Error *error, void *userdata) {
        told(error);
        check_uint("token", token, core.token);
        core.n_zygote++;
        for (int i = 0; i < _EXECUTION_CHANNEL_MAX; i++)
                (void) fd_close(fds[i]);
}

static const ProviderEvents events = {
        .up = on_up,
        .created = on_created,
        .gone = on_gone,
        .destroyed = on_destroyed,
        .stopped = on_stopped,
        .adopted = on_adopted,
        .listed = on_listed,
        .exec_started = on_exec_started,
        .exec_failed = on_exec_failed,
        .exec_exited = on_exec_exited,
        .exec_stdin = on_exec_stdin,
        .frozen = on_frozen,
        .reclaimed = on_reclaimed,
        .network = on_network,
        .socket = on_socket,
        .exec_channel = on_exec_channel,
        .kept = on_kept,
        .tree_item = on_tree_item,
        .tree_done = on_tree_done,
        .zygote = on_zygote,
};

/* The loop */

#define RUN_UNTIL(condition)                                                                       \
        do {                                                                                       \
                usec_t give_up_ = clock_usec() + PATIENCE;                                         \
                while (!(condition)) {                                                             \
                        check_true("in time: " #condition, clock_usec() < give_up_);               \
                        check_true("loop", sd_event_run(core.event, 100 * USEC_PER_MSEC) >= 0);    \
                }                                                                                  \
        } while (0)

/* Everything that has come by then is heard, however late it is. */
static void settle(void) {
        int r;

        for (usec_t until = clock_usec() + SETTLE; clock_usec() < until;)
                check_true("loop", sd_event_run(core.event, 20 * USEC_PER_MSEC) >= 0);
        while ((r = sd_event_run(core.event, 0)) > 0)
                ;
        check_result("loop", r, 0);
}

/* The daemon's start and end */

static void provider_open(void) {
        Error error = { 0 };

        core.n_up = 0;
        core.manager.provider = provider_factory.make(core.event, unit_directory(), &error);
        if (!core.manager.provider)
                unit_skip("%s", error.text);
        provider()->events = &events;
        RUN_UNTIL(core.n_up > 0);
}

static void provider_close(void) {
        core.manager.provider = provider()->ops->free(provider());
}

static void suite_begin(void) {
        (void) signal(SIGPIPE, SIG_IGN); /* as the daemon does */
        memset(&core, 0, sizeof(core));
        core.socket_fd = -EBADF;
        check_true("loop", sd_event_new(&core.event) >= 0);
        core.manager.event = core.event;
        provider_open();
}

static void suite_renew(uint8_t network) {
        static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
        Sandbox *sb = &core.sandbox;
        uint8_t random[SANDBOX_ID_LENGTH];

        check_int("random", getentropy(random, sizeof(random)), 0);
        *sb = (Sandbox) { .manager = &core.manager, .status = SANDBOX_READY };
        sandbox_spec_defaults(&sb->spec);
        sb->spec.workdir = strdup(provider_factory.workdir());
        sb->spec.network = network;
        sb->spec.hub_fd = -EBADF;
        sb->spec.address = network == MODE_ISOLATED ? GROUP_ADDRESS : 0;
        sb->id[0] = 'p';
        for (size_t i = 1; i < SANDBOX_ID_LENGTH; i++)
                sb->id[i] = letters[random[i] % 32];
}

static Sandbox *suite_create(uint8_t network) {
        Error error = { 0 };
        int r;

        suite_begin();
        suite_renew(network);
        r = ASK(provider()->ops->create(provider(), &core.sandbox, &error));
        check_result(error.text, r, 0);
        RUN_UNTIL(core.n_created > 0);
        check_result("created", core.error, 0);
        return &core.sandbox;
}

static void suite_destroy(Sandbox *sb) {
        unsigned before = core.n_destroyed;

        check_result("destroy", ASK(provider()->ops->destroy(provider(), sb->id, sb)), 0);
        RUN_UNTIL(core.n_destroyed > before);
        check_result("destroyed", core.error, 0);
        check_string("which", core.destroyed, sb->id);
}

static void suite_end(void) {
        for (size_t i = 0; i < core.n_execs; i++) {
                (void) fd_close(core.execs[i].out);
                (void) fd_close(core.execs[i].err);
                (void) fd_close(core.execs[i].stdin_fd);
        }
        (void) fd_close(core.socket_fd);
        provider_close();
        sandbox_spec_done(&core.sandbox.spec);
        core.event = sd_event_unref(core.event);
}

static void suite_finish(Sandbox *sb) {
        suite_destroy(sb);
        provider()->ops->release(provider(), sb);
        suite_end();
}

/* Commands */

static int journal_new(void) {
        int fd = memfd_create("journal", MFD_CLOEXEC), append;
        char path[64];

        check_true("journal", fd >= 0);
        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        append = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
        check_true("journal", append >= 0);
        (void) fd_close(fd);
        return append;
}

static Exec *exec_new(ProviderCommand *c, const char *const *args, size_t n) {
        static const Strv no_env = STRV_INIT(0);
        static Strv argv;
        Exec *e = core.execs + core.n_execs++;

        check_true("room", core.n_execs <= EXECS_MAX);
        *e = (Exec) { .number = ++core.last_number, .out = journal_new(), .err = journal_new(), .stdin_fd = -EBADF };
        argv = (Strv) { .items = (char **) args, .n = n };
        c->number = e->number;
        c->args = &argv;
        c->env = c->env ? c->env : &no_env;
        c->cwd = c->cwd ? c->cwd : "/";
        c->uid = core.sandbox.spec.uid;
        c->gid = core.sandbox.spec.gid;
        c->output_max = c->output_max > 0 ? c->output_max : OUTPUT_MAX;
        c->nofile = 256;
        c->journals[STREAM_STDOUT] = e->out;
        c->journals[STREAM_STDERR] = c->pty ? -EBADF : e->err;
        return e;
}

static Exec *exec_ask(ProviderCommand c, const char *const *args, size_t n) {
        Exec *e = exec_new(&c, args, n);

        check_result("exec", ASK(provider()->ops->exec(provider(), &core.sandbox, &c)), 0);
        return e;
}

static Exec *sh(ProviderCommand c, const char *script) {
        const char *const args[] = { "/bin/sh", "-c", script, NULL };

        return exec_ask(c, args, 3);
}

static void exec_wait(Exec *e) {
        RUN_UNTIL(e->n_ends + e->n_failed > 0);
}

/* With the way that the core takes: the end is written down, and forgotten. */
static void exec_forget(Exec *e) {
        check_result("forget", ASK(provider()->ops->forget(provider(), &core.sandbox, e->number)), 0);
}

static const char *text_of(int journal) {
        static char text[OUTPUT_MAX + 1];
        ssize_t n = pread(journal, text, OUTPUT_MAX, 0);

        check_true("journal", n >= 0);
        text[n] = '\0';
        return text;
}

static void check_end(const Exec *e, int exit_code, int signal_number) {
        check_uint("not started", e->n_failed, 0);
        check_uint("starts", e->n_started, 1);
        check_uint("ends", e->n_ends, 1);
        check_int("signal", e->end.signal, signal_number);
        check_int("exit code", e->end.exit_code, exit_code);
}

TEST(create_and_destroy_are_told_once) {
        Sandbox *sb = suite_create(/* network= */ 0);

        settle();
        check_uint("created", core.n_created, 1);
        suite_destroy(sb);
        settle();
        check_uint("destroyed", core.n_destroyed, 1);
        check_true("gone is told once, if at all", core.n_gone <= 1);
        provider()->ops->release(provider(), sb);
        suite_end();
}

TEST(destroy_works_twice_and_for_unknown_ids) {
        const char *const unknown = "p2345672345672345672a";
        Sandbox *sb = suite_create(0);

        suite_destroy(sb);
        suite_destroy(sb);
        provider()->ops->release(provider(), sb);
        check_result("only the id is known", ASK(provider()->ops->destroy(provider(), sb->id, NULL)), 0);
        RUN_UNTIL(core.n_destroyed == 3);
        check_result("unknown", ASK(provider()->ops->destroy(provider(), unknown, NULL)), 0);
        RUN_UNTIL(core.n_destroyed == 4);
        check_result("destroyed", core.error, 0);
        check_string("which", core.destroyed, unknown);
        suite_end();
}

static bool is_listed(const char *id) {
        core.n_list_ends = 0;
        core.n_listed = 0;
        check_result("list", ASK(provider()->ops->list(provider())), 0);
        RUN_UNTIL(core.n_list_ends > 0);
        for (size_t i = 0; i < core.n_listed; i++)
                if (strcmp(core.listed[i], id) == 0)
                        return true;
        return false;
}

TEST(the_list_has_what_lives_and_nothing_else) {
        Sandbox *sb = suite_create(0);

        check_true("alive", is_listed(sb->id));
        suite_destroy(sb);
        check_true("destroyed", !is_listed(sb->id));
        provider()->ops->release(provider(), sb);
        suite_end();
}

TEST(a_command_ends_once_with_its_true_code) {
        static const struct {
                const char *script;
                int exit_code, signal;
        } cases[] = {
                { "exit 0",         0,   0       },
                { "exit 1",         1,   0       },
                { "exit 137",       137, 0       },
                { "exit 255",       255, 0       },
                { "kill -TERM $$",  -1,  SIGTERM },
                { "kill -KILL $$",  -1,  SIGKILL },
        };
        Sandbox *sb = suite_create(0);

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Exec *e = sh((ProviderCommand) { 0 }, cases[i].script);

                exec_wait(e);
                check_end(e, cases[i].exit_code, cases[i].signal);
                exec_forget(e);
        }
        settle();
        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                check_uint("ends", core.execs[i].n_ends, 1);
        suite_finish(sb);
}

TEST(many_commands_at_once_keep_their_own_ends) {
        Sandbox *sb = suite_create(0);
        char script[EXECS_MAX][64];

        for (int i = 0; i < EXECS_MAX; i++) {
                (void) snprintf(script[i], sizeof(script[i]), "echo number %d; exit %d", i, i);
                (void) sh((ProviderCommand) { 0 }, script[i]);
        }
        for (int i = 0; i < EXECS_MAX; i++) {
                char expected[32];

                exec_wait(core.execs + i);
                check_end(core.execs + i, i, 0);
                (void) snprintf(expected, sizeof(expected), "number %d\n", i);
                check_string("output", text_of(core.execs[i].out), expected);
        }
        suite_finish(sb);
}

TEST(output_is_whole_when_the_end_is_told) {
        Sandbox *sb = suite_create(0);
        Exec *e = sh((ProviderCommand) { 0 }, "i=0; while [ $i -lt 2000 ]; do echo line $i; echo error $i >&2; i=$((i+1)); done");
        const char *text;
        struct stat st;

        exec_wait(e);
        check_end(e, 0, 0);
        check_int("stat", fstat(e->out, &st), 0);
        check_uint("bytes", e->end.journals[STREAM_STDOUT].bytes, (uintmax_t) st.st_size);
        check_true("whole", !e->end.journals[STREAM_STDOUT].truncated && !e->end.journals[STREAM_STDERR].truncated);
        text = text_of(e->out);
        check_true("first", strncmp(text, "line 0\n", 7) == 0);
        check_true("last", strcmp(text + strlen(text) - 10, "line 1999\n") == 0);
        text = text_of(e->err);
        check_uint("bytes", e->end.journals[STREAM_STDERR].bytes, strlen(text));
        check_true("streams are kept apart", !strstr(text, "line"));
        suite_finish(sb);
}

TEST(output_beyond_its_limit_is_dropped_and_told) {
        Sandbox *sb = suite_create(0);
        Exec *e = sh((ProviderCommand) { .output_max = 1000 }, "i=0; while [ $i -lt 1000 ]; do echo 123456789; i=$((i+1)); done; echo end >&2");

        exec_wait(e);
        check_end(e, 0, 0); /* it was read to its end */
        check_uint("bytes", e->end.journals[STREAM_STDOUT].bytes, 1000);
        check_true("told", e->end.journals[STREAM_STDOUT].truncated && !e->end.journals[STREAM_STDERR].truncated);
        check_uint("journal", strlen(text_of(e->out)), 1000);
        check_string("stderr", text_of(e->err), "end\n");
        suite_finish(sb);
}

/* Runs it with its output in the segment, and brings that if it is wanted. */
static Exec *sh_into(int segment[static 2], const char *script) {
        const char *const args[] = { "/bin/sh", "-c", script, NULL };
        bool wanted = provider()->ops->segment(provider(), &core.sandbox) == PROVIDER_SEGMENT_WANTED;
        ProviderCommand c = { .segment = true };
        Exec *e = exec_new(&c, args, 3);

        c.journals[0] = wanted ? segment[0] : -EBADF;
        c.journals[1] = wanted ? segment[1] : -EBADF;
        check_result("exec", ASK(provider()->ops->exec(provider(), &core.sandbox, &c)), 0);
        check_int("it has it", provider()->ops->segment(provider(), &core.sandbox), PROVIDER_SEGMENT_KEPT);
        return e;
}

/* The text of one stream of one command, by the index. */
static const char *text_in(const int segment[static 2], const Exec *e, uint32_t stream) {
        static char text[OUTPUT_MAX + 1];
        SegmentRecord record;
        usec_t last = 0;
        size_t used = 0;

        for (off_t at = 0; pread(segment[1], &record, sizeof(record), at) == sizeof(record); at += (off_t) sizeof(record)) {
                check_true("time", record.time_usec + USEC_PER_SEC >= last && record.time_usec <= clock_wall_usec());
                last = record.time_usec;
                if (record.exec != e->number || record.stream != stream)
                        continue;
                check_true("size", record.size > 0 && record.size <= SEGMENT_PIECE_MAX && used + record.size <= OUTPUT_MAX);
                check_int("data", pread(segment[0], text + used, record.size, (off_t) record.position), record.size);
                used += record.size;
        }
        text[used] = '\0';
        return text;
}

TEST(a_segment_has_the_output_of_all_commands) {
        Sandbox *sb = suite_create(0);
        int segment[2] = { memfd_create("data", MFD_CLOEXEC), journal_new() };
        Exec *first, *many[8], *silent;

        if (provider()->ops->segment(provider(), sb) != PROVIDER_SEGMENT_NEVER) {
                first = sh_into(segment, "echo out; echo error >&2; exit 3");
                for (size_t i = 0; i < ELEMENTSOF(many); i++)
                        many[i] = sh_into(segment, "i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done; echo error >&2");
                silent = sh_into(segment, "true");
                exec_wait(first);
                check_end(first, 3, 0);
                check_string("out", text_in(segment, first, 0), "out\n");
                check_string("error", text_in(segment, first, 1), "error\n");
                exec_wait(silent);
                check_string("nothing", text_in(segment, silent, 0), "");
                for (size_t i = 0; i < ELEMENTSOF(many); i++) {
                        const char *text;

                        exec_wait(many[i]);
                        check_end(many[i], 0, 0);
                        check_string("error", text_in(segment, many[i], 1), "error\n");
                        text = text_in(segment, many[i], 0);
                        check_uint("bytes", many[i]->end.journals[STREAM_STDOUT].bytes, strlen(text));
                        check_true("first", strncmp(text, "line 0\n", 7) == 0);
                        check_true("last", strcmp(text + strlen(text) - 9, "line 499\n") == 0);
                }
        }
        (void) fd_close(segment[0]);
        (void) fd_close(segment[1]);
        suite_finish(sb);
}

TEST(a_segment_keeps_the_limit_of_each_stream) {
        Sandbox *sb = suite_create(0);
        int segment[2] = { memfd_create("data", MFD_CLOEXEC), journal_new() };
        Exec *e;

        if (provider()->ops->segment(provider(), sb) != PROVIDER_SEGMENT_NEVER) {
                const char *const args[] = { "/bin/sh", "-c", "i=0; while [ $i -lt 1000 ]; do echo 123456789; i=$((i+1)); done; echo end >&2", NULL };
                ProviderCommand c = { .segment = true, .output_max = 1000 };

                e = exec_new(&c, args, 3);
                memcpy(c.journals, segment, sizeof(segment));
                check_result("exec", ASK(provider()->ops->exec(provider(), sb, &c)), 0);
                exec_wait(e);
                check_uint("bytes", e->end.journals[STREAM_STDOUT].bytes, 1000);
                check_true("told", e->end.journals[STREAM_STDOUT].truncated && !e->end.journals[STREAM_STDERR].truncated);
                check_uint("kept", strlen(text_in(segment, e, 0)), 1000);
                check_string("stderr", text_in(segment, e, 1), "end\n");
        }
        (void) fd_close(segment[0]);
        (void) fd_close(segment[1]);
        suite_finish(sb);
}

TEST(arguments_environment_and_directory_arrive_as_they_are) {
        static const char *const args[] = { "/bin/sh", "-c", "printf '%s|%s|%s|%s|' \"$1\" \"$2\" \"$WORD\" \"${HOME-none}\"; pwd", "sh", "two words\nand a line", "", NULL };
        char *variables[] = { (char *) "WORD=a = 'b'", (char *) "PATH=/usr/bin:/bin", NULL };
        const Strv env = { .items = variables, .n = 2 };
        Sandbox *sb = suite_create(0);
        Exec *e = exec_ask((ProviderCommand) { .env = &env, .cwd = "/usr" }, args, 6);

        exec_wait(e);
        check_end(e, 0, 0);
        check_string("output", text_of(e->out), "two words\nand a line||a = 'b'|none|/usr\n");
        suite_finish(sb);
}

TEST(large_arguments_arrive) {
        enum { SIZE = 100000 };
        Sandbox *sb = suite_create(0);
        char *large = malloc(SIZE + 1);
        const char *const args[] = { "/bin/sh", "-c", "printf %s \"$1\"", "sh", large, NULL };
        Exec *e;

        check_true("memory", large != NULL);
        memset(large, 'x', SIZE);
        large[SIZE] = '\0';
        e = exec_ask((ProviderCommand) { 0 }, args, 5);
        exec_wait(e);
        check_end(e, 0, 0);
        check_uint("output", strlen(text_of(e->out)), SIZE);
        free(large);
        suite_finish(sb);
}

TEST(a_command_that_cannot_start_says_why) {
        static const struct {
                const char *program, *cwd;
                ProviderFailure kind;
                int error;
        } cases[] = {
                { "/no/such/program", "/",             PROVIDER_FAILURE_COMMAND, ENOENT },
                { "/etc/passwd",      "/",             PROVIDER_FAILURE_COMMAND, EACCES },
                { "/bin/true",        "/no/directory", PROVIDER_FAILURE_WORKDIR, ENOENT },
        };
        Sandbox *sb = suite_create(0);

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const char *const args[] = { cases[i].program, NULL };
                Exec *e = exec_ask((ProviderCommand) { .cwd = cases[i].cwd }, args, 1);

                exec_wait(e);
                check_uint("failures", e->n_failed, 1);
                check_uint("ends", e->n_ends, 0);
                check_int("kind", e->failure, cases[i].kind);
                check_int("error", e->error, cases[i].error);
        }
        suite_finish(sb);
}

TEST(a_timeout_ends_the_command) {
        Sandbox *sb = suite_create(0);
        Exec *e = sh((ProviderCommand) { .timeout_usec = 200 * USEC_PER_MSEC }, "sleep 60"), *other = sh((ProviderCommand) { .timeout_usec = PATIENCE }, "exit 3");

        exec_wait(e);
        exec_wait(other);
        check_true("told", e->end.timed_out);
        check_uint("ends", e->n_ends, 1);
        check_true("measured", e->end.wall_usec >= 150 * USEC_PER_MSEC);
        check_end(other, 3, 0);
        check_true("in time", !other->end.timed_out);
        suite_finish(sb);
}

TEST(signals_reach_the_group_and_kill_the_tree) {
        Sandbox *sb = suite_create(0);
        Exec *trap = sh((ProviderCommand) { 0 }, "trap 'exit 7' USR1; echo ready; while :; do sleep 0.05; done"), *tree;

        RUN_UNTIL(strcmp(text_of(trap->out), "ready\n") == 0);
        check_result("USR1", ASK(provider()->ops->signal(provider(), sb, trap->number, SIGUSR1)), 0);
        exec_wait(trap);
        check_end(trap, 7, 0);

        tree = sh((ProviderCommand) { 0 }, "(while :; do echo tick; sleep 0.05; done) & echo ready; wait");
        RUN_UNTIL(strstr(text_of(tree->out), "ready"));
        check_result("KILL", ASK(provider()->ops->signal(provider(), sb, tree->number, SIGKILL)), 0);
        exec_wait(tree);
        check_end(tree, -1, SIGKILL);
        settle();
        {
                struct stat before, after;

                check_int("stat", fstat(tree->out, &before), 0);
                settle();
                check_int("stat", fstat(tree->out, &after), 0);
                check_int("nobody is left to write", after.st_size, before.st_size);
        }
        (void) ASK(provider()->ops->signal(provider(), sb, tree->number, SIGTERM)); /* has ended: nothing happens */
        settle();
        check_uint("ends", tree->n_ends, 1);
        suite_finish(sb);
}

TEST(input_arrives_and_ends) {
        Sandbox *sb = suite_create(0);
        Exec *e = sh((ProviderCommand) { .stdin_open = true }, "cat; echo end");

        check_result("open", ASK(provider()->ops->stdin_open(provider(), sb, e->number)), 0);
        RUN_UNTIL(e->n_stdin > 0);
        check_int("error", e->stdin_error, 0);
        check_int("write", write(e->stdin_fd, "some\ninput\n", 11), 11);
        RUN_UNTIL(strcmp(text_of(e->out), "some\ninput\n") == 0);
        settle();
        check_uint("it waits for more", e->n_ends, 0);
        e->stdin_fd = fd_close(e->stdin_fd);
        settle();
        check_uint("the provider holds it open", e->n_ends, 0);
        check_result("close", ASK(provider()->ops->stdin_close(provider(), sb, e->number)), 0);
        exec_wait(e);
        check_end(e, 0, 0);
        check_string("output", text_of(e->out), "some\ninput\nend\n");
        suite_finish(sb);
}

TEST(a_command_without_input_reads_nothing) {
        Sandbox *sb = suite_create(0);
        Exec *e = sh((ProviderCommand) { 0 }, "cat; echo end");

        exec_wait(e);
        check_end(e, 0, 0);
        check_string("output", text_of(e->out), "end\n");
        check_result("open", ASK(provider()->ops->stdin_open(provider(), sb, e->number)), 0);
        RUN_UNTIL(e->n_stdin > 0);
        check_true("an error", e->stdin_error > 0);
        suite_finish(sb);
}

TEST(stop_ends_what_runs_and_keeps_the_sandbox) {
        Sandbox *sb = suite_create(0);
        Exec *soft = sh((ProviderCommand) { 0 }, "echo ready; exec sleep 60"), *hard = sh((ProviderCommand) { 0 }, "trap '' TERM; echo ready; while :; do sleep 0.05; done"), *after;

        RUN_UNTIL(*text_of(soft->out) && *text_of(hard->out));
        check_result("stop", ASK(provider()->ops->stop(provider(), sb, 300 * USEC_PER_MSEC)), 0);
        RUN_UNTIL(core.n_stopped > 0);
        check_uint("ends come before", soft->n_ends, 1);
        check_uint("ends come before", hard->n_ends, 1);
        check_end(soft, -1, SIGTERM);
        check_end(hard, -1, SIGKILL);
        after = sh((ProviderCommand) { 0 }, "exit 5");
        exec_wait(after);
        check_end(after, 5, 0);
        settle();
        check_uint("once", core.n_stopped, 1);
        suite_finish(sb);
}

TEST(usage_is_told_at_once) {
        Sandbox *sb = suite_create(0);
        SandboxUsage usage = { 0 };
        Exec *e = sh((ProviderCommand) { 0 }, "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done");

        exec_wait(e);
        check_result("usage", ASK(provider()->ops->usage(provider(), sb, &usage)), 0);
        check_true("CPU time, where it is known", !usage.has_cpu || usage.cpu_usec > 0);
        check_true("memory, where it is known", !usage.has_memory || usage.memory_peak_bytes > 0);
        check_true("its own", e->end.user_usec + e->end.system_usec > 0);
        suite_finish(sb);
}

TEST(what_is_gone_is_refused) {
        Sandbox *sb = suite_create(0);
        static const char *const args[] = { "/bin/true", NULL };
        ProviderCommand c = { 0 };
        Exec *e;
        int r;

        suite_destroy(sb);
        settle();
        provider()->ops->release(provider(), sb);
        e = exec_new(&c, args, 1);
        r = ASK(provider()->ops->exec(provider(), sb, &c));
        check_true("refused at once, or told", r < 0);
        settle();
        check_uint("and nothing comes", e->n_started + e->n_ends + e->n_failed, 0);
        suite_end();
}

/* The daemon's restart */

TEST(a_restart_finds_what_runs_and_what_has_ended) {
        Sandbox *sb = suite_create(0);
        const ProviderCommand here = { .cwd = provider_factory.workdir() };
        Exec *runs = sh(here, "echo before; until [ -e go ]; do sleep 0.05; done; echo after; exit 9"), *ended = sh((ProviderCommand) { 0 }, "exit 4"), *known = sh((ProviderCommand) { 0 }, "exit 6");

        RUN_UNTIL(*text_of(runs->out));
        exec_wait(ended);
        exec_wait(known);
        exec_forget(known);
        settle();
        provider()->ops->release(provider(), sb);
        provider_close();
        runs->n_started = ended->n_started = ended->n_ends = known->n_started = known->n_ends = 0;

        provider_open();
        check_true("listed", is_listed(sb->id));
        check_result("adopt", ASK(provider()->ops->adopt(provider(), sb)), 0);
        RUN_UNTIL(core.n_adopted > 0);
        check_result("adopted", core.error, 0);
        check_uint("the one that runs came before", runs->n_started, 1);
        check_uint("so did the end that nobody has written down", ended->n_ends, 1);
        check_int("exit code", ended->end.exit_code, 4);
        check_uint("one that was forgotten is not told again", known->n_ends, 0);
        check_uint("it has not ended", runs->n_ends, 0);
        exec_wait(sh(here, ">go"));
        exec_wait(runs);
        check_int("exit code", runs->end.exit_code, 9);
        check_string("its output went on", text_of(runs->out), "before\nafter\n");
        suite_finish(sb);
}

/* "I lack something" is not "it is gone". */
TEST(a_lack_of_descriptors_is_not_its_end) {
        Sandbox *sb = suite_create(0);
        struct rlimit before;
        int r, free_fd;

        provider()->ops->release(provider(), sb);
        provider_close();
        provider_open();
        check_int("getrlimit", getrlimit(RLIMIT_NOFILE, &before), 0);
        free_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
        (void) fd_close(free_fd);
        check_int("setrlimit", setrlimit(RLIMIT_NOFILE, &(struct rlimit) { (rlim_t) free_fd, before.rlim_max }), 0);
        r = ASK(provider()->ops->adopt(provider(), sb));
        check_true("not refused for good", r >= 0 || error_is_shortage(r));
        settle();
        check_true("not told as gone", core.n_adopted == 0 || core.error == 0);
        check_int("setrlimit", setrlimit(RLIMIT_NOFILE, &before), 0);
        if (r < 0)
                check_result("adopt", ASK(provider()->ops->adopt(provider(), sb)), 0);
        RUN_UNTIL(core.n_adopted > 0);
        check_result("adopted", core.error, 0);
        exec_wait(sh((ProviderCommand) { 0 }, "exit 0"));
        suite_finish(sb);
}

TEST(what_does_not_live_cannot_be_adopted) {
        int r;

        suite_begin();
        suite_renew(0);
        r = ASK(provider()->ops->adopt(provider(), &core.sandbox));
        if (r >= 0) {
                RUN_UNTIL(core.n_adopted > 0);
                r = core.error;
        }
        check_true("refused", r < 0);
        settle();
        check_true("once", core.n_adopted <= 1);
        provider()->ops->release(provider(), &core.sandbox);
        suite_end();
}

/* Files */

typedef struct Heard {
        FileOp *op;
        unsigned n_entries, n_ends, n_events;
        int error;
        uint64_t count;
        FileEntry entry; /* the last */
        char names[512];
        int fd;
} Heard;

static void on_entry(FileOp *op, const FileEntry *entry, int fd, void *userdata) {
        Heard *h = userdata;

        told(NULL);
        h->n_entries++;
        h->entry = *entry;
        (void) snprintf(h->names + strlen(h->names), sizeof(h->names) - strlen(h->names), "%s\n", entry->path);
        (void) fd_close(h->fd);
        h->fd = fd;
}

static void on_event(FileOp *op, const FileEvent *event, void *userdata) {
        ((Heard *) userdata)->n_events++;
}

static void on_end(FileOp *op, int error, const char *path, uint64_t count, void *userdata) {
        Heard *h = userdata;

        told(NULL);
        h->n_ends++;
        h->error = error;
        h->count = count;
}

static const FileOpHandlers handlers = { .entry = on_entry, .event = on_event, .end = on_end };

static FileRequest request(FileOperation operation, const char *name, uint32_t flags) {
        FileRequest q = {
                .operation = (uint16_t) operation,
                .flags = flags,
                .uid = core.sandbox.spec.uid,
                .gid = core.sandbox.spec.gid,
                .mode = FILE_MODE_NONE,
                .owner = FILE_ID_NONE,
                .group = FILE_ID_NONE,
        };

        (void) snprintf(q.path, sizeof(q.path), "%s/%s", provider_factory.workdir(), name);
        return q;
}

static void file_begin(Heard *h, const FileRequest *q) {
        Error error = { 0 };

        *h = (Heard) { .fd = -EBADF };
        check_result("start", ASK(fileop_start(&core.sandbox, q, &handlers, h, &h->op, &error)), 0);
}

static void file_done(Heard *h) {
        h->op = fileop_free(h->op);
        h->fd = fd_close(h->fd);
}

static int file_do(Heard *h, const FileRequest *q) {
        file_begin(h, q);
        RUN_UNTIL(h->n_ends > 0);
        return h->error;
}

static int file_ask(FileOperation operation, const char *name, uint32_t flags) {
        FileRequest q = request(operation, name, flags);
        Heard h;
        int r = file_do(&h, &q);

        file_done(&h);
        return r;
}

static void file_fill(Heard *h, const char *data, size_t size) {
        while (size > 0 && h->n_ends == 0) {
                ssize_t n = fileop_write(h->op, data, size);

                if (n == -EPIPE) { /* it has given up before it was given anything; why, the end tells */
                        RUN_UNTIL(h->n_ends > 0);
                        return;
                }
                check_true("write", n >= 0);
                if (n == 0)
                        check_true("loop", sd_event_run(core.event, USEC_PER_MSEC) >= 0);
                data += n;
                size -= (size_t) n;
        }
}

static int file_write_all(const char *name, const char *data, size_t size, uint32_t flags) {
        FileRequest q = request(FILE_WRITE, name, flags);
        Heard h;
        int r;

        file_begin(&h, &q);
        file_fill(&h, data, size);
        if (h.n_ends == 0)
                check_result("commit", ASK(fileop_commit(h.op)), 0);
        RUN_UNTIL(h.n_ends > 0);
        r = h.error;
        check_uint("its entry", h.n_entries, r < 0 ? 0 : 1);
        file_done(&h);
        return r;
}

/* The caller frees it. */
static char *file_read_all(const char *name, size_t *ret_size) {
        FileRequest q = request(FILE_READ, name, 0);
        char *data;
        Heard h;

        check_result(name, file_do(&h, &q), 0);
        check_true("a descriptor", h.fd >= 0);
        data = malloc((size_t) h.entry.size + 1);
        check_true("memory", data != NULL);
        check_int("read", fd_read_full(h.fd, data, (size_t) h.entry.size + 1), (intmax_t) h.entry.size);
        data[h.entry.size] = '\0';
        *ret_size = (size_t) h.entry.size;
        file_done(&h);
        return data;
}

TEST(files_come_back_as_they_were_written) {
        enum { SIZE = 3 << 20 };
        Sandbox *sb = suite_create(0);
        char *large = malloc(SIZE), *read_back;
        size_t size;

        check_true("memory", large != NULL);
        for (size_t i = 0; i < SIZE; i++)
                large[i] = (char) (i * 7 + (i >> 12));
        check_result("write", file_write_all("large", large, SIZE, 0), 0);
        read_back = file_read_all("large", &size);
        check_uint("size", size, SIZE);
        check_true("bytes", memcmp(read_back, large, SIZE) == 0);
        free(read_back);
        free(large);

        check_result("empty", file_write_all("empty", "", 0, 0), 0);
        free(file_read_all("empty", &size));
        check_uint("size", size, 0);
        suite_finish(sb);
}

TEST(files_and_commands_see_the_same) {
        Sandbox *sb = suite_create(0);
        char *text;
        size_t size;
        Exec *e;

        check_result("write", file_write_all("word", "from outside\n", 13, 0), 0);
        e = sh((ProviderCommand) { .cwd = provider_factory.workdir() }, "cat word; echo from inside >answer");
        exec_wait(e);
        check_end(e, 0, 0);
        check_string("output", text_of(e->out), "from outside\n");
        text = file_read_all("answer", &size);
        check_string("answer", text, "from inside\n");
        free(text);
        suite_finish(sb);
}

TEST(directories_are_made_listed_moved_and_removed) {
        Sandbox *sb = suite_create(0);
        FileRequest q;
        Heard h;

        check_result("mkdir", file_ask(FILE_MKDIR, "dir", 0), 0);
        check_result("again", file_ask(FILE_MKDIR, "dir", 0), -EEXIST);
        check_result("write", file_write_all("dir/one", "1", 1, 0), 0);
        check_result("write", file_write_all("dir/two", "22", 2, 0), 0);
        q = request(FILE_LIST, "dir", 0);
        check_result("list", file_do(&h, &q), 0);
        check_uint("entries", h.n_entries, 2);
        check_uint("count", h.count, 2);
        check_true("names", strstr(h.names, "one\n") && strstr(h.names, "two\n"));
        file_done(&h);

        q = request(FILE_MOVE, "dir/one", 0);
        (void) snprintf(q.target, sizeof(q.target), "%s/moved", provider_factory.workdir());
        check_result("move", file_do(&h, &q), 0);
        file_done(&h);
        check_result("not there any more", file_ask(FILE_STAT, "dir/one", 0), -ENOENT);
        q = request(FILE_STAT, "moved", 0);
        check_result("stat", file_do(&h, &q), 0);
        check_uint("size", h.entry.size, 1);
        check_true("type", S_ISREG(h.entry.mode));
        file_done(&h);

        check_result("not empty", file_ask(FILE_REMOVE, "dir", 0), -ENOTEMPTY);
        check_result("remove", file_ask(FILE_REMOVE, "dir", FILE_RECURSIVE), 0);
        check_result("gone", file_ask(FILE_REMOVE, "dir", 0), -ENOENT);
        check_result("that is fine", file_ask(FILE_REMOVE, "dir", FILE_MISSING_OK), 0);
        suite_finish(sb);
}

TEST(files_that_are_not_there_say_so) {
        Sandbox *sb = suite_create(0);

        check_result("stat", file_ask(FILE_STAT, "nothing", 0), -ENOENT);
        check_result("read", file_ask(FILE_READ, "nothing", 0), -ENOENT);
        check_result("list", file_ask(FILE_LIST, "nothing", 0), -ENOENT);
        check_result("write", file_write_all("no/directory", "x", 1, 0), -ENOENT);
        check_result("parents", file_write_all("no/directory", "x", 1, FILE_PARENTS), 0);
        check_result("there is one", file_write_all("no/directory", "y", 1, FILE_NO_REPLACE), -EEXIST);
        suite_finish(sb);
}

TEST(a_write_that_is_given_up_leaves_nothing) {
        Sandbox *sb = suite_create(0);
        FileRequest q = request(FILE_WRITE, "half", 0);
        size_t size;
        char *text;
        Heard h;

        file_begin(&h, &q);
        file_fill(&h, "half of it", 10);
        settle();
        file_done(&h);
        settle();
        check_uint("nothing is told", h.n_ends, 0);
        check_result("nothing is there", file_ask(FILE_STAT, "half", 0), -ENOENT);

        check_result("a former one", file_write_all("half", "whole", 5, 0), 0);
        file_begin(&h, &q);
        file_fill(&h, "half", 4);
        settle();
        file_done(&h);
        text = file_read_all("half", &size);
        check_string("stays", text, "whole");
        free(text);
        suite_finish(sb);
}

/* Capabilities */

/* A capability that the provider lacks has to be refused by name, and that is the test then. */
static bool is_offered(ProviderCapability what) {
        Error error = { 0 };
        bool offered;

        suite_begin();
        offered = provider_has(provider(), what);
        check_result("in one place", provider_require(provider(), what, &error), offered ? 0 : -EOPNOTSUPP);
        check_true("by name", offered || error.text[0] != '\0');
        suite_end();
        return offered;
}

TEST(capability_pause_stands_still_and_goes_on) {
        Sandbox *sb;
        struct stat before, after;
        Exec *e;

        if (!is_offered(PROVIDER_PAUSE))
                return;
        sb = suite_create(0);
        e = sh((ProviderCommand) { 0 }, "while :; do echo tick; sleep 0.02; done");
        RUN_UNTIL(*text_of(e->out));
        check_result("freeze", ASK(provider()->pause->freeze(provider(), sb, true)), 0);
        RUN_UNTIL(core.n_frozen == 1);
        check_true("frozen", core.frozen && core.error == 0);
        settle();
        check_int("stat", fstat(e->out, &before), 0);
        settle();
        check_int("stat", fstat(e->out, &after), 0);
        check_int("stands still", after.st_size, before.st_size);
        check_uint("lives", e->n_ends, 0);
        check_result("thaw", ASK(provider()->pause->freeze(provider(), sb, false)), 0);
        RUN_UNTIL(core.n_frozen == 2);
        check_true("thawed", !core.frozen && core.error == 0);
        RUN_UNTIL(fstat(e->out, &after) == 0 && after.st_size > before.st_size);
        check_result("freeze", ASK(provider()->pause->freeze(provider(), sb, true)), 0);
        RUN_UNTIL(core.n_frozen == 3);
        suite_finish(sb); /* a frozen one can be destroyed */
}

TEST(capability_pause_survives_a_restart) {
        Sandbox *sb;

        if (!is_offered(PROVIDER_PAUSE))
                return;
        sb = suite_create(0);
        check_result("freeze", ASK(provider()->pause->freeze(provider(), sb, true)), 0);
        RUN_UNTIL(core.n_frozen == 1);
        provider()->ops->release(provider(), sb);
        provider_close();
        sb->status = SANDBOX_PAUSED;
        provider_open();
        check_result("adopt", ASK(provider()->ops->adopt(provider(), sb)), 0);
        RUN_UNTIL(core.n_adopted == 1);
        check_result("adopted", core.error, 0);
        check_result("thaw", ASK(provider()->pause->freeze(provider(), sb, false)), 0);
        RUN_UNTIL(core.n_frozen == 2);
        sb->status = SANDBOX_READY;
        exec_wait(sh((ProviderCommand) { 0 }, "exit 0"));
        check_end(core.execs, 0, 0);
        suite_finish(sb);
}

TEST(capability_pty_is_a_terminal_of_its_size) {
        Sandbox *sb;
        Exec *e;

        if (!is_offered(PROVIDER_PTY))
                return;
        sb = suite_create(0);
        e = sh((ProviderCommand) { .pty = true, .columns = 91, .rows = 17 }, "test -t 0 && test -t 1 && test -t 2 && stty size; read word; stty size; echo error >&2");
        RUN_UNTIL(strstr(text_of(e->out), "17 91"));
        check_result("resize", ASK(provider()->terminals->resize(provider(), sb, e->number, 80, 24)), 0);
        check_result("open", ASK(provider()->ops->stdin_open(provider(), sb, e->number)), 0);
        RUN_UNTIL(e->n_stdin > 0);
        check_int("type", write(e->stdin_fd, "word\n", 5), 5);
        exec_wait(e);
        check_end(e, 0, 0);
        check_part("resized", text_of(e->out), "24 80");
        check_part("all in one", text_of(e->out), "error");
        suite_finish(sb);
}

TEST(capability_health_answers) {
        Sandbox *sb;

        if (!is_offered(PROVIDER_HEALTH))
                return;
        sb = suite_create(0);
        check_result("verify", ASK(provider()->health->verify(provider(), sb)), 0);
        RUN_UNTIL(core.n_adopted == 1);
        check_result("well", core.error, 0);
        suite_finish(sb);
}

static int port_connect(Sandbox *sb, uint16_t port) {
        struct pollfd p = { .events = POLLOUT };
        socklen_t size = sizeof(int);
        unsigned before = core.n_socket;
        int error = 0;

        core.token++;
        check_result("connect", ASK(provider()->ports->connect(provider(), sb, port, core.token)), 0);
        RUN_UNTIL(core.n_socket > before);
        if (core.error < 0)
                return core.error;
        check_true("a descriptor", core.socket_fd >= 0);
        p.fd = core.socket_fd;
        check_int("poll", poll(&p, 1, 10000), 1);
        if (getsockopt(core.socket_fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
                return -errno;
        return -error;
}

TEST(capability_ports_are_reached) {
        Sandbox *sb;
        char text[8] = "";
        Exec *e;

        if (!is_offered(PROVIDER_PORTS))
                return;
        sb = suite_create(0);
        check_result("nobody listens", port_connect(sb, 8080), -ECONNREFUSED);
        e = sh((ProviderCommand) { 0 }, "exec python3 -c 'import socket\ns = socket.create_server((\"127.0.0.1\", 8080))\nprint(\"ready\", flush=True)\nc, _ = s.accept()\nc.sendall(b\"hello\")'");
        RUN_UNTIL(*text_of(e->out) || e->n_ends > 0);
        if (e->n_ends > 0)
                unit_skip("no python3 in the sandbox: use a template that has it");
        check_result("somebody listens", port_connect(sb, 8080), 0);
        exec_wait(e);
        check_int("read", fd_read_full(core.socket_fd, text, 5), 5);
        check_string("what it says", text, "hello");
        suite_finish(sb);
}

TEST(capability_egress_has_its_sockets) {
        Sandbox *sb;

        if (!is_offered(PROVIDER_EGRESS))
                return;
        sb = suite_create(MODE_EGRESS);
        check_result("ask", ASK(provider()->egress->sockets(provider(), sb)), 0);
        RUN_UNTIL(core.n_network > 0);
        check_result("answer", core.error, 0);
        check_uint("TCP, DNS, UDP", core.n_network_fds, 3);
        suite_finish(sb);
}

TEST(capability_groups_have_a_hub) {
        Sandbox *sb;

        if (!is_offered(PROVIDER_GROUPS))
                return;
        sb = suite_create(MODE_ISOLATED);
        check_result("ask", ASK(provider()->groups->sockets(provider(), sb)), 0);
        RUN_UNTIL(core.n_network > 0);
        check_result("answer", core.error, 0);
        check_uint("DNS, hub", core.n_network_fds, 2);
        suite_finish(sb);
}

static int tree_ask(TreeOperation operation, TreeKind kind, const char *name, uint64_t bytes) {
        TreeRequest q = { .operation = (uint8_t) operation, .bytes = bytes, .n_refs = 1, .refs = { tree_ref(kind, name) } };
        unsigned before = core.n_tree_done;

        core.token++;
        check_result("ask", ASK(provider()->trees->ask(provider(), &q, NULL, core.token)), 0);
        RUN_UNTIL(core.n_tree_done > before);
        return core.error;
}

TEST(capability_disks_are_made_measured_and_removed) {
        if (!is_offered(PROVIDER_DISKS) || !is_offered(PROVIDER_TREES))
                return;
        suite_begin();
        check_result("make", tree_ask(TREE_MAKE, TREE_VOLUME, "conformance", 16 << 20), 0);
        check_result("again", tree_ask(TREE_MAKE, TREE_VOLUME, "conformance", 16 << 20), -EEXIST);
        check_result("usage", tree_ask(TREE_USAGE, TREE_VOLUME, "conformance", 0), 0);
        check_result("list", tree_ask(TREE_LIST, TREE_VOLUME, "", 0), 0);
        check_result("remove", tree_ask(TREE_REMOVE, TREE_VOLUME, "conformance", 0), 0);
        check_result("one that is not there is gone", tree_ask(TREE_REMOVE, TREE_VOLUME, "conformance", 0), 0);
        suite_end();
}

TEST(capability_channels_are_kept) {
        Sandbox *sb;
        char text[8] = "";
        Exec *e;

        if (!is_offered(PROVIDER_CHANNELS))
                return;
        sb = suite_create(0);
        e = sh((ProviderCommand) { .channel = true }, "echo hello >&3; read word <&3; test \"$word\" = well");
        check_result("open", ASK(provider()->channels->open(provider(), sb, e->number)), 0);
        RUN_UNTIL(e->n_channel > 0);
        check_int("error", e->channel_error, 0);
        check_true("poll", poll(&(struct pollfd) { .fd = e->channel[EXECUTION_CHANNEL_LINK], .events = POLLIN }, 1, 10000) == 1);
        check_int("read", read(e->channel[EXECUTION_CHANNEL_LINK], text, 6), 6);
        check_string("from inside", text, "hello\n");
        check_int("write", write(e->channel[EXECUTION_CHANNEL_LINK], "well\n", 5), 5);
        exec_wait(e);
        check_end(e, 0, 0);
        for (int i = 0; i < _EXECUTION_CHANNEL_MAX; i++)
                (void) fd_close(e->channel[i]);
        check_result("ask", ASK(provider()->channels->ask_kept(provider(), sb, 0)), 0);
        RUN_UNTIL(core.n_kept > 0);
        check_int("nothing is kept", core.kept_pid, 0);
        suite_finish(sb);
}

TEST(capability_zygotes_that_are_not_there_say_so) {
        static const Strv no_env = STRV_INIT(0);
        const ProviderZygote what = { .template_name = "host", .language = "nothing", .gid = 1000, .nofile = 64, .nproc = 16, .cwd = "/", .env = &no_env };
        Sandbox *sb;

        if (!is_offered(PROVIDER_ZYGOTES))
                return;
        sb = suite_create(0);
        core.token++;
        check_result("fork", ASK(provider()->zygotes->fork(provider(), sb, &what, core.token)), 0);
        RUN_UNTIL(core.n_zygote > 0);
        check_result("there is none", core.error, -EOPNOTSUPP);
        suite_finish(sb);
}

/* A provider with no capability at all is refused each of them by its own name. */
TEST(what_is_missing_is_refused_by_name) {
        const Provider bare = { .ops = &(ProviderOps) { .name = "bare" } };
        char texts[_PROVIDER_CAPABILITY_MAX][ERROR_TEXT_MAX];

        for (ProviderCapability c = 0; c < _PROVIDER_CAPABILITY_MAX; c++) {
                Error error = { 0 };

                check_true("has not", !provider_has(&bare, c));
                check_result("refused", provider_require(&bare, c, &error), -EOPNOTSUPP);
                check_part("the provider", error.text, "'bare'");
                memcpy(texts[c], error.text, sizeof(texts[c]));
                for (ProviderCapability before = 0; before < c; before++)
                        check_true("its own words", strcmp(texts[before], texts[c]) != 0);
        }
}
