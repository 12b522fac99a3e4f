/* What tenants hold: charges, quotas, who gives first. Random operations are compared with a count of the test's own. */
#include "world.h"

#include "core/ledger.h"
#include "core/tally.h"

#define MB UINT64_C(1048576)

static const char *const tenants[] = { "", "a", "b", "c" };
static const LedgerKind kinds[] = { LEDGER_VOLUME, LEDGER_SNAPSHOT, LEDGER_JOURNAL, LEDGER_ARTIFACT, LEDGER_RECORDING, LEDGER_SPOOL, LEDGER_UPLOAD, LEDGER_TEMPLATE,
        LEDGER_ANSWER, LEDGER_BUILDS, LEDGER_REQUESTS, LEDGER_CALLS };

static void give_quota(World *w, const char *tenant, uint64_t disk) {
        Tenant t = { .disk_bytes_max = disk, .created_at = 1 };
        Error error = { 0 };

        (void) snprintf(t.name, sizeof(t.name), "%s", tenant);
        check_true("tenant", access_tenant_put(w->access, &t, /* inherit= */ false, &error) >= 0);
}

/* What an entry that holds nothing yet would be told. */
static int room(World *w, const char *tenant, LedgerKind kind, uint64_t amount, Error *reterr) {
        LedgerEntry e = { 0 };
        int r = ledger_reserve(w->manager, &e, tenant, kind, amount, reterr);

        check_true("charged, or not at all", (r >= 0) == (e.row != NULL) && e.amount == (r >= 0 ? amount : 0));
        ledger_release(&e);
        return r;
}

TEST(random_charges_add_up) {
        LedgerEntry entries[64] = { 0 };
        struct {
                const char *tenant;
                LedgerKind kind;
                uint64_t amount;
        } mine[ELEMENTSOF(entries)] = { 0 };
        Error error = { 0 };
        World w;

        srand(7);
        world_new(&w, "random");
        for (unsigned i = 0; i < 20000; i++) {
                size_t k = (size_t) rand() % ELEMENTSOF(entries);

                if (rand() % 3 == 0) {
                        ledger_release(&entries[k]);
                        mine[k].tenant = NULL;
                        continue;
                }
                if (!mine[k].tenant) {
                        mine[k].tenant = tenants[rand() % 4];
                        mine[k].kind = kinds[(size_t) rand() % ELEMENTSOF(kinds)];
                }
                mine[k].amount = (uint64_t) rand() * (uint64_t) rand();
                check_result("charge", ledger_charge(w.manager, &entries[k], mine[k].tenant, mine[k].kind, mine[k].amount), 0);
        }
        check_result(error.text, ledger_verify(w.manager, &error), 0);
        for (size_t t = 0; t < ELEMENTSOF(tenants); t++) {
                LedgerSums sums = ledger_of_tenant(w.manager, tenants[t]), counted = { 0 };
                uint64_t disk = 0;

                for (size_t k = 0; k < ELEMENTSOF(entries); k++)
                        if (mine[k].tenant == tenants[t]) {
                                counted.amounts[mine[k].kind] += mine[k].amount;
                                counted.counts[mine[k].kind]++;
                                disk += mine[k].kind >= LEDGER_ANSWER ? 0 : mine[k].amount;
                        }
                check_true("as counted", memcmp(&sums, &counted, sizeof(sums)) == 0);
                check_uint("on disk", ledger_disk(&sums), disk);
        }
        for (size_t k = 0; k < ELEMENTSOF(entries); k++) {
                ledger_release(&entries[k]);
                ledger_release(&entries[k]);
        }
        check_true("nothing is left", memcmp(&(LedgerSums[]) { ledger_of_all(w.manager) }, &(LedgerSums) { 0 }, sizeof(LedgerSums)) == 0);
        world_close(&w);
}

