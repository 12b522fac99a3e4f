#include "core/ledger.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "core/admission.h"
#include "core/settings.h"
#include "core/tally.h"

typedef struct LedgerSlot {
        uint64_t amount, count;
        LedgerEntry *entries;
} LedgerSlot;

typedef struct LedgerRow {
        Ledger *ledger;
        uint64_t n; /* entries of all kinds; the row is freed with the last one */
        LedgerSlot slots[_LEDGER_MAX];
        UT_hash_handle hh;
        char tenant[]; /* "": none */
} LedgerRow;

struct Ledger {
        Manager *manager;
        LedgerRow *rows; /* by tenant */
};

static const char *const ledger_words[_LEDGER_MAX] = {
        [LEDGER_DISK]        = "disks",
        [LEDGER_VOLUME]      = "volumes",
        [LEDGER_SNAPSHOT]    = "snapshots",
        [LEDGER_JOURNAL]     = "journals",
        [LEDGER_ARTIFACT]    = "artifacts",
        [LEDGER_RECORDING]   = "recordings",
        [LEDGER_SPOOL]       = "spools",
        [LEDGER_UPLOAD]      = "uploads",
        [LEDGER_TEMPLATE]    = "templates",
        [LEDGER_ANSWER]      = "answers",
        [LEDGER_SANDBOXES]   = "sandboxes",
        [LEDGER_EXECUTIONS]  = "executions",
        [LEDGER_MEMORY]      = "memory",
        [LEDGER_PIDS]        = "pids",
        [LEDGER_DESCRIPTORS] = "descriptors",
        [LEDGER_BUILDS]      = "builds",
        [LEDGER_REQUESTS]    = "requests",
        [LEDGER_CALLS]       = "calls",
        [LEDGER_GATE_CPU]    = "gateCpu",
};
const ShapeNames ledger_kind_names = SHAPE_WORDS(ledger_words);

bool ledger_is_on_disk(LedgerKind kind) {
        return kind <= LEDGER_TEMPLATE;
}

/* Kinds that are written to the daemon's disk as fast as a client sends them. */
static bool ledger_needs_space(LedgerKind kind) {
        return kind == LEDGER_RECORDING || kind == LEDGER_SPOOL;
}

static bool ledger_is_of_tally(LedgerKind kind) {
        return kind == LEDGER_DISK || (kind >= LEDGER_SANDBOXES && kind <= LEDGER_DESCRIPTORS);
}

int ledger_new(Manager *m) {
        Ledger *l = calloc(1, sizeof(*l));

        if (!l)
                return -ENOMEM;
        l->manager = m;
        m->ledger = l;
        return 0;
}

static void ledger_row_free(LedgerRow *row) {
        HASH_DEL(row->ledger->rows, row);
        free(row);
}

void ledger_free(Manager *m) {
        LedgerRow *row, *next;

        if (!m->ledger)
                return;
        HASH_ITER(hh, m->ledger->rows, row, next) {
                for (LedgerKind k = 0; k < _LEDGER_MAX; k++)
                        for (LedgerEntry *e = row->slots[k].entries; e; e = e->next)
                                e->row = NULL;
                ledger_row_free(row);
        }
        free(m->ledger);
        m->ledger = NULL;
}

static LedgerRow *ledger_find(const Manager *m, const char *tenant) {
        LedgerRow *row;

        HASH_FIND_STR(m->ledger->rows, tenant ? tenant : "", row);
        return row;
}

static LedgerRow *ledger_need(Manager *m, const char *tenant) {
        LedgerRow *row = ledger_find(m, tenant);
        size_t size = strlen(tenant ? tenant : "") + 1;

        if (row)
                return row;
        row = calloc(1, sizeof(*row) + size);
        if (!row)
                return NULL;
        row->ledger = m->ledger;
        memcpy(row->tenant, tenant ? tenant : "", size);
        HASH_ADD_STR(m->ledger->rows, tenant, row);
        return row;
}

int ledger_charge(Manager *m, LedgerEntry *e, const char *tenant, LedgerKind kind, uint64_t amount) {
        LedgerSlot *slot;

        assert(!ledger_is_of_tally(kind));
        if (e->row && (e->kind != kind || strcmp(e->row->tenant, tenant ? tenant : "") != 0))
                ledger_release(e);
        if (!e->row) {
                LedgerRow *row = ledger_need(m, tenant);

                if (!row)
                        return -ENOMEM;
                *e = (LedgerEntry) { .row = row, .kind = kind };
                DL_APPEND(row->slots[kind].entries, e);
                row->slots[kind].count++;
                row->n++;
        }
        slot = &e->row->slots[kind];
        slot->amount = slot->amount - e->amount + amount;
        e->amount = amount;
        return 0;
}

