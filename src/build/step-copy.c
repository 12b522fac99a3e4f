/* step-copy.c: COPY and ADD: files of the context, archives to unpack, embedded texts. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "build/internal.h"

#define FILE_MODE 0644
#define MODE_MAX  07777

BuildCopy *build_copy_free(BuildCopy *c) {
        if (!c)
                return NULL;
        strv_done(&c->sources);
        selection_done(&c->selection);
        FREE_ALL(c->destination, c->directory, c->modes, c);
        return NULL;
}

void copy_options(const BuildCopy *c, bool keep, char owner[static 32], char mode[static 16], const char **arguments, size_t *n) {
        if (c->has_owner || !keep) {
                (void) snprintf(owner, 32, "%u:%u", c->has_owner ? c->owner.uid : 0, c->has_owner ? c->owner.gid : 0);
                arguments[(*n)++] = "--owner";
                arguments[(*n)++] = owner;
        }
        if (c->has_mode) {
                (void) snprintf(mode, 16, "%o", c->mode);
                arguments[(*n)++] = "--mode";
                arguments[(*n)++] = mode;
        }
}

int copy_refuse_file(const BuildCopy *c, Error *reterr) {
        return error_set(reterr, -EINVAL, "with more than one source the destination must be a directory: write '%s/'", c->destination);
}

/* Preparations. */

static int expand_words(Build *b, BuildCopy *c, Error *reterr) {
        const PlanStep *step = build_step(b);
        const BuildScope *scope = &build_stage(b)->scope;
        int r = scope_expand_words(scope, b->plan, step, &c->sources, reterr);

        if (r >= 0)
                r = scope_path(scope, c->sources.items[c->sources.n - 1], &c->destination, reterr);
        if (r < 0)
                return r;
        free(c->sources.items[--c->sources.n]);
        c->sources.items[c->sources.n] = NULL;
        c->directory = strdup(c->destination);
        if (!c->directory)
                return -ENOMEM;
        if (strlen(c->directory) > 1 && copy_means_directory(c))
                c->directory[strlen(c->directory) - 1] = '\0';
        return 0;
}

static int step_copy_read_mode(Build *b, BuildCopy *c, Error *reterr) {
        _cleanup_free_ char *text = NULL;
        char *end;
        unsigned long mode;
        int r = scope_expand(&build_stage(b)->scope, b->plan, build_step(b)->chmod, &text, reterr);

        if (r < 0)
                return r;
        mode = strtoul(text, &end, 8);
        if (*text == '\0' || *end != '\0' || mode > MODE_MAX)
                return error_set(reterr, -EINVAL, "--chmod: '%.20s' is no octal mode, as in 0755", text);
        c->mode = (uint32_t) mode;
        c->has_mode = true;
        return 0;
}

int copy_words(void *part, Error *reterr) {
        Build *b = build_of(part);
        int r;

        b->copy = calloc(1, sizeof(*b->copy));
        if (!b->copy)
                return -ENOMEM;
        b->copy->sources.max = PLAN_WORDS_MAX;
        r = expand_words(b, b->copy, reterr);
        return r >= 0 && build_step(b)->chmod ? step_copy_read_mode(b, b->copy, reterr) : r;
}

int copy_find_owner(void *part, Error *reterr) {
        Build *b = build_of(part);
        const BuildScope *scope = &build_stage(b)->scope;
        const PlanStep *step = build_step(b);
        _cleanup_free_ char *text = NULL;
        int r = step->chown ? scope_expand(scope, b->plan, step->chown, &text, reterr) : 0;

        b->copy->has_owner = step->chown || step->own;
        if (r >= 0 && b->copy->has_owner)
                r = build_find_account(b, text ? text : scope->config.user ? scope->config.user : "0", /* chown= */ true, &b->copy->owner, reterr);
        return r < 0 ? error_prefix(reterr, r, "--chown") : STEP_DONE;
}

/* Looks up what the destination is before the copy. */
int copy_look(void *part, Error *reterr) {
        Build *b = build_of(part);

        return ops_stat(b, b->stage, b->copy->directory, reterr);
}

void copy_looked(Build *b) {
        b->copy->is_directory = b->found && S_ISDIR(b->entry.mode);
}