TEST(all_kinds_on_disk_share_one_quota) {
        LedgerEntry snapshot = { 0 }, journal = { 0 }, answer = { 0 }, other = { 0 };
        Error error = { 0 };
        World w;

        world_new(&w, "quota");
        give_quota(&w, "a", 10 * MB);
        check_result("room", room(&w, "a", LEDGER_VOLUME, 10 * MB, &error), 0);
        check_result("never", room(&w, "a", LEDGER_VOLUME, 10 * MB + 1, &error), -EOVERFLOW);
        check_result("overflow", room(&w, "a", LEDGER_VOLUME, UINT64_MAX, &error), -EOVERFLOW);
        check_result("charge", ledger_charge(w.manager, &snapshot, "a", LEDGER_SNAPSHOT, 6 * MB), 0);
        check_result("charge", ledger_charge(w.manager, &journal, "a", LEDGER_JOURNAL, 3 * MB), 0);
        check_result("charge", ledger_charge(w.manager, &answer, "a", LEDGER_ANSWER, 100 * MB), 0);
        check_result("charge", ledger_charge(w.manager, &other, "b", LEDGER_SNAPSHOT, 100 * MB), 0);
        check_result("room", room(&w, "a", LEDGER_VOLUME, MB, &error), 0);
        check_result("none", room(&w, "a", LEDGER_VOLUME, MB + 1, &error), -EDQUOT);
        check_true("says what and what to do", strstr(error.text, "'a'") && strstr(error.text, "10 MB") && strstr(error.text, "remove something"));
        check_result("beyond the quota already", ledger_charge(w.manager, &journal, "a", LEDGER_JOURNAL, 30 * MB), 0);
        check_result("nothing more", room(&w, "a", LEDGER_VOLUME, 0, &error), -EDQUOT);
        check_result("another tenant", room(&w, "b", LEDGER_VOLUME, 100 * MB, &error), 0);
        check_result("no tenant", room(&w, NULL, LEDGER_VOLUME, 100 * MB, &error), 0);
        ledger_release(&journal);
        check_result("room again", room(&w, "a", LEDGER_VOLUME, 4 * MB, &error), 0);
        ledger_release(&snapshot);
        ledger_release(&answer);
        ledger_release(&other);
        world_close(&w);
}

/* Two who ask at the same time: the second is told what the first has. */
TEST(whoever_asks_has_it) {
        for (LedgerKind k = LEDGER_VOLUME; ledger_is_on_disk(k); k++) {
                LedgerEntry first = { 0 }, second = { 0 }, others = { 0 };
                LedgerSums before, after;
                Error error = { 0 };
                World w;

                world_new(&w, "reserve");
                w.settings->limits.disk_reserve_bytes = 0;
                give_quota(&w, "a", 10 * MB);
                give_quota(&w, "b", 10 * MB);
                before = ledger_of_tenant(w.manager, "a");
                check_result("first", ledger_reserve(w.manager, &first, "a", k, 6 * MB, &error), 0);
                check_result("second", ledger_reserve(w.manager, &second, "a", k, 6 * MB, &error), -EDQUOT);
                check_true("nothing changed", !second.row && ledger_of_tenant(w.manager, "a").amounts[k] == 6 * MB);
                check_part("kind", error.text, shape_name(&ledger_kind_names, (int) k));
                check_result("another tenant", ledger_reserve(w.manager, &others, "b", k, 10 * MB, &error), 0);
                check_result("grows", ledger_reserve(w.manager, &first, "a", k, 10 * MB, &error), 0);
                check_result("too far", ledger_reserve(w.manager, &first, "a", k, 10 * MB + 1, &error), -EDQUOT);
                check_uint("as it was", first.amount, 10 * MB);
                check_result("found to be more", ledger_charge(w.manager, &first, "a", k, 30 * MB), 0);
                check_result("shrinks, though it is over", ledger_reserve(w.manager, &first, "a", k, 20 * MB, &error), 0);
                check_result(error.text, ledger_verify(w.manager, &error), 0);
                ledger_release(&first);
                ledger_release(&others);
                after = ledger_of_tenant(w.manager, "a");
                check_true("as before", memcmp(&before, &after, sizeof(before)) == 0);
                world_close(&w);
        }
}

TEST(what_is_written_now_leaves_the_reserve) {
        Error error = { 0 };
        World w;

        world_new(&w, "space");
        w.settings->limits.disk_reserve_bytes = UINT64_MAX; /* of a disk: half of it */
        check_result("more than there is", room(&w, "a", LEDGER_SPOOL, UINT64_MAX / 2, &error), -ENOSPC);
        check_part("cure", error.text, "limits.diskReserve");
        check_result("nor a recording", room(&w, "a", LEDGER_RECORDING, UINT64_MAX / 2, &error), -ENOSPC);
        check_result("what is promised is another matter", room(&w, "a", LEDGER_VOLUME, UINT64_MAX / 2, &error), 0);
        world_close(&w);
}