void ledger_release(LedgerEntry *e) {
        LedgerRow *row = e->row;
        LedgerSlot *slot;

        if (!row)
                return;
        slot = &row->slots[e->kind];
        slot->amount -= e->amount;
        slot->count--;
        DL_DELETE(slot->entries, e);
        if (ledger_is_on_disk(e->kind))
                admission_wake(row->ledger->manager->admission); /* a request may wait for the room */
        *e = (LedgerEntry) { 0 };
        if (--row->n == 0)
                ledger_row_free(row);
}

const char *ledger_tenant(const LedgerEntry *e) {
        return e->row->tenant;
}

/* Pots. */

struct LedgerPot {
        LedgerEntry entry;
        UT_hash_handle hh;
        char tenant[];
};

static void ledger_pot_free(LedgerPot **pots, LedgerPot *pot) {
        HASH_DEL(*pots, pot);
        ledger_release(&pot->entry);
        free(pot);
}

void ledger_pots_free(LedgerPot **pots) {
        LedgerPot *pot, *next;

        HASH_ITER(hh, *pots, pot, next)
                ledger_pot_free(pots, pot);
}

static LedgerPot *ledger_pot_need(LedgerPot **pots, const char *tenant) {
        size_t size = strlen(tenant) + 1;
        LedgerPot *pot;

        HASH_FIND_STR(*pots, tenant, pot);
        if (pot)
                return pot;
        pot = calloc(1, sizeof(*pot) + size);
        if (!pot)
                return NULL;
        memcpy(pot->tenant, tenant, size);
        HASH_ADD_STR(*pots, tenant, pot);
        return pot;
}

void ledger_add(Manager *m, LedgerPot **pots, const char *tenant, LedgerKind kind, int64_t change) {
        LedgerPot *pot = ledger_pot_need(pots, tenant ? tenant : "");
        uint64_t amount;

        if (!pot)
                return; /* without memory it is not counted until the next start */
        amount = change < 0 ? pot->entry.amount - MIN_OF((uint64_t) -change, pot->entry.amount) : pot->entry.amount + (uint64_t) change;
        if (amount == 0 || ledger_charge(m, &pot->entry, pot->tenant, kind, amount) < 0)
                ledger_pot_free(pots, pot);
}

static LedgerSums ledger_sums(const LedgerRow *row, TallySums held) {
        LedgerSums sums = {
                .amounts = {
                        [LEDGER_DISK] = held.disk_bytes,
                        [LEDGER_SANDBOXES] = held.live,
                        [LEDGER_EXECUTIONS] = held.n_alive,
                        [LEDGER_MEMORY] = held.memory_bytes,
                        [LEDGER_PIDS] = held.pids,
                        [LEDGER_DESCRIPTORS] = held.nofile,
                },
        };

        for (LedgerKind k = 0; k < _LEDGER_MAX; k++) {
                sums.amounts[k] += row ? row->slots[k].amount : 0;
                sums.counts[k] = ledger_is_of_tally(k) ? held.live : row ? row->slots[k].count : 0;
        }
        return sums;
}

LedgerSums ledger_of_tenant(const Manager *m, const char *tenant) {
        return ledger_sums(ledger_find(m, tenant), tenant && *tenant ? tally_of_tenant(m, tenant) : tally_of_nobody(m));
}

LedgerSums ledger_of_all(const Manager *m) {
        LedgerSums sums = ledger_sums(/* row= */ NULL, tally_of_all(m));
        const LedgerRow *row, *next;

        HASH_ITER(hh, m->ledger->rows, row, next)
                for (LedgerKind k = 0; k < _LEDGER_MAX; k++) {
                        sums.amounts[k] += row->slots[k].amount;
                        sums.counts[k] += row->slots[k].count;
                }
        return sums;
}

uint64_t ledger_disk(const LedgerSums *sums) {
        uint64_t bytes = 0;

        for (LedgerKind k = 0; ledger_is_on_disk(k); k++)
                bytes += sums->amounts[k];
        return bytes;
}

uint64_t ledger_limit(const Manager *m, const char *tenant, LedgerKind kind) {
        const Tenant *t = tenant && *tenant ? access_tenant(m->access, tenant) : NULL;

        if (!t)
                return 0;
        return ledger_is_on_disk(kind) ? t->disk_bytes_max : kind == LEDGER_MEMORY ? t->memory_bytes_max : kind == LEDGER_SANDBOXES ? t->sandboxes_max : 0;
}

