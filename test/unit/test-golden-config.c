/* What is printed of a configuration, held by the texts in test/golden/config: of one in which every key is away from its default
 * (full.yaml), and of the defaults. The keys themselves are held by the manual page, which test/api/config compares.
 *
 *      COVE_GOLDEN_WRITE=1 test-golden-config    writes the texts anew: only when what is printed is meant to change */
#include "unit.h"

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

        check_result("full.yaml", config_read(PLACE "full.yaml", complain, NULL, &c, &error), 0);
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
