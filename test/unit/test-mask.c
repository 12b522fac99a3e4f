/* Item 369: values are hidden in whatever pieces a text is read; compared with a model that is too plain to be wrong. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>

#include "mask-model.h"

static Mask *mask_of(const char *const *values) {
        Mask *m = mask_new();

        for (; *values; values++)
                check_result("added", mask_add(m, *values, strlen(*values)), 1);
        return m;
}

static void shows(const Mask *m, const char *text, const char *expected) {
        char *copy = strdup(text);

        check_result("apply", mask_apply(m, copy, strlen(copy), NULL), 0);
        check_string(text, copy, expected);
        free(copy);
}

static size_t shown(const Mask *m, const char *text) {
        char *copy = strdup(text);
        size_t n = 0;

        check_result("apply", mask_apply(m, copy, strlen(copy), &n), 0);
        free(copy);
        return n;
}

TEST(values_become_as_many_stars) {
        Mask *m = mask_of((const char *const[]) { "hunter2", "abab", NULL });

        shows(m, "a hunter2 b", "a ******* b");
        shows(m, "hunter hunter", "hunter hunter");
        shows(m, "ababab", "******"); /* both that overlap */
        shows(m, "hunter2hunter2", "**************");
        shows(m, "", "");
        mask_unref(m);
}

TEST(an_empty_mask_hides_nothing) {
        Mask *m = mask_new();

        check_true("empty", mask_is_empty(m) && mask_is_empty(NULL));
        shows(m, "anything", "anything");
        shows(NULL, "anything", "anything");
        check_uint("shown", shown(NULL, "anything"), 8);
        check_result("too short", mask_add(m, "abc", 3), 0);
        check_true("still empty", mask_is_empty(m));
        mask_unref(m);
}

TEST(the_same_value_twice_is_one) {
        Mask *m = mask_of((const char *const[]) { "something", NULL });

        check_result("again", mask_add(m, "something", 9), 0);
        check_uint("values", mask_count(m), 1);
        check_true("has", mask_has(m, "something", 9) && !mask_has(m, "somethin", 8) && !mask_has(NULL, "x", 1));
        mask_unref(m);
}

TEST(there_is_a_ceiling) {
        Mask *m = mask_new();
        char value[32];
        int r = 0;

        for (int i = 0; i <= MASK_VALUES_MAX && r >= 0; i++) {
                int n = snprintf(value, sizeof(value), "value-%d", i);

                r = mask_add(m, value, (size_t) n);
        }
        check_result("one too many", r, -E2BIG);
        shows(m, "<value-0> <value-511> <value-51>", "<*******> <*********> <********>");
        mask_unref(m);
}

TEST(what_may_become_a_value_is_held_back) {
        Mask *m = mask_of((const char *const[]) { "hunter2", "terminus", NULL });

        check_uint("nothing", shown(m, "hello."), 6);
        check_uint("one letter", shown(m, "a h"), 2);
        check_uint("most of it", shown(m, "a hunter"), 2);
        check_uint("all of it", shown(m, "a hunter2"), 9);
        check_uint("another begins within", shown(m, "xter"), 1);
        check_uint("what is hidden anyway goes", shown(m, "hunter2 ter"), 8);
        mask_unref(m);
        m = mask_of((const char *const[]) { "abab", "xababyy", NULL });
        check_uint("the end of one is the beginning of another", shown(m, "abab"), 4);
        check_uint("what is open before something hidden stays", shown(m, "xabab"), 0);
        mask_unref(m);
}

TEST(base64_of_a_value_is_hidden_wherever_it_stands) {
        Mask *m = mask_of((const char *const[]) { "correct?horse>battery", NULL });

        shows(m, "Y29ycmVjdD9ob3JzZT5iYXR0ZXJ5", "****************************");
        shows(m, "eGNvcnJlY3Q/aG9yc2U+YmF0dGVyeQ==", "eG***************************Q==");
        shows(m, "eGNvcnJlY3Q_aG9yc2U-YmF0dGVyeQ==", "eG***************************Q==");
        shows(m, "eHhjb3JyZWN0P2hvcnNlPmJhdHRlcnk=", "eHh***************************k=");
        mask_unref(m);
}

