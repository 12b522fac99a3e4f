/* context.h: contexts: interpreters that keep their state, so that each piece of code sees the definitions of the
 * earlier ones.
 *
 * A context is a process inside its sandbox: a driver of ours in the language itself (drivers/, built into the
 * daemon), which speaks JSON lines over a descriptor. PID 1 keeps the other end (guest.h, CHANNEL), so a context
 * outlives the daemon like every execution. PID 1 starts it, or it is forked from a zygote (core/zygote.h) if there
 * is one for its language and template, which saves the interpreter's start; PID 1 keeps the other end of a forked
 * one too (KEEP).
 * The guest controls the driver: everything that it sends is untrusted, checked and bounded.
 *
 * The driver's messages about one run, one object a line, in order; the surfaces pass them on:
 *      {"type":"number_of_executions","execution_count":1}
 *      {"type":"stdout"|"stderr","text":…,"timestamp":…}
 *      {"type":"result","text":…,"html":…,"markdown":…,"svg":…,"png":…,"jpeg":…,"pdf":…,"latex":…,"json":…,"javascript":…,"data":…,"chart":…,"extra":{},"is_main_result":bool}
 *      {"type":"error","name":…,"value":…,"traceback":…}
 *      {"type":"end_of_execution"}
 *
 *      contexts.c     all of a daemon's; adoption after a restart      language.c   the languages, and how each is started
 *      context.c      one: begin, restart, end                         link.c       lines to and from the driver
 *      run.c          one piece of code: queued per context, events, interruption
 *
 * Must not know: HTTP, the dialects' names for things. */
#pragma once

#include "core/manager.h"
#include "json/json.h"

#define CONTEXT_ID_MAX    40
#define CONTEXTS_MAX      16 /* of a sandbox */
#define CONTEXT_CODE_MAX  ((size_t) 16 << 20)
#define CONTEXT_EVENT_MAX ((size_t) 32 << 20) /* one line of a driver, such as a picture */

typedef struct Contexts Contexts;
typedef struct ContextRun ContextRun;

typedef struct Context {
        char id[CONTEXT_ID_MAX + 1];
        const char *language; /* "python", "javascript", "typescript", "bash", "r", "java": its canonical name */
        char *cwd;
        Sandbox *sandbox;
        usec_t created_at;
        uint64_t n_runs;
        bool busy;
        bool warm; /* forked from a zygote, or begun ahead */
} Context;

/* Whether an execution is the process of a context: lists of callers' executions omit it. */
bool context_is_execution(const Execution *x);

int contexts_new(Manager *m, Contexts **ret, Error *reterr);
Contexts *contexts_free(Contexts *c);

/* Canonical name of a language or one of its short names ("js"); NULL: unknown. */
const char *context_language(const char *name);

/* All of them, for a sentence: "python, … or java". */
#define CONTEXT_LANGUAGES_MAX 160
const char *context_languages(char ret[static CONTEXT_LANGUAGES_MAX]);

typedef struct ContextSpec {
        const char *language; /* canonical */
        const char *cwd;      /* NULL: the sandbox's working directory */
        uint32_t uid, gid;    /* the sandbox's own, when has_user is not set */
        bool has_user;
} ContextSpec;

/* Called once, and not from within context_begin(). error NULL: the context is ready for code. -EOPNOTSUPP: the
 * template has no such interpreter (the text says what to install). -E2BIG: too many. */
typedef void (*ContextDone)(Context *x, const Error *error, void *userdata);
int context_begin(Contexts *c, Sandbox *sb, const ContextSpec *spec, ContextDone done, void *userdata, Error *reterr);
void contexts_forget_caller(Contexts *c, void *userdata); /* done is not called any more */

Context *context_find(Contexts *c, const Sandbox *sb, const char *id);
size_t context_list(Contexts *c, const Sandbox *sb, Context *ret[static CONTEXTS_MAX]); /* oldest first */
/* The default context of a language runs code that names no context; it is begun if it does not exist. Its id is
 * "default-" and the language. */
void context_default_id(const char *language, char ret[static CONTEXT_ID_MAX + 1]);
const char *context_default_language(const char *id); /* NULL: not the id of a default context */
int context_default(Contexts *c, Sandbox *sb, const char *language, ContextDone done, void *userdata, Error *reterr);

int context_restart(Context *x, ContextDone done, void *userdata, Error *reterr); /* same id, without its state. Negative: it is unchanged */
/* Interrupts the current run: 1; 0: nothing runs. The run's end() is called as always. */
int context_interrupt(Context *x);
void context_end(Context *x);                                       /* and its process; the current run ends with an error */

typedef struct ContextHandlers {
        /* One line of the driver, checked; borrowed. */
        void (*event)(ContextRun *run, const json_t *event, void *userdata);
        /* Called once, last. r 0: the run has ended, successfully or with an error event. -ECANCELED: interrupted by
         * contextrun_cancel(). -EPIPE: the interpreter or the sandbox died. -EKEYREVOKED: the secrets to mask are unknown. */
        void (*end)(ContextRun *run, int r, const char *text, void *userdata);
} ContextHandlers;

/* Queued behind the current run. env: added to the sandbox's, for this run only. timeout 0: none. */
int context_run(Context *x, const Principal *who, const char *code, const Strv *env, usec_t timeout_usec, const ContextHandlers *handlers, void *userdata, ContextRun **ret, Error *reterr);
/* The client is gone: interrupts a current run, drops a queued one; end() is not called any more. */
ContextRun *contextrun_cancel(ContextRun *run);
/* Pauses and resumes reading, when events come faster than they can be passed on. */
void contextrun_pause(ContextRun *run, bool pause);
