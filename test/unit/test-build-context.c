/* The files that come with a build: what COPY chooses of them. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/context.h"
#include "core/secret.h"

#define HASH "0123456789012345678901234567890123456789012345678901234567890123"

typedef struct Member {
        const char *head, *path, *target;
} Member;

static const Member members[] = {
        { "f 644 3 - " HASH, "a.txt", "" },
        { "f 644 3 - " HASH, "b.txt", "" },
        { "f 755 3 - " HASH, "run.sh", "" },
        { "d 755 0 - -", "src", "" },
        { "f 644 3 - " HASH, "src/main.c", "" },
        { "f 644 3 - " HASH, "src/deep/x.h", "" }, /* its directory is only implied */
        { "f 644 3 - " HASH, "src-more", "" },
        { "l 777 0 - -", "link", "src/main.c" },
        { "l 777 0 - -", "linked", "./src/../src" },
        { "l 777 0 - -", "loop", "loop" },
        { "l 777 0 - -", "out", "/etc/passwd" },
        { "f 644 3 t " HASH, "some.tar.gz", "" },
        { "f 644 3 i -", "debug.log", "" },
        { "f 644 3 - " HASH, "keep.log", "" },
};

static char *survey(const Member *list, size_t n, const char *ignore, size_t *ret) {
        char *text = NULL;
        FILE *f = open_memstream(&text, ret);

        for (size_t i = 0; i < n; i++)
                fprintf(f, "%s%c%s%c%s%c", list[i].head, 0, list[i].path, 0, list[i].target, 0);
        if (ignore)
                fprintf(f, "f 644 %zu - " HASH "%c.dockerignore%c%c= %zu%c.dockerignore%c%s%c", strlen(ignore), 0, 0, 0, strlen(ignore), 0, 0, ignore, 0);
        fprintf(f, ". %zu%c", n + (ignore != NULL), 0);
        (void) fclose(f);
        return text;
}

static BuildContext *context(const char *ignore) {
        size_t size;
        char *text = survey(members, ELEMENTSOF(members), ignore, &size);
        BuildContext *c = NULL;
        Error error = { 0 };

        check_result("sodium", secret_init(), 0);
        check_result("survey", context_parse(text, size, &c, &error), 0);
        return c;
}

static char *show(const BuildContext *c, const char *sources, const char *to, bool is_directory, bool unpack, char hash[static CONTEXT_HASH_HEX]) {
        _cleanup_free_ char *copy = strdup(sources);
        char *list[16], *text = NULL, *save = NULL;
        size_t n = 0, size;
        Selection s = { 0 };
        Error error = { 0 };
        FILE *f = open_memstream(&text, &size);

        for (char *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save))
                list[n++] = p;
        if (context_select(c, &(SelectionRequest) { .sources = list, .n_sources = n, .destination = to, .destination_is_directory = is_directory, .unpack = unpack },
                        &s, &error) < 0)
                fprintf(f, "! %s", error.text);
        for (const char *p = s.map; p && p < s.map + s.map_size;) {
                fprintf(f, "%s>", p);
                p += strlen(p) + 1;
                fprintf(f, "%s ", p);
                p += strlen(p) + 1;
        }
        for (size_t i = 0; i < s.unpacked.n; i++)
                fprintf(f, "unpack:%s ", s.unpacked.items[i]);
        if (s.directory)
                fputs("dir", f);
        (void) fclose(f);
        memcpy(hash, s.hash, CONTEXT_HASH_HEX);
        selection_done(&s);
        return text;
}

TEST(selection) {
        static const struct {
                const char *sources, *to;
                bool is_directory, unpack;
                const char *result;
        } cases[] = {
                { "a.txt", "/x", false, false, "a.txt>x " },
                { "a.txt", "/x", true, false, "a.txt>x/a.txt dir" },
                { "a.txt", "/x/", false, false, "a.txt>x/a.txt dir" },
                { "/a.txt", "/", true, false, "a.txt>a.txt dir" },
                { "./a.txt b.txt", "/x/", false, false, "a.txt>x/a.txt b.txt>x/b.txt dir" },
                { "*.txt", "/x/", false, false, "a.txt>x/a.txt b.txt>x/b.txt dir" },
                { "?.txt run.sh", "/x/", false, false, "a.txt>x/a.txt b.txt>x/b.txt run.sh>x/run.sh dir" },
                { "[ab].txt", "/x/", false, false, "a.txt>x/a.txt b.txt>x/b.txt dir" },
                { "src", "/x", false, false, "src/deep>x/deep src/deep/x.h>x/deep/x.h src/main.c>x/main.c dir" },
                { "src/", "/", true, false, "src/deep>deep src/deep/x.h>deep/x.h src/main.c>main.c dir" },
                { "src/*.c", "/x", false, false, "src/main.c>x " },
                { "src/deep", "/x", false, false, "src/deep/x.h>x/x.h dir" },
                { "link", "/x", false, false, "src/main.c>x " },
                { "linked", "/x/", false, false, "src/deep>x/deep src/deep/x.h>x/deep/x.h src/main.c>x/main.c dir" },
                { "some.tar.gz", "/x", false, false, "some.tar.gz>x " },
                { "some.tar.gz", "/x", false, true, "unpack:some.tar.gz dir" },
                { "a.txt", "/x", false, true, "a.txt>x " },
                { "*.log", "/x/", false, false, "keep.log>x/keep.log dir" },
                { "a.txt b.txt", "/x", false, false, "! with more than one source the destination must be a directory: write '/x/'" },
                { "a.tx", "/x", false, false, "! 'a.tx' is not among the files that came with the build (did you mean 'a.txt'?)" },
                { "zzzzzzzz", "/x", false, false, "! 'zzzzzzzz' is not among the files that came with the build" },
                { "*.none", "/x", false, false, "! '*.none' is not among the files that came with the build" },
                { "debug.log", "/x", false, false, "! 'debug.log' is left out by .dockerignore" },
                { "../a.txt", "/x", false, false, "! '../a.txt' is outside of the context: only what was sent can be copied" },
                { "src/../../a", "/x", false, false, "! 'src/../../a' is outside of the context: only what was sent can be copied" },
                { "a.txt", "/", false, false, "a.txt>a.txt dir" },
        };
        _cleanup_context_ BuildContext *c = context(NULL);

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char hash[CONTEXT_HASH_HEX];
                _cleanup_free_ char *shown = show(c, cases[i].sources, cases[i].to, cases[i].is_directory, cases[i].unpack, hash);

                check_string(cases[i].sources, shown, cases[i].result);
        }
}

