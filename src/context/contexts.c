/* contexts.c: all contexts of a daemon, by sandbox; those that have outlived a restart are found by their executions. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <utlist.h>

#include "base/log.h"
#include "context/internal.h"

#define ADOPT_EVERY    (50 * USEC_PER_MSEC)
#define DEFAULT_PREFIX "default-"
#define WORKDIR_DEFAULT "/workspace"

static ContextSeat *contexts_seat_free(ContextSeat *s) {
        while (s->entries) {
                ContextEntry *e = s->entries;

                context_runs_fail(e, -EPIPE, "the sandbox has ended");
                (void) context_entry_free(e);
        }
        sandbox_unwatch(&s->watch);
        HASH_DEL(s->contexts->seats, s);
        free(s);
        return NULL;
}

static bool has_processes(const Sandbox *sb) {
        return sandbox_is_up(sb) || (sb->status == SANDBOX_PAUSED && !sb->parked);
}

/* Executions get their ends before this call; contexts without an execution may be left. */
static void contexts_on_sandbox(Sandbox *sb, Execution *x, void *userdata) {
        ContextSeat *s = userdata;
        ContextEntry *e, *next;

        if (x || has_processes(sb))
                return;
        DL_FOREACH_SAFE(s->entries, e, next)
                context_entry_over(e, "the sandbox has ended");
        if (!sandbox_is_ending(sb))
                return;
        s->gone = true;
        sandbox_unwatch(&s->watch);
        context_seat_release(s);
}

void context_seat_release(ContextSeat *s) {
        if (s->gone && !s->entries)
                (void) contexts_seat_free(s);
}

/* Adoption. */

static const ContextLanguage *language_of(const Execution *x) {
        return x->spec.args.n > 0 ? context_language_find(x->spec.args.items[x->spec.args.n - 1]) : NULL;
}

static int adopt_one(ContextSeat *s, Execution *x) {
        const ContextLanguage *l = language_of(x);
        const char *id = x->spec.tag + strlen(CONTEXT_TAG);
        ContextSpec spec = { .cwd = x->spec.cwd ? x->spec.cwd : "/", .has_user = x->spec.has_user, .uid = x->spec.uid, .gid = x->spec.gid };
        ContextEntry *e;
        Error error = { 0 };
        int r;

        if (!l || strlen(id) > CONTEXT_ID_MAX || context_find(s->contexts, s->sandbox, id))
                return 0;
        r = context_entry_new(s, id, l, &spec, &e, &error);
        if (r < 0)
                return r;
        e->x.created_at = x->started_at;
        r = context_entry_adopt(e, x);
        if (r < 0)
                (void) context_entry_free(e);
        return r;
}

bool context_is_execution(const Execution *x) {
        return x->spec.tag && strncmp(x->spec.tag, CONTEXT_TAG, strlen(CONTEXT_TAG)) == 0;
}

static bool is_kept(const Execution *x) {
        return !execution_ended(x) && context_is_execution(x);
}

static bool has_kept(const Sandbox *sb) {
        Execution *x, *next;

        HASH_ITER(hh, sb->executions, x, next)
                if (is_kept(x))
                        return true;
        return false;
}

static int contexts_by_number(const void *a, const void *b) {
        const Execution *const *x = a, *const *y = b;

        return (*x)->number < (*y)->number ? -1 : 1;
}

static void adopt_all(ContextSeat *s) {
        Execution *x, *next, *found[CONTEXTS_MAX];
        size_t n = 0;

        HASH_ITER(hh, s->sandbox->executions, x, next)
                if (is_kept(x) && n < CONTEXTS_MAX)
                        found[n++] = x;
        qsort(found, n, sizeof(found[0]), contexts_by_number);
        for (size_t i = 0; i < n; i++)
                if (adopt_one(s, found[i]) < 0)
                        log_warning("sandbox %s: context %s cannot be taken up", s->id, found[i]->spec.tag);
}

