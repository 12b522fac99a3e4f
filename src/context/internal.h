/* internal.h: shared by the files of contexts only.
 *
 * The channel, daemon to driver: first the driver's source, as its size in decimal digits, a newline, and that many
 * bytes. Then one line per request. Fields are separated by 0x1e; within a field a backslash, a newline and 0x1e are
 * written `\\`, `\n` and `\0036`, so that a shell can read it too (printf %b):
 *
 *      run N CODE NAME=VALUE…     answered by events with "run": N, the last one end_of_execution
 *      env NAME=VALUE…            for all later runs: the context was begun before its sandbox had an owner
 *      interrupt N                interrupts run N if it is the current one
 *      sync TOKEN                 after a restart of the daemon: interrupts the current run; {"type":"synced","token":…,"count":runs so far}
 *
 * Driver to daemon: JSON, one object a line; {"type":"ready"} is the first. Every line ends with a newline, so a
 * daemon that takes over in the middle of a line finds the next one. */
#pragma once

#include "context/context.h"
#include "context/link.h"
#include "core/warmer.h"
#include "core/zygote.h"

#define CONTEXT_TAG       "context:"
#define CONTEXT_SEPARATOR '\x1e'

typedef struct ContextLanguage {
        const char *name;
        const char *aliases[3];
        const char *program;   /* that the template must have */
        const char *const *args; /* the program and the arguments that make it load the driver; NULL-terminated. The language's name follows */
        const char *driver;    /* file name of the driver */
        const char *cure;      /* what to install */
        bool by_signal;        /* interrupted by SIGINT to all its processes instead of a line on the channel */
} ContextLanguage;

/* language.c */
const ContextLanguage *context_language_find(const char *name); /* by any of its names; NULL */
int context_language_source(const ContextLanguage *l, const char **ret, size_t *ret_size);

/* drivers/, built in */
typedef struct ContextDriver {
        const char *name;
        const unsigned char *data;
        size_t size;
} ContextDriver;
extern const ContextDriver context_drivers[];
extern const size_t context_n_drivers;

typedef enum ContextState {
        CONTEXT_BEGINNING, /* until the driver is ready */
        CONTEXT_ADOPTING,  /* until the driver has answered a sync */
        CONTEXT_STANDS,
        CONTEXT_OVER,      /* about to be freed */
} ContextState;

typedef struct ContextWaiter {
        ContextDone done; /* NULL: the caller is gone */
        void *userdata;
        struct ContextWaiter *prev, *next, *all_prev, *all_next;
} ContextWaiter;

typedef struct ContextSeat ContextSeat;
typedef struct ContextEntry ContextEntry;

struct ContextEntry {
        Context x; /* first: callers hold a pointer to it */
        Contexts *contexts;
        ContextSeat *seat;
        const ContextLanguage *language;
        ContextState state;
        ContextSpec spec; /* cwd is x.cwd */
        Execution *execution; /* NULL: has none, or it has ended */
        ExecutionWatch watch;
        ZygoteCall *zygote; /* while it is being forked; else NULL */
        int pid; /* of a forked one, which is no execution; else 0 */
        bool unowned; /* begun in a sandbox without an owner: it does not have the owner's environment yet */
        bool counted; /* as work of its sandbox */
        ContextLink link;
        ContextWaiter *waiters;
        ContextRun *runs; /* the first one is under way if x.busy */
        uint64_t last_run;
        uint64_t memory_kills; /* of the sandbox, before the current run began */
        unsigned rubbish; /* invalid lines so far */
        char token[24];   /* of a sync */
        sd_event_source *deadline; /* to become ready, or to obey an interruption */
        unsigned interrupts;
        bool closing;        /* its channel has ended: the end of its execution tells why */
        char complaint[512]; /* the last output while it began */
        int error;           /* code for `why`, if not the default */
        char why[ERROR_TEXT_MAX]; /* why it is over */
        sd_event_source *later;    /* calls waiters or ends it from the event loop, never from within a call */
        ContextEntry *prev, *next;
};

/* All contexts of a sandbox. */
struct ContextSeat {
        char id[SANDBOX_ID_LENGTH + 1];
        Contexts *contexts;
        Sandbox *sandbox;
        SandboxWatch watch;
        ContextEntry *entries; /* oldest first */
        bool gone;
        UT_hash_handle hh;
};

struct Contexts {
        Manager *manager;
        ContextSeat *seats;
        ContextWaiter *waiters; /* in all contexts */
        PoolWarmer warmer;
        ChannelKeeper keeper;
        sd_event_source *adopt;
        bool adopted; /* all contexts that have outlived the previous daemon */
};

/* contexts.c */
int context_seat_get(Contexts *c, Sandbox *sb, ContextSeat **ret);
void context_seat_release(ContextSeat *s); /* call after the end of a context: frees the seat if that was the last one and the sandbox is gone */

/* context.c */
int context_entry_new(ContextSeat *s, const char *id, const ContextLanguage *l, const ContextSpec *spec, ContextEntry **ret, Error *reterr);
ContextEntry *context_entry_free(ContextEntry *e); /* calls no callback */
int context_entry_start(ContextEntry *e, Error *reterr);
int context_entry_adopt(ContextEntry *e, Execution *x);
int context_entry_adopt_kept(ContextEntry *e, int pid, int fds[static _EXECUTION_CHANNEL_MAX]); /* takes the descriptors */
int context_entry_wait(ContextEntry *e, ContextDone done, void *userdata); /* if it is ready, done is called soon, but not from within */
void context_entry_over(ContextEntry *e, const char *format, ...) _printf_(2, 3); /* ends it and fails all its waiters */
void context_entry_set_idle(ContextEntry *e, bool idle);
void context_entry_wake(ContextEntry *e); /* schedules pending work in the event loop */

/* run.c */
void context_runs_next(ContextEntry *e);
void context_runs_event(ContextEntry *e, json_t *event, uint64_t run);
void context_runs_stream(ContextEntry *e, bool is_stderr, const char *data, size_t size);
void context_runs_fail(ContextEntry *e, int r, const char *text); /* all of them */
void context_runs_interrupt(ContextEntry *e);
void context_runs_resumed(ContextEntry *e, uint64_t count); /* after a sync */

/* event.c: parses one line of a driver. -EBADMSG: not a valid event. ret_run: 0 if it names no run. Unknown fields
 * are left out; the mask's values are hidden. */
int context_event_read(const char *line, size_t size, const struct Mask *mask, json_t **ret, uint64_t *ret_run);
json_t *context_event_stream(bool is_stderr, const char *data, size_t size); /* UTF-8 */
json_t *context_event_error(const char *name, const char *value);
int context_request_put(Text *t, const char *field); /* appends an escaped field, with a separator unless it is the first */
