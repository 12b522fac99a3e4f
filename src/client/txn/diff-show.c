#include "client/txn/diff-show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/human.h"
#include "client/table.h"

static const char *const changes[] = { "added", "modified", "deleted" };

void diff_show_begin(DiffShow *d, DiffMode mode, bool patches) {
        *d = (DiffShow) { .mode = mode, .patches = patches, .colours = mode != DIFF_JSON && colours_wanted(STDOUT_FILENO) };
        if (mode == DIFF_JSON)
                d->list = json_array();
}

static size_t change_number(const char *change) {
        for (size_t i = 0; i < ELEMENTSOF(changes); i++)
                if (strcmp(change, changes[i]) == 0)
                        return i;
        return 1;
}

static void diff_show_put(const DiffShow *d, Colour colour, const char *text) {
        if (d->colours && colour != COLOUR_NONE)
                fputs(colour_on(colour), stdout);
        fputs(text, stdout);
        if (d->colours && colour != COLOUR_NONE)
                fputs(colour_off(), stdout);
}

static int diff_show_put_path(const DiffShow *d, const DiffEntry *e, Colour colour) {
        _cleanup_free_ char *clean = human_clean(e->path);

        if (!clean)
                return -ENOMEM;
        diff_show_put(d, colour, clean);
        if (strcmp(e->type, "directory") == 0)
                diff_show_put(d, colour, "/");
        return 0;
}

static int show_line(DiffShow *d, const DiffEntry *e) {
        static const Colour colours[] = { COLOUR_GREEN, COLOUR_YELLOW, COLOUR_RED };
        size_t n = change_number(e->change);
        char letter[3] = { "AMD"[n], ' ', '\0' };
        int r;

        diff_show_put(d, colours[n], letter);
        r = diff_show_put_path(d, e, COLOUR_NONE);
        if (e->mode >= 0 && e->old_mode >= 0 && e->mode != e->old_mode)
                printf(" (mode %04o → %04o)", (unsigned) e->old_mode, (unsigned) e->mode);
        putchar('\n');
        return r;
}

static int diff_show_name(DiffShow *d, const DiffEntry *e) {
        int r = diff_show_put_path(d, e, COLOUR_NONE);

        putchar('\n');
        return r;
}

static void count_lines(const char *patch, uint64_t *ret_more, uint64_t *ret_less) {
        bool in_hunk = false;

        *ret_more = *ret_less = 0;
        for (const char *line = patch; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
                if (strncmp(line, "@@ ", 3) == 0)
                        in_hunk = true;
                else if (in_hunk && *line == '+')
                        (*ret_more)++;
                else if (in_hunk && *line == '-')
                        (*ret_less)++;
        }
}

#define STAT_COLUMN 32 /* where numbers begin, below short names */

/* Lines come one by one, so the length of the longest name is not known. */
static void put_gap(const DiffEntry *e) {
        size_t n = strcmp(e->type, "directory") == 0 ? 1 : 0;

        for (const char *p = e->path; *p; p++)
                n += ((unsigned char) *p & 0xc0) != 0x80;
        printf("%*s", n < STAT_COLUMN ? (int) (STAT_COLUMN - n) : 0, "");
}

static int show_stat(DiffShow *d, const DiffEntry *e) {
        char before[HUMAN_MAX], after[HUMAN_MAX];
        uint64_t more, less;
        int r;

        putchar(' ');
        r = diff_show_put_path(d, e, COLOUR_NONE);
        put_gap(e);
        if (e->patch && !e->binary) {
                count_lines(e->patch, &more, &less);
                d->insertions += more;
                d->deletions += less;
                printf(" | %llu ", (unsigned long long) (more + less));
                if (more > 0)
                        diff_show_put(d, COLOUR_GREEN, "+");
                if (less > 0)
                        diff_show_put(d, COLOUR_RED, "-");
        } else if (strcmp(e->type, "file") == 0)
                printf(" | %s → %s", e->old_size < 0 ? "-" : human_size((double) e->old_size, before),
                                e->size < 0 ? "-" : human_size((double) e->size, after));
        else
                printf(" | %s %s", e->type, e->change);
        putchar('\n');
        return r;
}

static Colour colour_of_line(const char *line, bool in_hunk) {
        if (strncmp(line, "diff ", 5) == 0 || (!in_hunk && line[0] != '@'))
                return COLOUR_BOLD;
        return line[0] == '+' ? COLOUR_GREEN : line[0] == '-' ? COLOUR_RED : line[0] == '@' ? COLOUR_YELLOW : COLOUR_NONE;
}

/* Prints to a terminal line by line, cleaned; elsewhere unchanged, so that `git apply` and `patch` can read
 * it. */
