/* Objects by the beginning of their id. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "core/prefix.h"

typedef struct Thing {
        PrefixNode node; /* first */
        char id[ID_LENGTH + 1];
        const char *tenant, *name;
} Thing;

static bool thing_is_seen(const PrefixNode *node, const Principal *who) {
        return !who->tenant || strcmp(((const Thing *) node)->tenant, who->tenant) == 0;
}

static const char *thing_name(const PrefixNode *node) {
        return ((const Thing *) node)->name;
}

static const PrefixKind things = { "things", thing_is_seen, thing_name };
static const Principal everybody = { .kind = PRINCIPAL_ADMIN }, a = { .tenant = "a" }, b = { .tenant = "b" };

static Thing table[] = {
        { .id = "abcdefghijklmnopqrstu", .tenant = "a", .name = "web" },
        { .id = "abcdefghiaklmnopqrstu", .tenant = "b" },
        { .id = "abzzzzghijklmnopqrstu", .tenant = "b" },
        { .id = "x1y2z3ghijklmnopqrstu", .tenant = "a" },
};

static PrefixIndex *index_of_table(void) {
        PrefixIndex *index = calloc(1, sizeof(*index));

        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                prefix_add(index, &table[i].node, table[i].id);
        return index;
}

static void check_find(const PrefixIndex *index, const Principal *who, const char *text, int expected, const Thing *thing) {
        PrefixNode *found = NULL;

        check_result(text, prefix_find(index, &things, who, text, &found, /* reterr= */ NULL), expected);
        check_true(text, found == (thing ? &thing->node : NULL));
}

TEST(one_that_is_meant) {
        PrefixIndex *index = index_of_table();

        check_find(index, &everybody, "x1y2z3gh", 0, table + 3);
        check_find(index, &everybody, "abcdefghij", 0, table);
        check_find(index, &everybody, "abcdefghia", 0, table + 1);
        check_find(index, &everybody, "abcdefghiaklmnopqrst", 0, table + 1);
        check_find(index, &everybody, "abcdefghib", -ENOENT, NULL);
        check_find(index, &everybody, "qqqqqqqq", -ENOENT, NULL);
        free(index);
}

TEST(what_is_no_prefix) {
        PrefixIndex *index = index_of_table();

        check_find(index, &everybody, "", -ENOENT, NULL);
        check_find(index, &everybody, "x1y2z3g", -ENOENT, NULL); /* too short, though only one begins so */
        check_find(index, &everybody, "X1Y2Z3GH", -ENOENT, NULL);
        check_find(index, &everybody, "x1y2z3gh-", -ENOENT, NULL);
        check_find(index, &everybody, "x1y2z3ghijklmnopqrstu", -ENOENT, NULL); /* the whole id is for those who look for ids */
        check_find(index, &everybody, "x1y2z3ghijklmnopqrstuv", -ENOENT, NULL);
        free(index);
}

TEST(several) {
        PrefixIndex *index = index_of_table();
        Error error = { 0 };
        PrefixNode *found = NULL;

        check_result("several", prefix_find(index, &things, &everybody, "abcdefgh", &found, &error), -ENOTUNIQ);
        check_string("several", error.text, "'abcdefgh' is ambiguous, give more characters: the ids of 2 things begin so: abcdefghijklmnopqrstu (web), abcdefghiaklmnopqrstu");
        check_true("several", !found);
        free(index);
}

TEST(what_others_have_tells_nothing) {
        PrefixIndex *index = index_of_table();

        check_find(index, &a, "abcdefgh", 0, table);
        check_find(index, &b, "abcdefgh", 0, table + 1);
        check_find(index, &a, "abzzzzgh", -ENOENT, NULL);
        free(index);
}

TEST(removed) {
        PrefixIndex *index = index_of_table();

        prefix_remove(index, &table[0].node);
        check_find(index, &everybody, "abcdefgh", 0, table + 1);
        prefix_remove(index, &table[0].node); /* nothing happens */
        prefix_remove(index, &table[1].node);
        check_find(index, &everybody, "abcdefgh", -ENOENT, NULL);
        check_find(index, &everybody, "abzzzzgh", 0, table + 2);
        free(index);
}

TEST(many_are_not_all_named) {
        static Thing many[300];
        PrefixIndex *index = calloc(1, sizeof(*index));
        Error error = { 0 };
        PrefixNode *found;

        for (size_t i = 0; i < ELEMENTSOF(many); i++) {
                (void) snprintf(many[i].id, sizeof(many[i].id), "samesame%013zu", i);
                many[i].name = "a-name-as-long-as-names-can-be-which-is-sixty-three-characters-";
                prefix_add(index, &many[i].node, many[i].id);
        }
        check_result("many", prefix_find(index, &things, &everybody, "samesame0", &found, &error), -ENOTUNIQ);
        check_part("many", error.text, "the ids of 300 things begin so: samesame0000000000000 (a-name");
        check_true("many", strstr(error.text, many[6].id) == NULL);
        free(index);
}
