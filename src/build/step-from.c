/* step-from.c: COPY --from: copies from one sandbox to another: worker, pack, pipe, graft, worker. */

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

static size_t from_stage(const Build *b) {
        return (size_t) build_step(b)->from;
}

static int from_sandbox(void *part, Error *reterr) {
        Build *b = build_of(part);

        copy_looked(b);
        return stage_need_sandbox(b, from_stage(b), reterr);
}

/* Paths are relative to the root of the other stage, whatever its WORKDIR is. */
static int from_paths(void *part, Error *reterr) {
        static const BuildScope root = { .config.workdir = (char *) "" };
        BuildCopy *c = build_of(part)->copy;

        for (size_t i = 0; i < c->sources.n; i++) {
                char *path = NULL;
                int r = scope_path(&root, c->sources.items[i], &path, reterr);

                if (r < 0)
                        return r;
                if (strlen(path) > 1 && path[strlen(path) - 1] == '/')
                        path[strlen(path) - 1] = '\0';
                free(c->sources.items[i]);
                c->sources.items[i] = path;
        }
        return STEP_DONE;
}

/* Patterns in the last part of a path. */

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

/* Replaces a pattern by the names that match it. */
static int from_take_names(Build *b, Error *reterr) {
        BuildCopy *c = b->copy;
        _cleanup_free_ char *source = strdup(c->sources.items[c->next]);
        const size_t before = c->sources.n;
        char *slash = source ? strrchr(source, '/') : NULL;
        int r;

        if (!slash)
                return -ENOMEM;
        *slash = '\0';
        r = step_from_replace(c, c->next, &b->names, *source ? source : "/", slash + 1);
        if (r < 0)
                return r;
        if (c->sources.n < before)
                return error_set(reterr, -ENOENT, "nothing in %s is like '%s/%s'", build_step(b)->from_text, source, slash + 1);
        c->next += c->sources.n - before + 1;
        return 0;
}

static int from_pattern(void *part, Error *reterr) {
        Build *b = build_of(part);
        BuildCopy *c = b->copy;
        int r = c->asked ? from_take_names(b, reterr) : 0;

        c->asked = false;
        while (r >= 0 && c->next < c->sources.n && pattern_is_plain(c->sources.items[c->next]))
                c->next++;
        if (r < 0)
                return r;
        if (c->next < c->sources.n) {
                _cleanup_free_ char *directory = strdup(c->sources.items[c->next]);
                char *slash = directory ? strrchr(directory, '/') : NULL;

                if (!slash)
                        return error_set(reterr, -ENOMEM, "out of memory");
                *slash = '\0';
                if (!pattern_is_plain(directory))
                        return error_set(reterr, -EINVAL, "'%s': with --from a pattern may stand in the last part of the path only", c->sources.items[c->next]);
                c->asked = true;
                return build_again(b, ops_list(b, from_stage(b), *directory ? directory : "/", reterr));
        }
        c->next = 0;
        return c->sources.n > 1 && !c->is_directory && !copy_means_directory(c) ? copy_refuse_file(c, reterr) : STEP_DONE;
}

/* Sources. */

static int from_take_source(Build *b, Error *reterr) {
        BuildCopy *c = b->copy;
        const char *source = c->sources.items[c->next], *where = build_step(b)->from_text;

        if (!b->found)
                return error_set(reterr, -ENOENT, "there is no '%s' in %s", source, where);
        if (!S_ISDIR(b->entry.mode) && !S_ISREG(b->entry.mode))
                return error_set(reterr, -EINVAL, "'%s' in %s is neither a file nor a directory", source, where);
        c->modes[c->next++] = b->entry.mode;
        return 0;
}

static int from_look(void *part, Error *reterr) {
        Build *b = build_of(part);
        BuildCopy *c = b->copy;
        int r = c->asked ? from_take_source(b, reterr) : 0;

        if (r < 0)
                return r;
        if (!c->modes)
                c->modes = calloc(c->sources.n + 1, sizeof(*c->modes));
        if (!c->modes)
                return error_set(reterr, -ENOMEM, "out of memory");
        c->asked = c->next < c->sources.n;
        if (c->asked)
                return build_again(b, ops_stat(b, from_stage(b), c->sources.items[c->next], reterr));
        c->next = 0;
        return STEP_DONE;
}

static int from_directory(void *part, Error *reterr) {
        Build *b = build_of(part);
        BuildCopy *c = b->copy;

        if (c->is_directory || !(S_ISDIR(c->modes[0]) || copy_means_directory(c)))
                return STEP_DONE;
        c->is_directory = true;
        return ops_mkdir(b, b->stage, c->directory, copy_owner(c), reterr);
}

static int from_transfer(void *part, Error *reterr) {
        Build *b = build_of(part);
        BuildCopy *c = b->copy;
        const char *source = c->sources.items ? c->sources.items[c->next] : NULL;
        const bool directory = S_ISDIR(c->modes[c->next]), within = !directory && c->is_directory;
        const char *arguments[8] = { directory ? "graft" : "place" };
        HelperRequest from = { .arguments = (const char *const[]) { "pack", NULL }, .works = true, .stage = from_stage(b), .operation = FILE_PACK, .path = source,
                               .in = -EBADF, .list = -EBADF },
                      to = { .arguments = arguments, .works = true, .stage = b->stage, .operation = FILE_UNPACK, .path = "/", .out = -EBADF, .list = -EBADF };
        _cleanup_free_ char *path = NULL;
        char owner[32], mode[16];
        size_t n = 1;

        if (c->next == c->sources.n)
                return STEP_DONE;
        c->next++;
        if (asprintf(&path, "%s%s%s", strcmp(c->directory, "/") == 0 ? "" : c->directory, within ? "/" : "", within ? strrchr(source, '/') + 1 : "") < 0) {
                path = NULL;
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        arguments[n++] = *path == '/' ? path + 1 : path;
        copy_options(c, /* keep= */ true, owner, mode, arguments, &n);
        return build_again(b, helper_run_pair(b, &from, &to, reterr));
}

static const SequenceStep from_steps[] = {
        { "sandbox", build_need_sandbox, build_drop, build_stop },
        { "words", copy_words },
        { "accounts", build_read_accounts, .cancel = build_stop },
        { "owner", copy_find_owner },
        { "look", copy_look, .cancel = build_stop },
        { "other sandbox", from_sandbox, .cancel = build_stop },
        { "paths", from_paths },
        { "patterns", from_pattern, .cancel = build_stop },
        { "sources", from_look, .cancel = build_stop },
        { "directory", from_directory, .cancel = build_stop },
        { "transfer", from_transfer, .cancel = build_stop },
};
const Sequence step_from = SEQUENCE("copy from", from_steps, build_step_end, .defer = making_work_defer);
