/* step-from.c: COPY --from: out of one sandbox into another: worker, pack, pipe, graft, worker. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/ignore.h"
#include "build/internal.h"

static void step_from_next_source(Build *b);

static const char *stage_words(const Build *b) {
        return build_step(b)->from_text;
}

static void transfer(Build *b) {
        BuildCopy *c = b->copy;
        Sandbox *from = build_sandbox(b, (size_t) build_step(b)->from), *to = from ? build_sandbox(b, b->stage) : NULL;
        const bool directory = S_ISDIR(c->source_mode);
        const char *arguments[8] = { directory ? "graft" : "place" };
        _cleanup_free_ char *path = NULL;
        char owner[32], mode[16];
        const char *name;
        int pipes[2];
        size_t n = 2;

        if (!to)
                return;
        name = strrchr(c->source, '/') + 1;
        if (asprintf(&path, "%s%s%s", strcmp(c->directory, "/") == 0 ? "" : c->directory, !directory && c->is_directory ? "/" : "",
                        !directory && c->is_directory ? name : "") < 0 || pipe2(pipes, O_CLOEXEC) < 0) {
                build_fail_step(b, -ENOMEM, "out of memory");
                return;
        }
        arguments[1] = *path == '/' ? path + 1 : path;
        copy_options(c, /* keep= */ true, owner, mode, arguments, &n);
        if (helper_run(b, &(HelperRequest) { .arguments = (const char *const[]) { "pack", NULL }, .sandbox = from, .operation = FILE_PACK,
                        .path = c->source, .in = -EBADF, .out = pipes[1], .list = -EBADF }) >= 0)
                (void) helper_run(b, &(HelperRequest) { .arguments = arguments, .sandbox = to, .operation = FILE_UNPACK, .path = "/", .in = pipes[0],
                        .out = -EBADF, .list = -EBADF });
        (void) fd_close(pipes[0]);
        (void) fd_close(pipes[1]);
        if (!b->ending)
                helpers_wait(b, step_from_next_source);
}

static void made_directory(Build *b) {
        b->copy->is_directory = true;
        transfer(b);
}

static void step_from_on_source(Build *b) {
        BuildCopy *c = b->copy;
        Sandbox *sb = build_sandbox(b, b->stage);

        if (!sb)
                return;
        if (!b->found) {
                build_fail_step(b, -ENOENT, "there is no '%s' in %s", c->source, stage_words(b));
                return;
        }
        if (!S_ISDIR(b->entry.mode) && !S_ISREG(b->entry.mode)) {
                build_fail_step(b, -EINVAL, "'%s' in %s is neither a file nor a directory", c->source, stage_words(b));
                return;
        }
        c->source_mode = b->entry.mode;
        if (!c->is_directory && (S_ISDIR(b->entry.mode) || c->destination[strlen(c->destination) - 1] == '/'))
                ops_mkdir(b, sb, c->directory, c->has_owner ? &c->owner : NULL, made_directory);
        else
                transfer(b);
}

static void step_from_next_source(Build *b) {
        BuildCopy *c = b->copy;
        Sandbox *from = build_sandbox(b, (size_t) build_step(b)->from);

        if (!from)
                return;
        if (c->next == c->sources.n) {
                b->copy = build_copy_free(c);
                stage_step_done(b);
                return;
        }
        free(c->source);
        c->source = strdup(c->sources.items[c->next++]);
        if (!c->source)
                build_fail_step(b, -ENOMEM, "out of memory");
        else
                ops_stat(b, from, c->source, step_from_on_source);
}

/* Patterns, of the last part of a path. */

static void next_pattern(Build *b);

static int step_from_replace(BuildCopy *c, size_t at, Strv *names, const char *directory, const char *pattern) {
        Strv list = STRV_INIT(PLAN_WORDS_MAX);
        int r = 0;

        for (size_t i = 0; r >= 0 && i < c->sources.n; i++) {
                if (i != at) {
                        r = strv_push(&list, c->sources.items[i]);
                        continue;
                }
                for (size_t k = 0; r >= 0 && k < names->n; k++) {
                        _cleanup_free_ char *path = NULL;

                        if (!pattern_match(pattern, names->items[k]))
                                continue;
                        if (asprintf(&path, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory, names->items[k]) < 0) {
                                path = NULL;
                                r = -ENOMEM;
                        } else
                                r = strv_push(&list, path);
                }
        }
        strv_done(&c->sources);
        c->sources = list;
        return r;
}

static void step_from_on_listed(Build *b) {
        BuildCopy *c = b->copy;
        _cleanup_free_ char *source = strdup(c->sources.items[c->next]);
        const size_t before = c->sources.n;
        char *slash = source ? strrchr(source, '/') : NULL;
        int r = -ENOMEM;

        if (slash) {
                *slash = '\0';
                r = step_from_replace(c, c->next, &b->names, *source ? source : "/", slash + 1);
        }
        if (r < 0)
                build_fail_step(b, r, "%s", strerror(-r));
        else if (c->sources.n < before)
                build_fail_step(b, -ENOENT, "nothing in %s is like '%s/%s'", stage_words(b), source, slash + 1);
        else {
                c->next += c->sources.n - before + 1;
                next_pattern(b);
        }
}

static void next_pattern(Build *b) {
        BuildCopy *c = b->copy;
        Sandbox *from = build_sandbox(b, (size_t) build_step(b)->from);

        if (!from)
                return;
        for (; c->next < c->sources.n; c->next++) {
                _cleanup_free_ char *directory = NULL;
                char *slash;

                if (pattern_is_plain(c->sources.items[c->next]))
                        continue;
                directory = strdup(c->sources.items[c->next]);
                slash = directory ? strrchr(directory, '/') : NULL;
                if (!slash) {
                        build_fail_step(b, -ENOMEM, "out of memory");
                        return;
                }
                *slash = '\0';
                if (!pattern_is_plain(directory)) {
                        build_fail_step(b, -EINVAL, "'%s': with --from a pattern may stand in the last part of the path only", c->sources.items[c->next]);
                        return;
                }
                ops_list(b, from, *directory ? directory : "/", step_from_on_listed);
                return;
        }
        c->next = 0;
        if (c->sources.n > 1 && !c->is_directory && c->destination[strlen(c->destination) - 1] != '/')
                build_fail_step(b, -EINVAL, "with more than one source the destination must be a directory: write '%s/'", c->destination);
        else
                step_from_next_source(b);
}

/* Below the root of the other, whatever its working directory was. */
static void step_from_begin(Build *b) {
        static const BuildScope root = { .workdir = (char *) "" };
        BuildCopy *c = b->copy;

        for (size_t i = 0; i < c->sources.n; i++) {
                char *path = NULL;
                Error error = { 0 };

                if (scope_path(&root, c->sources.items[i], &path, &error) < 0) {
                        build_fail_step(b, -ENOMEM, "%s", error.text);
                        return;
                }
                if (strlen(path) > 1 && path[strlen(path) - 1] == '/')
                        path[strlen(path) - 1] = '\0';
                free(c->sources.items[i]);
                c->sources.items[i] = path;
        }
        c->next = 0;
        next_pattern(b);
}

void copy_from(Build *b) {
        stage_need_sandbox(b, (size_t) build_step(b)->from, step_from_begin);
}