TEST(lines_of_a_value) {
        Mask *m = mask_of((const char *const[]) { "-----BEGIN-----\nfirst-line-of-the-key\nsecond-line-of-it\n", NULL });

        shows(m, "-----BEGIN-----\r\nfirst-line-of-the-key\r\nsecond-line-of-it", "*********************************************************");
        shows(m, " second-line-of-it ", " ***************** ");
        shows(m, "-----BEGIN-----", "-----BEGIN-----");
        mask_unref(m);
}

static unsigned next_random(unsigned *state) {
        *state = *state * 1103515245 + 12345;
        return *state >> 16;
}

/* Few letters, so that values overlap, repeat and almost match. */
static void fill(uint8_t *data, size_t size, unsigned letters, unsigned *state) {
        for (size_t i = 0; i < size; i++)
                data[i] = (uint8_t) ('a' + next_random(state) % letters);
}

TEST(any_pieces_of_any_text_are_as_the_model_says) {
        unsigned dice = 4711;

        for (unsigned round = 0; round < 1500; round++) {
                uint8_t pool[6][8], text[160];
                ModelValue values[6];
                size_t n = 1 + next_random(&dice) % 6, size = next_random(&dice) % sizeof(text), step = 1 + next_random(&dice) % 40;
                unsigned letters = 1 + next_random(&dice) % 3;
                const char *wrong;
                Mask *m = mask_new();

                for (size_t i = 0; i < n; i++) {
                        values[i] = (ModelValue) { pool[i], 3 + next_random(&dice) % 5 };
                        fill(pool[i], sizeof(pool[i]), letters, &dice);
                        check_true("added", mask_add(m, values[i].data, values[i].size) >= 0);
                }
                fill(text, size, letters, &dice);
                wrong = model_check(m, values, n, text, size, step, 1 + next_random(&dice) % 30);
                check_true(wrong ? wrong : "as the model", !wrong);
                mask_unref(m);
        }
}

TEST(long_values_too) {
        unsigned dice = 815;

        for (unsigned round = 0; round < 12; round++) {
                static uint8_t pool[3][2000], text[7000];
                ModelValue values[3];
                size_t size = 4000 + next_random(&dice) % 3000;
                const char *wrong;
                Mask *m = mask_new();

                for (size_t i = 0; i < 2; i++) {
                        values[i] = (ModelValue) { pool[i], 1025 + next_random(&dice) % 900 };
                        memset(pool[i], 'a', sizeof(pool[i]));
                        fill(pool[i] + values[i].size - 3, 3, 3, &dice);
                }
                values[2] = (ModelValue) { pool[2], 5 };
                fill(pool[2], 5, 2, &dice);
                for (size_t i = 0; i < 3; i++)
                        check_true("added", mask_add(m, values[i].data, values[i].size) >= 0);
                memset(text, 'a', size);
                for (size_t i = 0; i < size; i += 1100)
                        fill(text + i, 3, 3, &dice);
                memcpy(text + size / 2, values[round % 2].data, values[round % 2].size);
                wrong = model_check(m, values, 3, text, size, 700, 1 + next_random(&dice) % 3000);
                check_true(wrong ? wrong : "as the model", !wrong);
                mask_unref(m);
        }
}

TEST(what_is_added_later_is_found_too) {
        unsigned dice = 42;

        for (unsigned round = 0; round < 300; round++) {
                uint8_t pool[8][8], text[120], wanted[120], found[120];
                size_t size = 1 + next_random(&dice) % sizeof(text);
                ModelValue values[8];
                Mask *m = mask_new();

                fill(text, size, 2, &dice);
                for (size_t i = 0; i < ELEMENTSOF(values); i++) {
                        values[i] = (ModelValue) { pool[i], 4 + next_random(&dice) % 4 };
                        fill(pool[i], sizeof(pool[i]), 2, &dice);
                        check_true("added", mask_add(m, values[i].data, values[i].size) >= 0);
                        memcpy(found, text, size);
                        check_result("apply", mask_apply(m, found, size, NULL), 0);
                        model_apply(values, i + 1, text, size, wanted);
                        check_true("as the model", memcmp(found, wanted, size) == 0);
                }
                mask_unref(m);
        }
}

