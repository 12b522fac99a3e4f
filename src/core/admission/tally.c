#include "core/tally.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "core/manager.h"

#define TALLY_KEY_MAX SANDBOX_TEXT_MAX

struct Tally {
        char key[TALLY_KEY_MAX + 1];
        uint64_t n; /* sandboxes in the table, in any status; the tally is freed with the last one */
        TallySums sums;
        UT_hash_handle hh;
};

struct Tallies {
        Tally *tenants, *profiles;
        TallySums all, pooled, nobody;
        Sandbox *ended; /* in the order of their ends */
};

int tallies_new(Tallies **ret) {
        Tallies *t = calloc(1, sizeof(*t));

        if (!t)
                return -ENOMEM;
        *ret = t;
        return 0;
}

static void tally_table_free(Tally **table) {
        Tally *t, *next;

        HASH_ITER(hh, *table, t, next) {
                HASH_DEL(*table, t);
                free(t);
        }
}

Tallies *tallies_free(Tallies *t) {
        if (!t)
                return NULL;
        tally_table_free(&t->tenants);
        tally_table_free(&t->profiles);
        free(t);
        return NULL;
}

static void tally_make_key(const char *name, bool fold, char ret[static TALLY_KEY_MAX + 1]) {
        size_t n = strnlen(name, TALLY_KEY_MAX);

        for (size_t i = 0; i < n; i++)
                ret[i] = fold ? (char) tolower((unsigned char) name[i]) : name[i];
        ret[n] = '\0';
}

static Tally *tally_find(Tally *table, const char *name, bool fold) {
        char key[TALLY_KEY_MAX + 1];
        Tally *t;

        if (!name || !*name)
                return NULL;
        tally_make_key(name, fold, key);
        HASH_FIND_STR(table, key, t);
        return t;
}

/* NULL: the sandbox has no name, or there is no memory. Then it is not counted here, and never subtracted
 * either. */
static Tally *need(Tally **table, const char *name, bool fold) {
        Tally *t = tally_find(*table, name, fold);

        if (t || !name || !*name)
                return t;
        t = calloc(1, sizeof(*t));
        if (!t)
                return NULL;
        tally_make_key(name, fold, t->key);
        HASH_ADD_STR(*table, key, t);
        return t;
}

static void tally_release(Tally **table, Tally *t) {
        if (!t || --t->n > 0)
                return;
        HASH_DEL(*table, t);
        free(t);
}

TallySums tally_of_tenant(const Manager *m, const char *tenant) {
        const Tally *t = tally_find(m->tallies->tenants, tenant, /* fold= */ false);

        return t ? t->sums : (TallySums) { 0 };
}

TallySums tally_of_nobody(const Manager *m) {
        return m->tallies->nobody;
}

TallySums tally_of_profile(const Manager *m, const char *profile) {
        const Tally *t = tally_find(m->tallies->profiles, profile, /* fold= */ true);

        return t ? t->sums : (TallySums) { 0 };
}

TallySums tally_of_pooled(const Manager *m) {
        return m->tallies->pooled;
}

TallySums tally_of_all(const Manager *m) {
        return m->tallies->all;
}

Sandbox *tally_first_ended(const Manager *m) {
        return m->tallies->ended;
}

/* Adds the share of a sandbox with this status; sign is 1 or -1. Unsigned numbers wrap, as intended. */
static void tally_add(TallySums *s, const Sandbox *sb, SandboxStatus status, int sign) {
        uint64_t one = (uint64_t) (int64_t) sign;

        s->n_by_status[status] += one;
        s->n_alive += one * sb->n_alive;
        if (!sandbox_status_is_live(status))
                return;
        s->live += one;
        s->cpu_milli += one * sb->spec.limits.cpu_milli;
        s->memory_bytes += one * sb->spec.limits.memory_bytes;
        s->disk_bytes += one * sb->spec.limits.disk_bytes;
        s->pids += one * sb->spec.limits.pids;
        s->nofile += one * sb->spec.limits.nofile;
}

/* Each sandbox is counted in exactly one of them. */
static TallySums *tally_owner(Sandbox *sb) {
        Tallies *t = sb->manager->tallies;

        return sb->tally_pooled ? &t->pooled : sb->tally_tenant ? &sb->tally_tenant->sums : &t->nobody;
}

static void add_everywhere(Sandbox *sb, SandboxStatus status, int sign) {
        Tallies *t = sb->manager->tallies;

        tally_add(&t->all, sb, status, sign);
        tally_add(tally_owner(sb), sb, status, sign);
        if (sb->tally_profile)
                tally_add(&sb->tally_profile->sums, sb, status, sign);
}