static int copy_choose(void *part, Error *reterr) {
        Build *b = build_of(part);
        const PlanStep *step = build_step(b);
        BuildCopy *c = b->copy;
        const BuildContext *files;
        int r;

        copy_looked(b);
        r = build_files(b, step, &files, &c->archive, reterr);
        if (r >= 0 && c->sources.n > 0)
                r = context_select(files, &(SelectionRequest) { .sources = c->sources.items, .n_sources = c->sources.n, .literal = step->literal, .keep_links = step->archive,
                                .destination = c->destination, .destination_is_directory = c->is_directory, .unpack = step->kind == PLAN_ADD },
                                &c->selection, reterr);
        if (r < 0 || c->is_directory)
                return r;
        if (c->selection.directory || copy_means_directory(c)) {
                c->is_directory = true;
                return ops_mkdir(b, b->stage, c->directory, copy_owner(c), reterr);
        }
        return step->n_files > 1 ? copy_refuse_file(c, reterr) : STEP_DONE;
}

/* Files. */

static int write_map(const Selection *s) {
        int fd = memfd_create("cove-copy", MFD_CLOEXEC);

        if (fd < 0)
                return -errno;
        if (fd_write_all(fd, s->map, s->map_size) < 0 || lseek(fd, 0, SEEK_SET) < 0)
                return fd_close(fd);
        return fd;
}

static int copy_files(void *part, Error *reterr) {
        Build *b = build_of(part);
        const BuildCopy *c = b->copy;
        _cleanup_close_ int map = -EBADF;
        const char *arguments[8] = { "copy" };
        char owner[32], mode[16];
        size_t n = 1;

        if (c->selection.n == 0)
                return STEP_DONE;
        map = write_map(&c->selection);
        if (map < 0)
                return error_set(reterr, -ENOMEM, "the list of what to copy cannot be written");
        copy_options(c, /* keep= */ false, owner, mode, arguments, &n);
        return helper_run(b, &(HelperRequest) { .arguments = arguments, .works = true, .stage = b->stage, .operation = FILE_UNPACK, .path = "/", .in = c->archive,
                        .out = -EBADF, .list = map }, reterr);
}

/* ADD: archives. */

static int copy_archive(void *part, Error *reterr) {
        Build *b = build_of(part);
        BuildCopy *c = b->copy;
        const char *arguments[8] = { "graft" }, *member[3] = { "member" };
        HelperRequest from = { .arguments = member, .in = c->archive, .list = -EBADF },
                      to = { .arguments = arguments, .works = true, .stage = b->stage, .operation = FILE_UNPACK, .path = "/", .out = -EBADF, .list = -EBADF };
        char owner[32], mode[16];
        size_t n = 1;

        if (c->next == c->selection.unpacked.n) {
                c->next = 0;
                return STEP_DONE;
        }
        member[1] = c->selection.unpacked.items[c->next++];
        arguments[n++] = c->directory + 1;
        copy_options(c, /* keep= */ true, owner, mode, arguments, &n);
        return build_again(b, helper_run_pair(b, &from, &to, reterr));
}

/* Texts. */

static int copy_text_file(void *part, Error *reterr) {
        Build *b = build_of(part);
        const PlanStep *step = build_step(b);
        BuildCopy *c = b->copy;
        const PlanFile *f = step->files + c->next;
        _cleanup_free_ char *path = NULL, *data = NULL;
        int r;

        if (c->next == step->n_files)
                return STEP_DONE;
        c->next++;
        r = scope_expand_file(&build_stage(b)->scope, b->plan, f, &data, reterr);
        if (r < 0)
                return r;
        if (asprintf(&path, "%s%s%s", c->directory, c->is_directory ? "/" : "", c->is_directory ? f->name : "") < 0) {
                path = NULL;
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        return build_again(b, ops_write(b, b->stage, path, c->has_mode ? c->mode : FILE_MODE, copy_owner(c), TAKE_PTR(data), reterr));
}

static const SequenceStep copy_steps[] = {
        { "sandbox", build_need_sandbox, build_drop, build_stop },
        { "words", copy_words },
        { "accounts", build_read_accounts, .cancel = build_stop },
        { "owner", copy_find_owner },
        { "look", copy_look, .cancel = build_stop },
        { "directory", copy_choose, .cancel = build_stop },
        { "files", copy_files, .cancel = build_stop },
        { "archives", copy_archive, .cancel = build_stop },
        { "texts", copy_text_file, .cancel = build_stop },
};
const Sequence step_copy = SEQUENCE("copy", copy_steps, build_step_end, .defer = making_work_defer);