/* Contexts that a zygote made and PID 1 has kept for us: one after the other, until there are no more. */
static void contexts_on_kept(Sandbox *sb, unsigned number, int pid, const char *text, int *fds, void *userdata) {
        char words[SANDBOX_KEPT_TEXT_MAX], *id = words, *language, *cwd;
        ContextSpec spec = { 0 };
        ContextSeat *s;
        ContextEntry *e;
        Error error = { 0 };

        if (pid == 0 || !has_processes(sb))
                return;
        (void) sandbox_ask_kept(sb, number + 1);
        (void) snprintf(words, sizeof(words), "%s", text);
        language = strchr(words, CONTEXT_SEPARATOR);
        cwd = language ? strchr(language + 1, CONTEXT_SEPARATOR) : NULL;
        if (!cwd || context_seat_get(userdata, sb, &s) < 0)
                return;
        *language++ = *cwd++ = '\0';
        spec.cwd = cwd;
        if (!context_language_find(language) || strlen(id) > CONTEXT_ID_MAX || context_find(userdata, sb, id) ||
                        context_entry_new(s, id, context_language_find(language), &spec, &e, &error) < 0)
                return;
        if (context_entry_adopt_kept(e, pid, fds) < 0)
                (void) context_entry_free(e);
}

int context_seat_get(Contexts *c, Sandbox *sb, ContextSeat **ret) {
        ContextSeat *s;

        HASH_FIND_STR(c->seats, sb->id, s);
        if (!s) {
                s = calloc(1, sizeof(*s));
                if (!s)
                        return -ENOMEM;
                s->contexts = c;
                s->sandbox = sb;
                memcpy(s->id, sb->id, sizeof(s->id));
                s->watch = (SandboxWatch) { .changed = contexts_on_sandbox, .userdata = s };
                sandbox_watch(sb, &s->watch);
                HASH_ADD_STR(c->seats, id, s);
        }
        *ret = s;
        return 0;
}

/* NULL: it has none. */
static ContextSeat *seat_of(Contexts *c, const Sandbox *sb) {
        ContextSeat *s;

        HASH_FIND_STR(c->seats, sb->id, s);
        if (s || c->adopted || c->manager->recovering || sb->unreached || !has_processes(sb) || !has_kept(sb))
                return s;
        if (context_seat_get(c, (Sandbox *) sb, &s) < 0)
                return NULL;
        adopt_all(s);
        return s;
}

static void adopt_all_of(Contexts *c, Sandbox *sb) {
        ContextSeat *s;

        if (has_kept(sb) && context_seat_get(c, sb, &s) >= 0)
                adopt_all(s);
        (void) sandbox_ask_kept(sb, 0);
}

/* Until then, everything about the sandbox is left for later. */
static void contexts_on_adopted(Sandbox *sb, void *userdata) {
        Contexts *c = userdata;

        if (c->adopted && has_processes(sb))
                adopt_all_of(c, sb);
}

/* A context that has outlived the daemon was running for a client that is gone: it is contacted at once, and
 * not on the next request. */
static int on_adopt(sd_event_source *source, uint64_t usec, void *userdata) {
        Contexts *c = userdata;
        Sandbox *sb, *next;

        if (c->manager->recovering) {
                (void) sd_event_source_set_time_relative(source, ADOPT_EVERY);
                return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        }
        HASH_ITER(hh, c->manager->sandboxes, sb, next)
                if (has_processes(sb) && !sb->unreached)
                        adopt_all_of(c, sb);
        c->adopted = true;
        return 0;
}

/* For pools. */

static int contexts_warm(Sandbox *sb, const char *language, Warmed warmed, void *asker, void *userdata, Error *reterr) {
        if (!context_language(language))
                return error_set(reterr, -EINVAL, "there is no language '%.40s'", language);
        return context_default(userdata, sb, language, warmed, asker, reterr);
}

static void forget_warming(void *asker, void *userdata) {
        contexts_forget_caller(userdata, asker);
}

int contexts_new(Manager *m, Contexts **ret, Error *reterr) {
        _cleanup_free_ Contexts *c = calloc(1, sizeof(*c));
        int r;

        if (!c)
                return error_set(reterr, -ENOMEM, "out of memory");
        *c = (Contexts) {
                .manager = m,
                .warmer = { .warm = contexts_warm, .forget = forget_warming, .userdata = c },
                .keeper = { .adopted = contexts_on_adopted, .kept = contexts_on_kept, .userdata = c },
        };
        r = sd_event_add_time_relative(m->event, &c->adopt, CLOCK_MONOTONIC, 0, 1, on_adopt, c);
        if (r < 0)
                return error_set(reterr, r, "cannot make a timer: %m");
        m->warmer = &c->warmer;
        m->channels = &c->keeper;
        *ret = TAKE_PTR(c);
        return 0;
}

