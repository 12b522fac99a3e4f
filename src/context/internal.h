/* internal.h: what the files of contexts share among themselves. Nobody else includes it.
 *
 * What is said over the channel, daemon to driver: first the driver's source, as its size in decimal digits, a newline, and so many bytes. Then one line per request; fields
 * are separated by 0x1e, and within a field a backslash, a newline and 0x1e are written `\\`, `\n` and `\0036`, so that a shell can read it too (printf %b):
 *
 *      run N CODE NAME=VALUE…     answered by events with "run": N, the last one end_of_execution
 *      env NAME=VALUE…            for all that follow: it was begun before it was somebody's
 *      interrupt N                if N is what runs
 *      sync TOKEN                 after a restart of the daemon: what runs is interrupted; {"type":"synced","token":…,"count":runs so far}
 *
 * Driver to daemon: JSON, one object a line; {"type":"ready"} is the first. A line begins behind every newline, so whoever takes over in the middle of one finds
 * the next. */
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
        const char *program;   /* that has to be there */
        const char *const *args; /* the program and how it takes on the driver; NULL at its end. The language's name follows */
        const char *driver;    /* its file's name */
        const char *cure;      /* what to install */
        bool by_signal;        /* an interruption comes as SIGINT to all of it, and not over the channel */
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
        CONTEXT_BEGINNING, /* until it is ready */
        CONTEXT_ADOPTING,  /* until it has answered */
        CONTEXT_STANDS,
        CONTEXT_OVER,      /* about to be freed */
} ContextState;

typedef struct ContextWaiter {
        ContextDone done; /* NULL: has gone */
        void *userdata;
        struct ContextWaiter *prev, *next, *all_prev, *all_next;
} ContextWaiter;

typedef struct ContextSeat ContextSeat;
typedef struct ContextEntry ContextEntry;

struct ContextEntry {
        Context x; /* first: what others hold */
        Contexts *contexts;
        ContextSeat *seat;
        const ContextLanguage *language;
        ContextState state;
        ContextSpec spec; /* cwd is x.cwd */
        Execution *execution; /* NULL: has none, or it has ended */
        ExecutionWatch watch;
        ZygoteCall *zygote; /* it is being forked; NULL */
        int pid; /* of one that was, and is no execution; 0 */
        bool unowned; /* begun in a sandbox that was nobody's: its environment is not its owner's yet */
        bool counted; /* as work of its sandbox */
        ContextLink link;
        ContextWaiter *waiters;
        ContextRun *runs; /* the first one runs, when x.busy */
        uint64_t last_run;
        uint64_t memory_kills; /* of the sandbox, before what runs began */
        unsigned rubbish; /* lines that were none */
        char token[24];   /* of a sync */
        sd_event_source *deadline; /* to be ready, or to obey an interruption */
        unsigned interrupts;
        bool closing;        /* its channel has ended: its execution's end tells why */
        char complaint[512]; /* the last of what it said while it began */
        int error;           /* of why, when it is not the plain one */
        char why[ERROR_TEXT_MAX]; /* it is over */
        sd_event_source *later;    /* tells waiters, or ends it: never from within */
        ContextEntry *prev, *next;
};

/* All of a sandbox. */
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
        bool adopted; /* all that has outlived the daemon before us */
};

/* contexts.c */
int context_seat_get(Contexts *c, Sandbox *sb, ContextSeat **ret);
void context_seat_release(ContextSeat *s); /* its last context has gone: perhaps its sandbox has, too */

/* context.c */
int context_entry_new(ContextSeat *s, const char *id, const ContextLanguage *l, const ContextSpec *spec, ContextEntry **ret, Error *reterr);
ContextEntry *context_entry_free(ContextEntry *e); /* tells nobody */
int context_entry_start(ContextEntry *e, Error *reterr);
int context_entry_adopt(ContextEntry *e, Execution *x);
int context_entry_adopt_kept(ContextEntry *e, int pid, int fds[static _EXECUTION_CHANNEL_MAX]); /* takes the descriptors */
int context_entry_wait(ContextEntry *e, ContextDone done, void *userdata); /* at once, when it stands, but not from within */
void context_entry_over(ContextEntry *e, const char *format, ...) _printf_(2, 3); /* ends it and all that wait for it */
void context_entry_set_idle(ContextEntry *e, bool idle);
void context_entry_wake(ContextEntry *e); /* looks at what there is to do, but not from within */

/* run.c */
void context_runs_next(ContextEntry *e);
void context_runs_event(ContextEntry *e, json_t *event, uint64_t run);
void context_runs_stream(ContextEntry *e, bool is_stderr, const char *data, size_t size);
void context_runs_fail(ContextEntry *e, int r, const char *text); /* all of them */
void context_runs_interrupt(ContextEntry *e);
void context_runs_resumed(ContextEntry *e, uint64_t count); /* after a sync */

/* event.c: one line of a driver. -EBADMSG: none of ours. ret_run: 0, when it names none. What is not known in it is left out; the mask's values are hidden. */
int context_event_read(const char *line, size_t size, const struct Mask *mask, json_t **ret, uint64_t *ret_run);
json_t *context_event_stream(bool is_stderr, const char *data, size_t size); /* UTF-8 */
json_t *context_event_error(const char *name, const char *value);
int context_request_put(Text *t, const char *field); /* escaped, with a separator before it unless it is the first */