TEST(a_line_of_one_value_may_be_another_value) {
        Mask *m = mask_of((const char *const[]) { "the-first-line-of-it\nthe-second-line-of-it", "the-second-line-of-it", NULL });

        shows(m, "dGhlLXNlY29uZC1saW5lLW9mLWl0", "****************************");
        mask_unref(m);
}

TEST(a_very_long_value_is_hidden_in_parts) {
        static uint8_t value[5000], text[5200];
        unsigned dice = 7;
        Mask *m = mask_new();
        size_t hidden;

        for (size_t i = 0; i < sizeof(value); i++)
                value[i] = (uint8_t) ('A' + next_random(&dice) % 26);
        check_result("added", mask_add(m, value, sizeof(value)), 1);
        check_true("has", mask_has(m, value, sizeof(value)) && !mask_has(m, value, 2000));
        for (size_t cut = 0; cut < 2; cut++) {
                hidden = 0;
                memset(text, '.', sizeof(text));
                memcpy(text + 100, value, sizeof(value));
                text[100 + 2500] = cut ? '.' : text[100 + 2500]; /* in the second of three */
                check_result("apply", mask_apply(m, text, sizeof(text), NULL), 0);
                for (size_t i = 0; i < sizeof(text); i++)
                        hidden += text[i] == '*';
                check_uint("hidden", hidden, cut ? 1666 + 1667 : sizeof(value));
        }
        mask_unref(m);
}

TEST(values_together_have_a_ceiling) {
        static char value[65536];
        Mask *m = mask_new();
        int r = 0;

        memset(value, 'x', sizeof(value));
        for (size_t n = 0; n < MASK_VALUES_MAX && r >= 0; n++) {
                value[0] = (char) ('A' + n % 26);
                value[1] = (char) ('A' + n / 26);
                check_true("fits", mask_fits(m, value, sizeof(value)) == (n < MASK_BYTES_MAX / sizeof(value)));
                r = mask_add(m, value, sizeof(value));
        }
        check_result("one too many", r, -E2BIG);
        check_uint("values", mask_count(m), MASK_BYTES_MAX / sizeof(value));
        check_uint("bytes", mask_bytes(m), MASK_BYTES_MAX);
        check_true("a short one neither", !mask_fits(m, "four", 4));
        check_true("a beginning is no value", !mask_has(m, "AAxx", 4));
        value[0] = value[1] = 'A';
        check_result("but again", mask_add(m, value, sizeof(value)), 0);
        mask_unref(m);
}

/* Values that somebody has thought of to make looking slow, and texts likewise. */
typedef enum Malice {
        MALICE_NONE,
        MALICE_ENDS,    /* aaaa…, which differ at their ends */
        MALICE_PERIODS, /* abab… likewise */
        MALICE_FORKS,   /* one beginning, and then every letter there is */
        MALICE_NESTED,  /* each is an end of the one before */
        _MALICE_MAX,
} Malice;

static void make_value(uint8_t *value, size_t size, Malice malice, size_t number, unsigned *dice) {
        for (size_t i = 0; i < size; i++)
                value[i] = malice == MALICE_NONE ? (uint8_t) ('0' + next_random(dice) % 10) : malice == MALICE_PERIODS ? (uint8_t) ("ab"[i % 2]) : 'a';
        if (malice == MALICE_FORKS)
                value[size / 2] = (uint8_t) (number + 1 + (number + 1 >= 'a'));
        else if (malice == MALICE_ENDS || malice == MALICE_PERIODS)
                for (size_t bit = 0; bit < 9; bit++)
                        value[size - 1 - bit] = (uint8_t) ("ac"[number >> bit & 1]);
}