TEST(a_budget_has_room_for_whoever_is_within_its_share) {
        LedgerEntry heavy = { 0 }, light = { 0 };
        World w;

        world_new(&w, "share");
        check_true("no budget", ledger_fits(w.manager, "a", LEDGER_RECORDING, 0, UINT64_MAX));
        check_true("all of it", ledger_fits(w.manager, "a", LEDGER_RECORDING, 10, 10));
        check_true("no more", !ledger_fits(w.manager, "a", LEDGER_RECORDING, 10, 11));
        check_result("charge", ledger_charge(w.manager, &heavy, "a", LEDGER_RECORDING, 10), 0);
        check_true("the heavy one has none", !ledger_fits(w.manager, "a", LEDGER_RECORDING, 10, 1));
        check_true("another has its half", ledger_fits(w.manager, "b", LEDGER_RECORDING, 10, 5));
        check_true("and no more", !ledger_fits(w.manager, "b", LEDGER_RECORDING, 10, 6));
        check_result("charge", ledger_charge(w.manager, &light, "b", LEDGER_RECORDING, 4), 0);
        check_true("with what it has", ledger_fits(w.manager, "b", LEDGER_RECORDING, 10, 1) && !ledger_fits(w.manager, "b", LEDGER_RECORDING, 10, 2));
        ledger_release(&heavy);
        ledger_release(&light);
        world_close(&w);
}

static unsigned rank_by_amount(const LedgerEntry *e) {
        return e->amount == 4 ? 0 : e->amount == 3 ? 2 : 1;
}

TEST(a_tenant_has_half_of_the_requests) {
        LedgerEntry entries[6] = { 0 };
        Error error = { 0 };
        World w;

        world_new(&w, "requests");
        w.manager->requests_max = 8;
        for (size_t i = 0; i < 4; i++) {
                check_result("within", ledger_reserve(w.manager, entries + i, "a", LEDGER_REQUESTS, 1, &error), 0);
        }
        check_result("beyond", room(&w, "a", LEDGER_REQUESTS, 1, &error), -EDQUOT);
        check_part("cure", error.text, "raise --max-connections (8)");
        check_result("another", room(&w, "b", LEDGER_REQUESTS, 1, &error), 0);
        check_result("nobody", room(&w, NULL, LEDGER_REQUESTS, 100, &error), 0);
        ledger_release(entries);
        check_result("again", room(&w, "a", LEDGER_REQUESTS, 1, &error), 0);
        for (size_t i = 0; i < ELEMENTSOF(entries); i++)
                ledger_release(entries + i);
        world_close(&w);
}

TEST(the_heaviest_gives_first_and_nobody_within_its_share) {
        LedgerEntry old = { 0 }, ranked = { 0 }, kept = { 0 }, light = { 0 };
        World w;

        world_new(&w, "heaviest");
        check_true("nobody", !ledger_victim(w.manager, LEDGER_JOURNAL, 0, rank_by_amount));
        check_result("charge", ledger_charge(w.manager, &light, "b", LEDGER_JOURNAL, 5), 0);
        check_result("charge", ledger_charge(w.manager, &old, "a", LEDGER_JOURNAL, 2), 0);
        check_result("charge", ledger_charge(w.manager, &ranked, "a", LEDGER_JOURNAL, 3), 0);
        check_result("charge", ledger_charge(w.manager, &kept, "a", LEDGER_JOURNAL, 4), 0);
        check_uint("total", ledger_total(w.manager, LEDGER_JOURNAL), 14);
        check_true("within", !ledger_victim(w.manager, LEDGER_JOURNAL, 14, rank_by_amount));
        check_true("by rank", ledger_victim(w.manager, LEDGER_JOURNAL, 10, rank_by_amount) == &ranked);
        ledger_release(&ranked);
        check_true("then the oldest", ledger_victim(w.manager, LEDGER_JOURNAL, 10, rank_by_amount) == &old);
        ledger_release(&old);
        check_true("nothing to give, and b is within its share", !ledger_victim(w.manager, LEDGER_JOURNAL, 8, rank_by_amount) || light.amount > 4);
        check_true("b has more than its share of less", ledger_victim(w.manager, LEDGER_JOURNAL, 6, rank_by_amount) == &light);
        check_result("moves", ledger_charge(w.manager, &light, "a", LEDGER_JOURNAL, 5), 0);
        check_uint("b", ledger_of_tenant(w.manager, "b").amounts[LEDGER_JOURNAL], 0);
        check_uint("a", ledger_of_tenant(w.manager, "a").amounts[LEDGER_JOURNAL], 9);
        ledger_release(&light);
        ledger_release(&kept);
        world_close(&w);
}

/* Journals. */

