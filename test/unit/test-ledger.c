/* What tenants hold: charges, quotas, who gives first. Random operations are compared with a count of the test's own. */
#include "world.h"

#include "core/ledger.h"

#define MB UINT64_C(1048576)

static const char *const tenants[] = { "", "a", "b", "c" };
static const LedgerKind kinds[] = { LEDGER_VOLUME, LEDGER_SNAPSHOT, LEDGER_JOURNAL, LEDGER_ANSWER, LEDGER_BUILDS, LEDGER_AUDIT };

static void give_quota(World *w, const char *tenant, uint64_t disk) {
        Tenant t = { .disk_bytes_max = disk, .created_at = 1 };
        Error error = { 0 };

        (void) snprintf(t.name, sizeof(t.name), "%s", tenant);
        check_true("tenant", access_tenant_put(w->access, &t, &error) >= 0);
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
                                disk += mine[k].kind == LEDGER_ANSWER || mine[k].kind == LEDGER_BUILDS || mine[k].kind == LEDGER_AUDIT ? 0 : mine[k].amount;
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
        LedgerEntry snapshot = { 0 }, journal = { 0 }, audit = { 0 }, other = { 0 };
        Error error = { 0 };
        World w;

        world_new(&w, "quota");
        give_quota(&w, "a", 10 * MB);
        check_result("room", ledger_check(w.manager, "a", LEDGER_VOLUME, 10 * MB, &error), 0);
        check_result("never", ledger_check(w.manager, "a", LEDGER_VOLUME, 10 * MB + 1, &error), -EOVERFLOW);
        check_result("overflow", ledger_check(w.manager, "a", LEDGER_VOLUME, UINT64_MAX, &error), -EOVERFLOW);
        check_result("charge", ledger_charge(w.manager, &snapshot, "a", LEDGER_SNAPSHOT, 6 * MB), 0);
        check_result("charge", ledger_charge(w.manager, &journal, "a", LEDGER_JOURNAL, 3 * MB), 0);
        check_result("charge", ledger_charge(w.manager, &audit, "a", LEDGER_AUDIT, 100 * MB), 0);
        check_result("charge", ledger_charge(w.manager, &other, "b", LEDGER_SNAPSHOT, 100 * MB), 0);
        check_result("room", ledger_check(w.manager, "a", LEDGER_VOLUME, MB, &error), 0);
        check_result("none", ledger_check(w.manager, "a", LEDGER_VOLUME, MB + 1, &error), -EDQUOT);
        check_true("says what and what to do", strstr(error.text, "'a'") && strstr(error.text, "10 MB") && strstr(error.text, "remove something"));
        check_result("beyond the quota already", ledger_charge(w.manager, &journal, "a", LEDGER_JOURNAL, 30 * MB), 0);
        check_result("nothing more", ledger_check(w.manager, "a", LEDGER_VOLUME, 0, &error), -EDQUOT);
        check_result("another tenant", ledger_check(w.manager, "b", LEDGER_VOLUME, 100 * MB, &error), 0);
        check_result("no tenant", ledger_check(w.manager, NULL, LEDGER_VOLUME, 100 * MB, &error), 0);
        ledger_release(&journal);
        check_result("room again", ledger_check(w.manager, "a", LEDGER_VOLUME, 4 * MB, &error), 0);
        ledger_release(&snapshot);
        ledger_release(&audit);
        ledger_release(&other);
        world_close(&w);
}

TEST(the_heaviest_gives_first) {
        LedgerEntry old = { 0 }, young = { 0 }, light = { 0 };
        World w;

        world_new(&w, "heaviest");
        check_true("nobody", !ledger_heaviest(w.manager, LEDGER_JOURNAL));
        check_result("charge", ledger_charge(w.manager, &light, "b", LEDGER_JOURNAL, 5), 0);
        check_result("charge", ledger_charge(w.manager, &old, "a", LEDGER_JOURNAL, 3), 0);
        check_result("charge", ledger_charge(w.manager, &young, "a", LEDGER_JOURNAL, 4), 0);
        check_result("once more", ledger_charge(w.manager, &old, "a", LEDGER_JOURNAL, 3), 0);
        check_true("the oldest of a", ledger_heaviest(w.manager, LEDGER_JOURNAL) == &old);
        check_uint("two shares", ledger_share(w.manager, LEDGER_JOURNAL, 100), 50);
        ledger_release(&old);
        check_true("now b", ledger_heaviest(w.manager, LEDGER_JOURNAL) == &light);
        ledger_release(&light);
        ledger_release(&young);
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