static uint64_t steps_of(Mask *m, const uint8_t *unit, size_t unit_size, size_t size) {
        uint8_t *text = malloc(size);
        uint64_t before = mask_steps(m);
        size_t n;

        for (size_t i = 0; i < size; i++)
                text[i] = unit[i % unit_size];
        check_result("apply", mask_apply(m, text, size, &n), 0);
        free(text);
        return mask_steps(m) - before;
}

TEST(a_byte_costs_the_same_whatever_is_looked_for) {
        static uint8_t value[1000], first[1000];
        static const size_t counts[] = { 1, 20, 200 };
        const size_t text = 64 << 10;

        for (Malice malice = 0; malice < _MALICE_MAX; malice++)
                for (size_t c = 0; c < ELEMENTSOF(counts); c++)
                        for (size_t size = 40; size <= sizeof(value); size += 480) {
                                unsigned dice = 99;
                                Mask *m = mask_new();
                                uint64_t most = 0;

                                for (size_t i = 0; i < counts[c] && mask_fits(m, value, size); i++) {
                                        size_t own = malice == MALICE_NESTED ? size - MIN_OF(i, size - MASK_MIN) : size;

                                        make_value(value, own, malice, i, &dice);
                                        if (i == 0)
                                                memcpy(first, value, size);
                                        check_true("added", mask_add(m, value, own) >= 0);
                                }
                                check_true("cheap to make", steps_of(m, first, size, 1) <= 4 * mask_bytes(m));
                                for (size_t n = size - 2; n <= size; n++) /* almost a value, and a value, again and again */
                                        most = MAX_OF(most, steps_of(m, first, n, text));
                                most = MAX_OF(most, steps_of(m, (const uint8_t *) "a", 1, text));
                                most = MAX_OF(most, steps_of(m, (const uint8_t *) "ab", 2, text));
                                most = MAX_OF(most, steps_of(m, (const uint8_t *) "aab", 3, text));
                                most = MAX_OF(most, steps_of(m, first, size / 2 + 1, text));
                                check_true("steps for each byte", most <= 8 * text); /* two, and what the hash table takes */
                                mask_unref(m);
                        }
}

/* Each piece is looked at with the bytes around it: as many as the longest word that is looked for has, not the longest value. */
TEST(pieces_cost_little_more_than_the_whole) {
        static uint8_t value[65536], text[1 << 20], piece[12 << 10];
        int fd = memfd_create("journal", MFD_CLOEXEC);
        Mask *m = mask_new();
        uint64_t before, at = 0;
        ssize_t n;

        memset(value, 'a', sizeof(value));
        memset(text, 'a', sizeof(text));
        check_result("added", mask_add(m, value, sizeof(value)), 1);
        check_int("written", write(fd, text, sizeof(text)), sizeof(text));
        (void) steps_of(m, text, 1, 1);
        before = mask_steps(m);
        while ((n = mask_read(m, mask_read_fd, &fd, sizeof(text), /* final= */ true, piece, sizeof(piece), at)) > 0)
                at += (uint64_t) n;
        check_uint("read", at, sizeof(text));
        check_true("steps", mask_steps(m) - before <= 4 * sizeof(text));
        (void) close(fd);
        mask_unref(m);
}

TEST(a_file_that_is_shorter_than_said) {
        Mask *m = mask_of((const char *const[]) { "hunter2", NULL });
        int fd = memfd_create("journal", MFD_CLOEXEC);
        char found[32];

        check_int("written", write(fd, "a hunter2", 9), 9);
        check_int("read", mask_read(m, mask_read_fd, &fd, 100, /* final= */ true, found, sizeof(found), 0), 9);
        check_int("beyond", mask_read(m, mask_read_fd, &fd, 100, /* final= */ true, found, sizeof(found), 9), 0);
        check_int("far beyond", mask_read(m, mask_read_fd, &fd, 100, /* final= */ true, found, sizeof(found), 50), 0);
        (void) close(fd);
        mask_unref(m);
}