Contexts *contexts_free(Contexts *c) {
        ContextSeat *s, *next;

        if (!c)
                return NULL;
        HASH_ITER(hh, c->seats, s, next)
                (void) contexts_seat_free(s);
        c->manager->warmer = NULL;
        c->manager->channels = NULL;
        sd_event_source_disable_unref(c->adopt);
        free(c);
        return NULL;
}

/* Asking. */

Context *context_find(Contexts *c, const Sandbox *sb, const char *id) {
        ContextSeat *s = seat_of(c, sb);
        ContextEntry *e;

        if (!s)
                return NULL;
        DL_FOREACH(s->entries, e)
                if (e->state != CONTEXT_OVER && strcmp(e->x.id, id) == 0)
                        return &e->x;
        return NULL;
}

size_t context_list(Contexts *c, const Sandbox *sb, Context *ret[static CONTEXTS_MAX]) {
        ContextSeat *s = seat_of(c, sb);
        ContextEntry *e;
        size_t n = 0;

        if (!s)
                return 0;
        DL_FOREACH(s->entries, e)
                if (e->state != CONTEXT_OVER && n < CONTEXTS_MAX)
                        ret[n++] = &e->x;
        return n;
}

void context_default_id(const char *language, char ret[static CONTEXT_ID_MAX + 1]) {
        (void) snprintf(ret, CONTEXT_ID_MAX + 1, DEFAULT_PREFIX "%s", language);
}

const char *context_default_language(const char *id) {
        if (strncmp(id, DEFAULT_PREFIX, strlen(DEFAULT_PREFIX)) != 0)
                return NULL;
        return context_language(id + strlen(DEFAULT_PREFIX));
}

static int contexts_make_id(char ret[static CONTEXT_ID_MAX + 1]) {
        uint8_t b[16];

        if (getrandom(b, sizeof(b), 0) != sizeof(b))
                return -EIO;
        (void) snprintf(ret, CONTEXT_ID_MAX + 1, "%02x%02x%02x%02x-%02x%02x-4%01x%02x-a%01x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3], b[4], b[5], b[6] & 15u,
                        b[7], b[8] & 15u, b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
        return 0;
}

static int contexts_begin(Contexts *c, Sandbox *sb, const char *id, const ContextSpec *spec, ContextDone done, void *userdata, Error *reterr) {
        const ContextLanguage *l = context_language_find(spec->language);
        ContextSpec filled = *spec;
        Context *all[CONTEXTS_MAX];
        ContextSeat *s;
        ContextEntry *e;
        int r;

        if (!l)
                return error_set(reterr, -EINVAL, "there is no language '%.40s'", spec->language);
        if (context_list(c, sb, all) >= CONTEXTS_MAX)
                return error_set(reterr, -E2BIG, "the sandbox has %d contexts already, which is as many as it may have: remove one", CONTEXTS_MAX);
        r = context_seat_get(c, sb, &s);
        if (r < 0)
                return error_set(reterr, r, "out of memory");
        if (!filled.cwd)
                filled.cwd = sb->spec.workdir ? sb->spec.workdir : WORKDIR_DEFAULT;
        r = context_entry_new(s, id, l, &filled, &e, reterr);
        if (r < 0)
                return r;
        r = context_entry_wait(e, done, userdata);
        if (r >= 0)
                r = context_entry_start(e, reterr);
        if (r < 0)
                (void) context_entry_free(e);
        return r;
}

int context_begin(Contexts *c, Sandbox *sb, const ContextSpec *spec, ContextDone done, void *userdata, Error *reterr) {
        char id[CONTEXT_ID_MAX + 1];
        int r = contexts_make_id(id);

        return r < 0 ? error_set(reterr, r, "cannot make an id: %m") : contexts_begin(c, sb, id, spec, done, userdata, reterr);
}

int context_default(Contexts *c, Sandbox *sb, const char *language, ContextDone done, void *userdata, Error *reterr) {
        const ContextSpec spec = { .language = language };
        char id[CONTEXT_ID_MAX + 1];
        Context *x;

        context_default_id(language, id);
        x = context_find(c, sb, id);
        if (!x)
                return contexts_begin(c, sb, id, &spec, done, userdata, reterr);
        return context_entry_wait((ContextEntry *) x, done, userdata) < 0 ? error_set(reterr, -ENOMEM, "out of memory") : 0;
}

void contexts_forget_caller(Contexts *c, void *userdata) {
        ContextWaiter *w;

        DL_FOREACH2(c->waiters, w, all_next)
                if (w->userdata == userdata)
                        w->done = NULL;
}