static Sandbox *create_for(World *w, const char *tenant) {
        const Principal who = { .kind = PRINCIPAL_USE_KEY, .tenant = tenant };
        SandboxSpec spec;
        Sandbox *sb = NULL;
        bool existing;
        Error error = { 0 };

        sandbox_spec_defaults(&spec);
        spec.tenant = strdup(tenant);
        check_result("create", manager_create(w->manager, &who, &spec, &sb, &existing, NULL, NULL, &error), 0);
        w->fake.provider.events->created(sb, 4711, 1 << 30, 0, NULL, w->manager);
        return sb;
}

static Execution *write_journal(World *w, Sandbox *sb, size_t size) {
        Execution *x = start(sb, "talk");
        char *data = calloc(1, size + 1);

        check_int("written", write(w->fake.last_journal, data, size), (intmax_t) size);
        free(data);
        return x;
}

static Execution *talk(World *w, Sandbox *sb, size_t size) {
        Execution *x = write_journal(w, sb, size);

        w->fake.provider.events->exec_exited(sb, &(ProviderEnd) { .number = x->number, .journals = { { .bytes = size } } }, w->manager);
        return x;
}

TEST(one_tenants_output_does_not_evict_anothers) {
        World w;
        Sandbox *hog, *ended, *other;
        Execution *others, *of_live, *of_ended;

        world_new(&w, "evict");
        other = create_for(&w, "b");
        others = talk(&w, other, 400 << 10);
        hog = create_for(&w, "a");
        of_live = talk(&w, hog, 200 << 10);
        ended = create_for(&w, "a");
        of_ended = talk(&w, ended, 200 << 10);
        sandbox_end(ended, SANDBOX_TERMINATED, /* delete= */ false, "enough");
        w.fake.provider.events->destroyed(ended->id, NULL, w.manager);
        (void) talk(&w, hog, 300 << 10);
        check_true("first of the sandbox that has ended", of_ended->journals_gone && !of_live->journals_gone);
        for (unsigned i = 0; i < 10; i++)
                (void) talk(&w, hog, 300 << 10);
        check_true("then its own oldest", of_live->journals_gone);
        check_true("never the other's", !others->journals_gone);
        check_true("within the budget", ledger_total(w.manager, LEDGER_JOURNAL) <= 1 << 20);
        world_close(&w);
}

static bool is_charged(World *w, const char *tenant, uint64_t bytes) {
        return ledger_of_tenant(w->manager, tenant).amounts[LEDGER_JOURNAL] == bytes;
}

TEST(what_runs_is_charged_and_is_given_a_part_of_what_is_left) {
        World w;
        Sandbox *sb;
        Execution *x;

        world_new(&w, "grants");
        w.settings->limits.disk_reserve_bytes = 1;
        give_quota(&w, "a", 2048 * MB);
        sb = create_for(&w, "a");
        sb->spec.limits.disk_bytes = 0;
        x = write_journal(&w, sb, 300 << 10);
        while (!is_charged(&w, "a", 300 << 10))
                check_true("a look", sd_event_run(w.event, USEC_PER_SEC * 60) >= 0);
        check_uint("its limit", journal_grant(x), sb->spec.limits.output_bytes);
        tally_leave(sb);
        tally_enter(sb);
        give_quota(&w, "a", (300 << 10) + 4 * MB);
        check_uint("a part of the quota", journal_grant(x), MB);
        give_quota(&w, "a", 1);
        check_uint("a little, when it is over", journal_grant(x), 64 << 10);
        give_quota(&w, "a", 0);
        w.settings->limits.disk_reserve_bytes = UINT64_MAX;
        check_true("no more than a part of the disk", journal_grant(x) <= sb->spec.limits.output_bytes);
        world_close(&w);
}

/* What the files say, whoever charged what. */
static uint64_t recount(World *w, const char *tenant) {
        Sandbox *sb, *next_sandbox;
        Execution *x, *next;
        uint64_t sum = 0;

        HASH_ITER(hh, w->manager->sandboxes, sb, next_sandbox)
                HASH_ITER(hh, sb->executions, x, next)
                        for (ExecutionStream s = 0; s < _STREAM_MAX && strcmp(sb->spec.tenant, tenant) == 0; s++) {
                                _cleanup_close_ int fd = journal_open(x, s);
                                struct stat st;

                                sum += fd >= 0 && fstat(fd, &st) >= 0 ? (uint64_t) st.st_size : 0;
                        }
        return sum;
}

static Sandbox *any_sandbox(World *w) {
        unsigned n = HASH_COUNT(w->manager->sandboxes), k = n > 0 ? (unsigned) rand() % n : 0;
        Sandbox *sb = w->manager->sandboxes;

        while (sb && k-- > 0)
                sb = sb->hh.next;
        return sb;
}