void tally_enter(Sandbox *sb) {
        Tallies *t = sb->manager->tallies;

        if (sb->tallied)
                return;
        sb->tallied = true;
        sb->tally_pooled = sb->pooled;
        sb->tally_tenant = sb->pooled ? NULL : need(&t->tenants, sb->spec.tenant, /* fold= */ false);
        sb->tally_profile = sb->pooled ? NULL : need(&t->profiles, sb->spec.profile, /* fold= */ true);
        if (sb->tally_tenant)
                sb->tally_tenant->n++;
        if (sb->tally_profile)
                sb->tally_profile->n++;
        add_everywhere(sb, sb->status, 1);
        if (sandbox_status_is_ended(sb->status))
                DL_APPEND2(t->ended, sb, ended_prev, ended_next);
}

void tally_leave(Sandbox *sb) {
        Tallies *t = sb->manager->tallies;

        if (!sb->tallied)
                return;
        sb->tallied = false;
        add_everywhere(sb, sb->status, -1);
        if (sandbox_status_is_ended(sb->status))
                DL_DELETE2(t->ended, sb, ended_prev, ended_next);
        tally_release(&t->tenants, TAKE_PTR(sb->tally_tenant));
        tally_release(&t->profiles, TAKE_PTR(sb->tally_profile));
}

void tally_status(Sandbox *sb, SandboxStatus from, SandboxStatus to) {
        Tallies *t = sb->manager->tallies;

        if (!sb->tallied)
                return;
        add_everywhere(sb, from, -1);
        add_everywhere(sb, to, 1);
        if (sandbox_status_is_ended(to) && !sandbox_status_is_ended(from))
                DL_APPEND2(t->ended, sb, ended_prev, ended_next);
}

static void add_executions(TallySums *s, int change) {
        s->n_alive += (uint64_t) (int64_t) change;
}

void tally_executions(Sandbox *sb, int change) {
        Tallies *t = sb->manager->tallies;

        if (!sb->tallied)
                return;
        add_executions(&t->all, change);
        add_executions(tally_owner(sb), change);
        if (sb->tally_profile)
                add_executions(&sb->tally_profile->sums, change);
}

/* Recounting. */

typedef enum Counted { COUNT_ALL, COUNT_POOLED, COUNT_NOBODY, COUNT_TENANT, COUNT_PROFILE } Counted;

static bool counts(const Sandbox *sb, Counted what, const Tally *t) {
        switch (what) {
        case COUNT_ALL: return true;
        case COUNT_POOLED: return sb->tally_pooled;
        case COUNT_NOBODY: return !sb->tally_pooled && !sb->tally_tenant;
        case COUNT_TENANT: return sb->tally_tenant == t;
        default: return sb->tally_profile == t;
        }
}

static int core_tally_verify(const Manager *m, Counted what, const Tally *t, const TallySums *kept, Error *reterr) {
        const Sandbox *sb, *next;
        TallySums sums = { 0 };

        HASH_ITER(hh, m->sandboxes, sb, next)
                if (counts(sb, what, t))
                        tally_add(&sums, sb, sb->status, 1);
        if (memcmp(&sums, kept, sizeof(sums)) == 0)
                return 0;
        return error_set(reterr, -EUCLEAN, "the tally of '%s' is wrong: %llu live and %llu executions, counted %llu and %llu",
                        t ? t->key : what == COUNT_ALL ? "all" : what == COUNT_POOLED ? "pooled" : "no tenant", (unsigned long long) kept->live,
                        (unsigned long long) kept->n_alive, (unsigned long long) sums.live, (unsigned long long) sums.n_alive);
}

static int verify_places(const Manager *m, Error *reterr) {
        const Sandbox *sb, *next;

        HASH_ITER(hh, m->sandboxes, sb, next) {
                const Tally *tenant = sb->pooled ? NULL : tally_find(m->tallies->tenants, sb->spec.tenant, /* fold= */ false);
                const Tally *profile = sb->pooled ? NULL : tally_find(m->tallies->profiles, sb->spec.profile, /* fold= */ true);

                if (!sb->tallied || sb->tally_pooled != sb->pooled || sb->tally_tenant != tenant || sb->tally_profile != profile)
                        return error_set(reterr, -EUCLEAN, "sandbox %s is counted for another tenant or profile", sb->id);
        }
        return 0;
}

int tally_verify(const Manager *m, Error *reterr) {
        const Tallies *t = m->tallies;
        int r = verify_places(m, reterr);

        if (r >= 0)
                r = core_tally_verify(m, COUNT_ALL, NULL, &t->all, reterr);
        if (r >= 0)
                r = core_tally_verify(m, COUNT_POOLED, NULL, &t->pooled, reterr);
        if (r >= 0)
                r = core_tally_verify(m, COUNT_NOBODY, NULL, &t->nobody, reterr);
        for (const Tally *k = t->tenants; k && r >= 0; k = k->hh.next)
                r = core_tally_verify(m, COUNT_TENANT, k, &k->sums, reterr);
        for (const Tally *k = t->profiles; k && r >= 0; k = k->hh.next)
                r = core_tally_verify(m, COUNT_PROFILE, k, &k->sums, reterr);
        return r;
}
