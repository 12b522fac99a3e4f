/* Names and addresses both ways, newest first, bounded, and never moved. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gate/dns/pins.h"

static IpAddress v4(uint32_t n) {
        return (IpAddress) { .bytes = { [10] = 0xff, 0xff, (uint8_t) (n >> 24), (uint8_t) (n >> 16), (uint8_t) (n >> 8), (uint8_t) n } };
}

static Pins *fresh(void) {
        Pins *p = NULL;

        check_result("new", pins_new(&p), 0);
        return p;
}

TEST(a_pin_is_for_that_name_and_that_address) {
        IpAddress a = v4(0x5db8d822), b = v4(0x5db8d823);
        Pins *p = fresh();

        check_result("add", pins_add(p, "example.org", &a, 1), 0);
        check_true("it", pins_has(p, "example.org", &a));
        check_true("another address", !pins_has(p, "example.org", &b));
        check_true("another name", !pins_has(p, "example.com", &a));
        check_true("a beginning", !pins_has(p, "example.or", &a));
        check_true("an end", !pins_has(p, "xample.org", &a));
        check_true("no name", !pins_has(p, "", &a));
        pins_free(p);
}

TEST(names_of_an_address_come_newest_first) {
        IpAddress a = v4(1), b = v4(2);
        const char *names[4];
        Pins *p = fresh();

        check_uint("none", pins_names(p, &a, names, ELEMENTSOF(names)), 0);
        (void) pins_add(p, "one", &a, 1);
        (void) pins_add(p, "two", &a, 2);
        (void) pins_add(p, "elsewhere", &b, 3);
        check_uint("two", pins_names(p, &a, names, ELEMENTSOF(names)), 2);
        check_string("newest", names[0], "two");
        check_string("older", names[1], "one");

        (void) pins_add(p, "one", &a, 4); /* told again */
        check_uint("still two", pins_names(p, &a, names, ELEMENTSOF(names)), 2);
        check_string("newest", names[0], "one");
        check_uint("bounded", pins_names(p, &a, names, 1), 1);
        check_uint("count", pins_count(p), 3);
        pins_free(p);
}

/* Rebinding: the name gets another address, and the first one stays as it was. */
TEST(a_new_answer_adds_and_moves_nothing) {
        IpAddress first = v4(0x5db8d822), second = v4(0x5db8d899);
        const char *names[2];
        Pins *p = fresh();

        (void) pins_add(p, "rebind.example.org", &first, 1);
        (void) pins_add(p, "rebind.example.org", &second, 2);
        check_true("first", pins_has(p, "rebind.example.org", &first));
        check_true("second", pins_has(p, "rebind.example.org", &second));
        check_uint("of the first", pins_names(p, &first, names, 2), 1);
        pins_free(p);
}

TEST(the_one_told_longest_ago_goes_when_it_is_full) {
        IpAddress a = v4(7), first = v4(0);
        char name[32];
        Pins *p = fresh();

        for (uint32_t i = 0; i < PINS_MAX; i++) {
                IpAddress each = v4(i);

                (void) snprintf(name, sizeof(name), "n%u", i);
                check_result("add", pins_add(p, name, &each, i), 0);
        }
        check_uint("full", pins_count(p), PINS_MAX);
        check_result("told again", pins_add(p, "n0", &first, PINS_MAX), 0);
        check_result("one more", pins_add(p, "more", &a, PINS_MAX + 1), 0);
        check_uint("still", pins_count(p), PINS_MAX);
        check_true("renewed one stays", pins_has(p, "n0", &first));
        first = v4(1);
        check_true("oldest went", !pins_has(p, "n1", &first));
        check_uint("by address too", pins_names(p, &first, (const char *[1]) { 0 }, 1), 0);
        check_true("newest is there", pins_has(p, "more", &a));
        pins_free(p);
}

TEST(pins_outlive_ttls_and_go_after_a_day) {
        IpAddress a = v4(1), b = v4(2);
        Pins *p = fresh();

        (void) pins_add(p, "a", &a, 10);
        (void) pins_add(p, "b", &b, 10 + PIN_KEEP_USEC);
        check_true("a day is not too long", pins_has(p, "a", &a));
        (void) pins_add(p, "b", &b, 11 + PIN_KEEP_USEC);
        check_true("more is", !pins_has(p, "a", &a));
        check_true("but not the other", pins_has(p, "b", &b));
        pins_free(p);
}

TEST(names_that_cannot_be_are_refused) {
        IpAddress a = v4(1);
        char name[EGRESS_DOMAIN_MAX + 8];
        Pins *p = fresh();

        check_result("empty", pins_add(p, "", &a, 1), -EINVAL);
        memset(name, 'a', sizeof(name) - 1);
        name[sizeof(name) - 1] = '\0';
        check_result("long", pins_add(p, name, &a, 1), -EINVAL);
        check_true("nor found", !pins_has(p, name, &a));
        check_uint("nothing", pins_count(p), 0);
        pins_free(p);
        check_true("nothing to free", !pins_free(NULL));
}
