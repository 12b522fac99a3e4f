/* What is printed of a configuration, held by the texts in test/golden/config: of one in which every key is away from its default
 * (full.yaml), and of the defaults; and the complaints about wrong files (wrong.txt). The manual page, too, is compared with the
 * keys, by test/api/config.
 *
 *      COVE_GOLDEN_WRITE=1 test-golden-config    writes the texts anew: only when what is printed is meant to change */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"

#define TEXT_MAX (1u << 20)
#define PLACE    SOURCE_ROOT "/test/golden/config/"

static char *text_of(const char *path) {
        FILE *f = fopen(path, "re");
        char *text = calloc(1, TEXT_MAX);

        check_true(path, f != NULL && text != NULL);
        check_true(path, fread(text, 1, TEXT_MAX - 1, f) > 0);
        (void) fclose(f);
        return text;
}

/* Line by line, so that what differs can be read. */
static void golden_check(const char *path, char *found) {
        _cleanup_free_ char *wanted = NULL;
        char *rest_found = found, *rest_wanted;

        if (getenv("COVE_GOLDEN_WRITE"))
                unit_write_text(path, found);
        wanted = text_of(path);
        rest_wanted = wanted;
        while (rest_found && rest_wanted)
                check_string(path, strsep(&rest_found, "\n"), strsep(&rest_wanted, "\n"));
        check_true(path, !rest_found && !rest_wanted);
}

static void complain(const char *text, void *userdata) {
        fail_msg("%s", text);
}

static Config *full(void) {
        Error error = { 0 };
        Config *c = NULL;

        check_result("full.yaml", config_read(/* hooks= */ NULL, PLACE "full.yaml", complain, NULL, &c, &error), 0);
        return c;
}

TEST(every_key_as_yaml) {
        _cleanup_config_ Config *c = full();
        _cleanup_free_ char *text = config_print(c);

        golden_check(PLACE "full-printed.yaml", text);
}

TEST(every_key_as_json) {
        _cleanup_config_ Config *c = full();
        _cleanup_free_ char *text = config_print_json(c);

        golden_check(PLACE "full-printed.json", text);
}

TEST(the_defaults) {
        _cleanup_config_ Config *c = NULL;
        _cleanup_free_ char *text = NULL;

        check_result("defaults", config_defaults(&c), 0);
        text = config_print(c);
        golden_check(PLACE "defaults.yaml", text);
}

TEST(the_example) {
        _cleanup_free_ char *text = config_print_commented();

        golden_check(SOURCE_ROOT "/deploy/cove.yaml", text);
}

/* Whether the text has that line, in that section. */
static bool has_line(const char *text, const char *section, const char *line) {
        _cleanup_free_ char *copy = strdup(text);
        char *rest = copy, *l, *now = NULL;

        check_true("memory", copy != NULL);
        while ((l = strsep(&rest, "\n"))) {
                if (l[0] != ' ')
                        now = l;
                else if (now && strcmp(now, section) == 0 && strcmp(l, line) == 0)
                        return true;
        }
        return false;
}

TEST(no_key_has_its_default) {
        _cleanup_config_ Config *c = full(), *defaults = NULL;
        _cleanup_free_ char *text = config_print(c), *plain = NULL;
        char *section = NULL;

        check_result("defaults", config_defaults(&defaults), 0);
        plain = config_print(defaults);
        for (char *rest = plain, *line; (line = strsep(&rest, "\n"));) {
                if (line[0] != ' ')
                        section = line;
                else if (strncmp(line, "   ", 3) != 0 && line[strlen(line) - 1] != ':') {
                        if (has_line(text, section, line))
                                fail_msg("full.yaml says the default: %s%s", section, line);
                }
        }
}

/* One key per line. */
TEST(the_list_of_keys) {
        _cleanup_free_ char *text = config_print_keys();

        check_true("keys", text != NULL);
        for (char *p = text; (p = strstr(p, "},{")); p++)
                p[1] = '\n';
        golden_check(PLACE "keys.txt", text);
}

TEST(what_differs) {
        _cleanup_config_ Config *c = full(), *defaults = NULL;
        _cleanup_free_ char *there = NULL, *back = NULL, *both = NULL;

        check_result("defaults", config_defaults(&defaults), 0);
        there = config_diff(defaults, c);
        back = config_diff(c, defaults);
        check_true("text", there && back && asprintf(&both, "%s\n%s\n", there, back) > 0);
        golden_check(PLACE "differences.txt", both);
}

/* Wrong files. wrong.txt has them, each below a line "=== TITLE" and followed by the complaints about it, each behind "! ". */

static const char *const golden_rules[] = { "active_sandboxes_high", "sandbox_leak_detected", NULL };
static const char *const golden_options[] = { "listen", "stop-all", "template", NULL };

static const char *golden_option_name(size_t i) {
        return golden_options[i];
}

static int golden_check_option(const char *name, const char *value, Error *reterr) {
        for (size_t i = 0; golden_options[i]; i++)
                if (strcmp(golden_options[i], name) == 0)
                        return strcmp(value, "bad") == 0 ? error_set(reterr, -EINVAL, "--%s cannot be '%s'", name, value) : 0;
        return -ENOENT;
}

static void golden_note(const char *text, void *userdata) {
        (void) fprintf(userdata, "! %s\n", text);
}

/* The names of rules and options are known to those whose title begins with "names:". */
static void golden_read(FILE *out, const char *title, const char *text) {
        static const ConfigHooks hooks = { golden_rules, golden_check_option, golden_option_name };
        _cleanup_config_ Config *c = NULL;
        Error error = { 0 };
        int r = config_parse(strncmp(title, "names:", 6) == 0 ? &hooks : NULL, text, strlen(text), "F", golden_note, out, &c, &error);

        check_result(title, r, -EINVAL);
        check_true(title, c == NULL && *error.text);
}

/* Its title, its text, and the complaints as they are today. */
static void golden_case(FILE *out, char *text) {
        char *title = strsep(&text, "\n"), *line;
        size_t n = 0;
        _cleanup_free_ char *file = NULL;
        FILE *f = open_memstream(&file, &n);

        check_true(title, f && text);
        while ((line = strsep(&text, "\n")))
                if (*line && strncmp(line, "! ", 2) != 0)
                        (void) fprintf(f, "%s\n", line);
        (void) fclose(f);
        (void) fprintf(out, "=== %s\n%s", title, file);
        golden_read(out, title, file);
}

TEST(wrong_files) {
        _cleanup_free_ char *text = text_of(PLACE "wrong.txt"), *found = NULL;
        char *at = text;
        size_t n = 0, n_cases = 0;
        FILE *out = open_memstream(&found, &n);

        check_true("memory", out != NULL);
        check_result("an empty variable", setenv("COVE_TEST_EMPTY", "", 1), 0);
        for (char *next; at; at = next, n_cases++) {
                check_true("a title", strncmp(at, "=== ", 4) == 0);
                next = strstr(at, "\n=== ");
                if (next)
                        *next++ = '\0';
                golden_case(out, at + 4);
        }
        (void) fclose(out);
        check_true("cases", n_cases > 100);
        golden_check(PLACE "wrong.txt", found);
}