static int show_patch_text(const DiffShow *d, const char *patch) {
        bool in_hunk = false;

        if (!isatty(STDOUT_FILENO) && !d->colours) {
                fputs(patch, stdout);
                return 0;
        }
        for (const char *line = patch; *line;) {
                size_t n = strcspn(line, "\n");
                _cleanup_free_ char *copy = strndup(line, n), *clean = NULL;

                for (char *p = copy; p && *p; p++)
                        if (*p == '\t')
                                *p = ' ';
                clean = copy ? human_clean(copy) : NULL;
                if (!clean)
                        return -ENOMEM;
                in_hunk = strncmp(line, "@@ ", 3) == 0 || (in_hunk && strncmp(line, "diff ", 5) != 0);
                diff_show_put(d, colour_of_line(clean, in_hunk), clean);
                putchar('\n');
                line += n + (line[n] == '\n');
        }
        return 0;
}

static int show_patch(DiffShow *d, const DiffEntry *e) {
        int r;

        if (e->patch)
                return show_patch_text(d, e->patch);
        diff_show_put(d, COLOUR_BOLD, change_number(e->change) == 2 ? "deleted " : change_number(e->change) == 0 ? "added " : "changed ");
        diff_show_put(d, COLOUR_BOLD, strcmp(e->type, "file") == 0 ? (e->binary ? "binary file " : "file ") : e->type);
        if (strcmp(e->type, "file") != 0)
                putchar(' ');
        r = diff_show_put_path(d, e, COLOUR_BOLD);
        if (e->mode >= 0 && e->old_mode >= 0 && e->mode != e->old_mode)
                printf(" (mode %04o → %04o)", (unsigned) e->old_mode, (unsigned) e->mode);
        putchar('\n');
        return r;
}

/* Names are bytes, JSON is text: a name that is not UTF-8 is cleaned. */
static json_t *diff_show_text_of(const char *bytes) {
        json_t *text = json_string(bytes);
        _cleanup_free_ char *clean = text ? NULL : human_clean(bytes);

        return text ? text : clean ? json_string(clean) : NULL;
}

static int diff_show_keep_json(DiffShow *d, const DiffEntry *e) {
        json_t *o = json_object();
        char octal[8];

        (void) json_object_set_new(o, "path", diff_show_text_of(e->path));
        (void) json_object_set_new(o, "change", json_string(e->change));
        (void) json_object_set_new(o, "type", json_string(e->type));
        if (e->size >= 0)
                (void) json_object_set_new(o, "size", json_integer(e->size));
        if (e->old_size >= 0)
                (void) json_object_set_new(o, "oldSize", json_integer(e->old_size));
        if (e->mode >= 0) {
                (void) snprintf(octal, sizeof(octal), "%04o", (unsigned) e->mode & 07777);
                (void) json_object_set_new(o, "mode", json_string(octal));
        }
        if (e->old_mode >= 0) {
                (void) snprintf(octal, sizeof(octal), "%04o", (unsigned) e->old_mode & 07777);
                (void) json_object_set_new(o, "oldMode", json_string(octal));
        }
        return json_array_append_new(d->list, o) < 0 ? -ENOMEM : 0;
}

int diff_show_entry(DiffShow *d, const DiffEntry *e) {
        static int (*const shows[_DIFF_MODE_MAX])(DiffShow *d, const DiffEntry *e) = {
                [DIFF_LINES] = show_line, [DIFF_NAMES] = diff_show_name, [DIFF_STAT] = show_stat, [DIFF_PATCH] = show_patch, [DIFF_JSON] = diff_show_keep_json,
        };

        d->counts[change_number(e->change)]++;
        return shows[d->mode](d, e);
}

static int diff_show_mode_of(const json_t *change, const char *key) {
        const char *text = json_get_text(change, key);

        return text ? (int) strtoul(text, NULL, 8) : (int) json_get_integer(change, key, -1);
}

int diff_show_json(DiffShow *d, const json_t *change) {
        const char *path = json_get_text_or(change, "path", "?");
        DiffEntry e = {
                .path = path + strspn(path, "/"),
                .change = json_get_text_or(change, "change", "modified"),
                .type = json_get_text_or(change, "type", "other"),
                .size = json_get_integer(change, "size", -1),
                .old_size = json_get_integer(change, "oldSize", -1),
                .mode = diff_show_mode_of(change, "mode"),
                .old_mode = diff_show_mode_of(change, "oldMode"),
                .binary = json_get_bool(change, "binary"),
                .patch = json_get_text(change, "patch"),
        };

        if (d->mode == DIFF_JSON)
                return json_array_append(d->list, (json_t *) change) < 0 ? -ENOMEM : 0;
        return diff_show_entry(d, &e);
}

int diff_show_end(DiffShow *d) {
        uint64_t total = d->counts[0] + d->counts[1] + d->counts[2];
        _cleanup_free_ char *text = NULL;

        if (d->mode == DIFF_STAT && total > 0)
                printf(" %llu changed: %llu added, %llu modified, %llu deleted; %llu lines more, %llu less\n", (unsigned long long) total,
                                (unsigned long long) d->counts[0], (unsigned long long) d->counts[1], (unsigned long long) d->counts[2],
                                (unsigned long long) d->insertions, (unsigned long long) d->deletions);
        if (d->mode != DIFF_JSON)
                return 0;
        text = client_json_print(d->list, /* pretty= */ true);
        json_decref(d->list);
        d->list = NULL;
        if (!text)
                return -ENOMEM;
        puts(text);
        return 0;
}