/* Limits the answers of all together, and those of one tenant to half of that, so that others can still ask. */
static int ledger_check_answer(const Manager *m, const char *tenant, uint64_t more, Error *reterr) {
        uint64_t limit = core_settings(m->settings).limits->answer_bytes;
        uint64_t all = ledger_of_all(m).amounts[LEDGER_ANSWER], own = ledger_of_tenant(m, tenant).amounts[LEDGER_ANSWER];
        bool of_tenant = tenant && *tenant;

        if (more <= limit && all <= limit - more && (!of_tenant || own + more <= limit / 2))
                return 0;
        return error_set(reterr, -EDQUOT,
                        "%llu MB of answers%s%s%s wait to be read by their clients, and %llu MB more are too many: read the answers, request less at once "
                        "(limit, cursor), or raise limits.answerMemory",
                        (unsigned long long) (of_tenant ? own : all) >> 20, of_tenant ? " of tenant '" : "", of_tenant ? tenant : "", of_tenant ? "'" : "",
                        (unsigned long long) more >> 20);
}

/* Limits the connections of a tenant to half of them, so that many streams of one tenant leave room for others. */
static int ledger_check_requests(const Manager *m, const char *tenant, uint64_t more, Error *reterr) {
        uint64_t limit = MAX_OF(m->requests_max / 2, 1u), own = ledger_of_tenant(m, tenant).amounts[LEDGER_REQUESTS];

        if (m->requests_max == 0 || !tenant || !*tenant || own + more <= limit)
                return 0;
        return error_set(reterr, -EDQUOT,
                        "tenant '%s' has %llu requests under way, which is half of the connections that there may be: end a stream, a wait or a "
                        "terminal, or raise --max-connections (%u)",
                        tenant, (unsigned long long) own, m->requests_max);
}

/* Limits the calls that wait for an answer. A tenant may have at most as many as are left over, so there is
 * always room for one more tenant. */
static int ledger_check_calls(const Manager *m, const char *tenant, uint64_t more, Error *reterr) {
        uint64_t all = ledger_total(m, LEDGER_CALLS), own = ledger_of_tenant(m, tenant).amounts[LEDGER_CALLS];
        uint64_t left = all < LEDGER_CALLS_MAX ? LEDGER_CALLS_MAX - all : 0;
        bool of_tenant = tenant && *tenant;

        if (more <= left && (!of_tenant || own + more <= left))
                return 0;
        return error_set(reterr, -EAGAIN, "%llu calls%s%s%s are not answered yet, which is the maximum: try again later",
                        (unsigned long long) (of_tenant ? own : all), of_tenant ? " of tenant '" : "", of_tenant ? tenant : "", of_tenant ? "'" : "");
}

static int ledger_check(Manager *m, const char *tenant, LedgerKind kind, uint64_t more, Error *reterr) {
        uint64_t limit = ledger_limit(m, tenant, kind), used;
        const double mb = 1 << 20;
        LedgerSums sums;

        if (kind == LEDGER_ANSWER)
                return ledger_check_answer(m, tenant, more, reterr);
        if (kind == LEDGER_REQUESTS)
                return ledger_check_requests(m, tenant, more, reterr);
        if (kind == LEDGER_CALLS)
                return ledger_check_calls(m, tenant, more, reterr);
        if (ledger_needs_space(kind)) {
                int r = manager_check_space_for(m, more, reterr);

                if (r < 0)
                        return r;
        }
        if (limit == 0)
                return 0;
        sums = ledger_of_tenant(m, tenant);
        used = ledger_is_on_disk(kind) ? ledger_disk(&sums) : sums.amounts[kind];
        if (used <= limit && more <= limit - used)
                return 0;
        if (ledger_is_on_disk(kind))
                return error_set(reterr, more > limit ? -EOVERFLOW : -EDQUOT,
                                "over quota: tenant '%s' may use %.15g MB of disk and uses %.15g MB (%.15g MB of them %s), and %.15g MB more are "
                                "wanted: remove something (`cove top --tenants` shows what), or ask for a higher quota",
                                tenant, (double) limit / mb, (double) used / mb, (double) sums.amounts[kind] / mb, ledger_words[kind], (double) more / mb);
        return error_set(reterr, more > limit ? -EOVERFLOW : -EDQUOT,
                        "over quota: tenant '%s' may have %llu of %s and has %llu: wait until one has ended, or ask for a higher quota", tenant,
                        (unsigned long long) limit, ledger_words[kind], (unsigned long long) used);
}