static void random_step(World *w) {
        Sandbox *sb = any_sandbox(w);
        Execution *x = sb ? sb->executions : NULL;

        switch (rand() % 5) {
        case 0:
                if (HASH_COUNT(w->manager->sandboxes) < 8)
                        (void) create_for(w, tenants[rand() % 4]);
                break;
        case 1:
                if (sb && sandbox_is_up(sb) && sb->n_alive < 3)
                        (void) write_journal(w, sb, (size_t) rand() % (200 << 10));
                break;
        case 2:
                if (sb && sandbox_is_up(sb))
                        (void) talk(w, sb, (size_t) rand() % (200 << 10));
                break;
        case 3:
                if (x && !execution_ended(x))
                        execution_end(x, EXECUTION_REASON_INTERNAL, -1, 9, "lost");
                break;
        default:
                if (sb && rand() % 4 == 0) {
                        char id[SANDBOX_ID_LENGTH + 1];

                        memcpy(id, sb->id, sizeof(id));
                        sandbox_end(sb, SANDBOX_TERMINATED, /* delete= */ rand() % 2 == 0, "enough");
                        w->fake.provider.events->destroyed(id, NULL, w->manager);
                }
        }
}

/* Live ones are charged by a look at them, which comes by a timer. */
static void check_counts(World *w) {
        Error error = { 0 };

        for (size_t t = 0; t < ELEMENTSOF(tenants); t++)
                while (!is_charged(w, tenants[t], recount(w, tenants[t])))
                        if (sd_event_run(w->event, 10 * USEC_PER_SEC) == 0) {
                                check_uint(tenants[t], ledger_of_tenant(w->manager, tenants[t]).amounts[LEDGER_JOURNAL], recount(w, tenants[t]));
                                break;
                        }
        check_result(error.text, ledger_verify(w->manager, &error), 0);
}

TEST(journals_are_charged_right_whatever_happens) {
        World w;

        srand(11);
        world_new(&w, "recount");
        for (size_t t = 1; t < ELEMENTSOF(tenants); t++)
                give_quota(&w, tenants[t], 0);
        for (unsigned i = 0; i < 6; i++) {
                for (unsigned k = 0; k < 60; k++)
                        random_step(&w);
                check_counts(&w);
                world_close(&w); /* and from rows and files alone */
                world_open(&w);
                check_counts(&w);
                world_up(&w);
        }
        world_close(&w);
}

TEST(a_journal_that_is_read_is_no_spare) {
        _cleanup_close_ int fd = -EBADF;
        char id[SANDBOX_ID_LENGTH + 1], data[16];
        World w;
        Sandbox *sb;

        world_new(&w, "spares");
        w.manager->config.recycle = true;
        sb = create_for(&w, "a");
        fd = journal_open(talk(&w, sb, 1000), STREAM_STDOUT);
        memcpy(id, sb->id, sizeof(id));
        sandbox_end(sb, SANDBOX_TERMINATED, /* delete= */ true, "enough");
        w.fake.provider.events->destroyed(id, NULL, w.manager);
        sb = create_for(&w, "b");
        for (unsigned i = 0; i < 8; i++)
                (void) write_journal(&w, sb, 1000);
        check_int("what it was", pread(fd, data, sizeof(data), 0), sizeof(data));
        check_int("and nothing more", lseek(fd, 0, SEEK_END), 1000);
        check_int("and nobody's", (int) pwrite(w.fake.last_journal, "secret", 6, 0), 6);
        check_true("not another's", pread(fd, data, sizeof(data), 0) == sizeof(data) && data[0] == 0);
        world_close(&w);
}

static int on_row(const char *tenant, const LedgerSums *sums, void *userdata) {
        char *seen = userdata;
        size_t used = strlen(seen);

        (void) snprintf(seen + used, 64 - used, "%s:%llu ", tenant, (unsigned long long) sums->amounts[LEDGER_VOLUME]);
        return 0;
}

TEST(rows_are_of_those_who_exist_or_hold_something) {
        LedgerEntry gone = { 0 };
        char seen[64] = "";
        World w;

        world_new(&w, "rows");
        give_quota(&w, "b", 0);
        check_result("charge", ledger_charge(w.manager, &gone, "a", LEDGER_VOLUME, 4), 0);
        check_result("each", ledger_each(w.manager, on_row, seen), 0);
        check_string("rows", seen, ":0 a:4 b:0 ");
        ledger_release(&gone);
        world_close(&w);
}