static BuildContext *many(unsigned n, unsigned links) {
        size_t size;
        char *text = NULL;
        FILE *f = open_memstream(&text, &size);
        BuildContext *c = NULL;
        Error error = { 0 };

        for (unsigned i = 0; i < n; i++)
                fprintf(f, "f 644 3 - " HASH "%cd/%u%c%c", 0, i, 0, 0);
        for (unsigned i = 0; i < links; i++) /* the first leads to a file, each other to the one before it, up to thirty */
                fprintf(f, "l 777 0 - -%cl%u%c%s%u%c", 0, i, 0, i % 30 == 0 ? "d/" : "l", i % 30 == 0 ? 0 : i - 1, 0);
        fprintf(f, ". %u%c", n + links, 0);
        (void) fclose(f);
        check_result("sodium", secret_init(), 0);
        check_result("survey", context_parse(text, size, &c, &error), 0);
        return c;
}

/* One COPY of a few words, which asks for more than there is memory or patience for. */
TEST(what_is_copied_has_an_end) {
        enum { SOURCES = 4000 };
        const struct {
                const char *source, *limit;
                unsigned files, links;
                bool long_destination;
        } cases[] = {
                { "d",    "4000000 looks",  20000, 0,      false },
                { ".",    "4000000 looks",  20000, 0,      false },
                { "*/*7", "4000000 looks",  20000, 0,      false },
                { "l*",   "4000000 looks",  10,    100000, false },
                { "d",    "67108864 bytes", 20000, 0,      true  },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_context_ BuildContext *c = many(cases[i].files, cases[i].links);
                _cleanup_free_ char *to = NULL;
                char *list[SOURCES];
                Selection s = { 0 };
                Error error = { 0 };

                check_true("memory", asprintf(&to, "/%0*d/", cases[i].long_destination ? 4000 : 1, 0) > 0);
                for (size_t k = 0; k < SOURCES; k++)
                        list[k] = (char *) cases[i].source;
                check_result(cases[i].source, context_select(c, &(SelectionRequest) { .sources = list, .n_sources = SOURCES, .destination = to }, &s, &error), -E2BIG);
                check_part(cases[i].source, error.text, cases[i].limit);
                selection_done(&s);
        }
}

TEST(links_that_lead_nowhere) {
        static const char *const names[] = { "loop", "out" };
        _cleanup_context_ BuildContext *c = context(NULL);
        char hash[CONTEXT_HASH_HEX];

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                _cleanup_free_ char *shown = show(c, names[i], "/x", false, false, hash);

                check_part(names[i], shown, "! '");
        }
}

TEST(hashes) {
        _cleanup_context_ BuildContext *c = context(NULL), *other = context("x");
        char one[CONTEXT_HASH_HEX], two[CONTEXT_HASH_HEX];
        char *mode;

        free(show(c, "src", "/x/", false, false, one));
        free(show(other, "src", "/x/", false, false, two));
        check_string("what is not copied does not count", two, one);
        free(show(other, ".", "/x/", false, false, two));
        free(show(c, ".", "/x/", false, false, one));
        check_true("what is copied does", strcmp(one, two) != 0);
        free(show(c, "a.txt", "/x/", false, false, one));
        free(show(c, "b.txt", "/x/", false, false, two));
        check_true("names count", strcmp(one, two) != 0);
        mode = (char *) build_context_find(c, "a.txt");
        ((ContextMember *) (void *) mode)->mode = 0600;
        free(show(c, "a.txt", "/x/", false, false, two));
        check_true("modes count", strcmp(one, two) != 0);
}

TEST(nothing_came) {
        char hash[CONTEXT_HASH_HEX];
        _cleanup_free_ char *shown = show(NULL, "a", "/x", false, false, hash);

        check_string("no context", shown, "! 'a': no files came with this build");
}

TEST(cut_off) {
        size_t size;
        char *whole = survey(members, ELEMENTSOF(members), "x\ny\n", &size);

        check_result("sodium", secret_init(), 0);
        for (size_t n = 0; n < size; n++) {
                char *part = malloc(n + 1);
                Error error = { 0 };
                BuildContext *c = NULL;

                memcpy(part, whole, n);
                check_result("cut off", context_parse(part, n, &c, &error), -EBADMSG);
                check_true("nothing", !c && error.text[0]);
        }
        free(whole);
}
