/* How long answers hold, by a clock that the test has, and which one goes when there are too many. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "gate/dns/name-cache.h"

static NameCache *fresh(size_t max) {
        NameCache *c = NULL;

        check_result("new", name_cache_new(max, &c), 0);
        return c;
}

static ResolverAnswer answer(uint8_t last, uint32_t ttl) {
        return (ResolverAnswer) { .addresses = { { .bytes = { [10] = 0xff, 0xff, 192, 0, 2, last } } }, .n_addresses = 1, .ttl = ttl };
}

static void put(NameCache *c, const char *name, ResolverAnswer a, usec_t now) {
        check_result("put", name_cache_put(c, name, AF_INET, &a, now), 0);
}

TEST(an_answer_holds_for_its_ttl) {
        NameCache *c = fresh(10);
        ResolverAnswer a;

        put(c, "a", answer(1, 10), 0);
        check_true("now", name_cache_get(c, "a", AF_INET, 0, &a));
        check_uint("ttl", a.ttl, 10);
        check_uint("address", a.addresses[0].bytes[15], 1);
        check_true("later", name_cache_get(c, "a", AF_INET, 7 * USEC_PER_SEC + 1, &a));
        check_uint("what is left", a.ttl, 2);
        check_true("at its very end", name_cache_get(c, "a", AF_INET, 10 * USEC_PER_SEC - 1, &a));
        check_uint("never 0", a.ttl, 1);
        check_true("over", !name_cache_get(c, "a", AF_INET, 10 * USEC_PER_SEC, &a));
        check_uint("and gone", name_cache_count(c), 0);
        check_true("the other family was never there", !name_cache_get(c, "a", AF_INET6, 0, &a));
        name_cache_free(c);
}

TEST(a_ttl_of_0_holds_for_a_second_and_one_of_years_for_an_hour) {
        NameCache *c = fresh(10);
        ResolverAnswer a;

        put(c, "zero", answer(1, 0), 0);
        put(c, "years", answer(2, UINT32_MAX), 0);
        check_true("zero", name_cache_get(c, "zero", AF_INET, USEC_PER_SEC - 1, &a));
        check_uint("ttl", a.ttl, 1);
        check_true("zero, later", !name_cache_get(c, "zero", AF_INET, USEC_PER_SEC, &a));
        check_true("years", name_cache_get(c, "years", AF_INET, 0, &a));
        check_uint("ttl", a.ttl, 3600);
        check_true("years, later", !name_cache_get(c, "years", AF_INET, 3600 * USEC_PER_SEC, &a));
        name_cache_free(c);
}

TEST(that_there_is_nothing_holds_for_seconds_and_failures_do_not) {
        static const struct {
                int error;
                bool kept;
        } table[] = {
                { -ENOENT, true }, { -ENODATA, true }, { -ETIMEDOUT, false }, { -EHOSTUNREACH, false }, { -EBADMSG, false }, { -EBUSY, false },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                NameCache *c = fresh(10);
                ResolverAnswer a;

                put(c, "a", (ResolverAnswer) { .error = table[i].error, .ttl = 1000 }, 0);
                check_int("kept", name_cache_get(c, "a", AF_INET, 5 * USEC_PER_SEC - 1, &a), table[i].kept);
                if (table[i].kept)
                        check_result("error", a.error, table[i].error);
                check_true("not for long", !name_cache_get(c, "a", AF_INET, 5 * USEC_PER_SEC, &a));
                name_cache_free(c);
        }
}

TEST(a_new_answer_replaces_the_old) {
        NameCache *c = fresh(10);
        ResolverAnswer a;

        put(c, "a", answer(1, 10), 0);
        put(c, "a", answer(2, 10), 5 * USEC_PER_SEC);
        check_true("there", name_cache_get(c, "a", AF_INET, 12 * USEC_PER_SEC, &a));
        check_uint("address", a.addresses[0].bytes[15], 2);
        check_uint("one", name_cache_count(c), 1);
        name_cache_free(c);
}

TEST(the_one_used_longest_ago_goes_when_it_is_full) {
        NameCache *c = fresh(3);
        ResolverAnswer a;
        char name[8];

        for (uint8_t i = 0; i < 3; i++) {
                (void) snprintf(name, sizeof(name), "n%u", i);
                put(c, name, answer(i, 100), 0);
        }
        check_true("used", name_cache_get(c, "n0", AF_INET, 0, &a));
        put(c, "n3", answer(3, 100), 0);
        check_uint("bounded", name_cache_count(c), 3);
        check_true("used one stays", name_cache_get(c, "n0", AF_INET, 0, &a));
        check_true("oldest went", !name_cache_get(c, "n1", AF_INET, 0, &a));
        name_cache_clear(c);
        check_uint("cleared", name_cache_count(c), 0);
        name_cache_free(c);
}