int ledger_reserve(Manager *m, LedgerEntry *e, const char *tenant, LedgerKind kind, uint64_t amount, Error *reterr) {
        uint64_t before = e->row ? e->amount : 0;
        int r = 0;

        assert(!e->row || e->kind == kind);
        if (!e->row || amount > before)
                r = ledger_check(m, tenant, kind, amount - MIN_OF(amount, before), reterr);
        if (r >= 0)
                r = ledger_charge(m, e, tenant, kind, amount);
        return r == -ENOMEM ? error_set(reterr, r, "out of memory") : r;
}

static int ledger_compare(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

int ledger_each(const Manager *m, int (*each)(const char *tenant, const LedgerSums *sums, void *userdata), void *userdata) {
        _cleanup_free_ const Tenant *const *tenants = NULL;
        size_t n_tenants = access_tenants(m->access, &tenants), n = 0;
        _cleanup_free_ const char **names = calloc(n_tenants + HASH_COUNT(m->ledger->rows) + 1, sizeof(*names));
        const LedgerRow *row, *next;
        int r = 0;

        if (!tenants || !names)
                return -ENOMEM;
        names[n++] = "";
        for (size_t i = 0; i < n_tenants; i++)
                names[n++] = tenants[i]->name;
        HASH_ITER(hh, m->ledger->rows, row, next)
                if (*row->tenant && row->n > row->slots[LEDGER_GATE_CPU].count && !access_tenant(m->access, row->tenant))
                        names[n++] = row->tenant;
        qsort(names, n, sizeof(*names), ledger_compare);
        for (size_t i = 0; i < n && r >= 0; i++) {
                LedgerSums sums = ledger_of_tenant(m, names[i]);

                r = each(names[i], &sums, userdata);
        }
        return r;
}

uint64_t ledger_total(const Manager *m, LedgerKind kind) {
        const LedgerRow *row, *next;
        uint64_t total = 0;

        HASH_ITER(hh, m->ledger->rows, row, next)
                total += row->slots[kind].amount;
        return total;
}

static LedgerEntry *ledger_first(const LedgerRow *row, LedgerKind kind, unsigned (*rank)(const LedgerEntry *e)) {
        LedgerEntry *first = NULL;
        unsigned best = 0;

        for (LedgerEntry *e = row->slots[kind].entries; e; e = e->next) {
                unsigned r = rank(e);

                if (r > best) {
                        first = e;
                        best = r;
                }
        }
        return first;
}

LedgerEntry *ledger_victim(const Manager *m, LedgerKind kind, uint64_t budget, unsigned (*rank)(const LedgerEntry *e)) {
        uint64_t n = 0, most = 0;
        const LedgerRow *row, *next;
        LedgerEntry *victim = NULL;

        if (ledger_total(m, kind) <= budget)
                return NULL;
        HASH_ITER(hh, m->ledger->rows, row, next)
                n += row->slots[kind].amount > 0;
        HASH_ITER(hh, m->ledger->rows, row, next)
                if (row->slots[kind].amount > budget / n && row->slots[kind].amount > most) {
                        LedgerEntry *e = ledger_first(row, kind, rank);

                        victim = e ? e : victim;
                        most = e ? row->slots[kind].amount : most;
                }
        return victim;
}

bool ledger_fits(const Manager *m, const char *tenant, LedgerKind kind, uint64_t budget, uint64_t more) {
        const LedgerRow *row, *next, *own = ledger_find(m, tenant);
        uint64_t n = !own || own->slots[kind].amount == 0, total = 0;

        HASH_ITER(hh, m->ledger->rows, row, next) {
                total += row->slots[kind].amount;
                n += row->slots[kind].amount > 0;
        }
        return budget == 0 || (total <= budget && more <= budget - total) || (own ? own->slots[kind].amount : 0) + more <= budget / n;
}

/* Recounting. */

static int ledger_verify_slot(const LedgerRow *row, LedgerKind k, Error *reterr) {
        uint64_t amount = 0, count = 0;

        for (const LedgerEntry *e = row->slots[k].entries; e; e = e->next, count++)
                amount += e->amount;
        if (amount == row->slots[k].amount && count == row->slots[k].count)
                return 0;
        return error_set(reterr, -EUCLEAN, "the ledger of '%s' has %llu in %llu %s, counted %llu in %llu", row->tenant,
                        (unsigned long long) row->slots[k].amount, (unsigned long long) row->slots[k].count, ledger_words[k],
                        (unsigned long long) amount, (unsigned long long) count);
}

int ledger_verify(const Manager *m, Error *reterr) {
        const LedgerRow *row, *next;
        int r = tally_verify(m, reterr);

        HASH_ITER(hh, m->ledger->rows, row, next)
                for (LedgerKind k = 0; k < _LEDGER_MAX && r >= 0; k++)
                        r = ledger_verify_slot(row, k, reterr);
        return r;
}
