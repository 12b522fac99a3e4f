/* step-copy.c: COPY and ADD: files of the context, archives that are unpacked, texts of the file itself. */

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
        free(c->destination);
        free(c->directory);
        free(c->source);
        selection_done(&c->selection);
        free(c);
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

static const Account *owner_of(const BuildCopy *c) {
        return c->has_owner ? &c->owner : NULL;
}

/* Texts. */

static void next_text(Build *b) {
        const PlanStep *step = build_step(b);
        BuildCopy *c = b->copy;
        Sandbox *sb = build_sandbox(b, b->stage);
        const PlanFile *f = step->files + c->next;
        _cleanup_free_ char *path = NULL;
        char *data = NULL;
        Error error = { 0 };
        int r;

        if (!sb)
                return;
        if (c->next == step->n_files) {
                b->copy = build_copy_free(c);
                stage_step_done(b);
                return;
        }
        c->next++;
        r = scope_expand_file(&build_stage(b)->scope, b->plan, f, &data, &error);
        if (r < 0) {
                build_fail_step(b, r, "%s", error.text);
                return;
        }
        if (asprintf(&path, "%s%s%s", c->directory, c->is_directory ? "/" : "", c->is_directory ? f->name : "") < 0) {
                path = NULL;
                free(data);
                build_fail_step(b, -ENOMEM, "out of memory");
                return;
        }
        ops_write(b, sb, path, c->has_mode ? c->mode : FILE_MODE, owner_of(c), data, strlen(data), next_text);
}

static void begin_texts(Build *b) {
        b->copy->next = 0;
        next_text(b);
}

/* ADD: archives. */

static void step_copy_next_archive(Build *b) {
        BuildCopy *c = b->copy;
        Sandbox *sb = build_sandbox(b, b->stage);
        const char *arguments[8] = { "graft" };
        char owner[32], mode[16];
        int pipes[2];
        size_t n = 2;

        if (!sb)
                return;
        if (c->next == c->selection.unpacked.n) {
                begin_texts(b);
                return;
        }
        if (pipe2(pipes, O_CLOEXEC) < 0) {
                build_fail_step(b, -errno, "no pipe: %m");
                return;
        }
        arguments[1] = c->directory + 1;
        copy_options(c, /* keep= */ true, owner, mode, arguments, &n);
        if (helper_run(b, &(HelperRequest) { .arguments = (const char *const[]) { "member", c->selection.unpacked.items[c->next++], NULL },
                        .in = c->archive, .out = pipes[1], .list = -EBADF }) >= 0)
                (void) helper_run(b, &(HelperRequest) { .arguments = arguments, .sandbox = sb, .operation = FILE_UNPACK, .path = "/", .in = pipes[0],
                        .out = -EBADF, .list = -EBADF });
        (void) fd_close(pipes[0]);
        (void) fd_close(pipes[1]);
        if (!b->ending)
                helpers_wait(b, step_copy_next_archive);
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

static void copy_files(Build *b) {
        BuildCopy *c = b->copy;
        Sandbox *sb = build_sandbox(b, b->stage);
        _cleanup_close_ int map = -EBADF;
        const char *arguments[8] = { "copy" };
        char owner[32], mode[16];
        size_t n = 1;

        if (!sb)
                return;
        if (c->selection.n == 0) {
                step_copy_next_archive(b);
                return;
        }
        map = write_map(&c->selection);
        if (map < 0) {
                build_fail_step(b, -ENOMEM, "the list of what to copy cannot be written");
                return;
        }
        copy_options(c, /* keep= */ false, owner, mode, arguments, &n);
        if (helper_run(b, &(HelperRequest) { .arguments = arguments, .sandbox = sb, .operation = FILE_UNPACK, .path = "/", .in = c->archive,
                        .out = -EBADF, .list = map }) >= 0)
                helpers_wait(b, step_copy_next_archive);
}

static void step_copy_choose(Build *b) {
        const PlanStep *step = build_step(b);
        BuildCopy *c = b->copy;
        Sandbox *sb = build_sandbox(b, b->stage);
        const BuildContext *files;
        Error error = { 0 };
        int r;

        if (!sb)
                return;
        r = build_files(b, step, &files, &c->archive, &error);
        if (r >= 0 && c->sources.n > 0)
                r = context_select(files, &(SelectionRequest) { .sources = c->sources.items, .n_sources = c->sources.n, .literal = step->literal, .keep_links = step->archive,
                                .destination = c->destination, .destination_is_directory = c->is_directory, .unpack = step->kind == PLAN_ADD },
                                &c->selection, &error);
        if (r < 0) {
                build_fail_step(b, r, "%s", error.text);
                return;
        }
        if (!c->is_directory && (c->selection.directory || c->destination[strlen(c->destination) - 1] == '/')) {
                c->is_directory = true;
                ops_mkdir(b, sb, c->directory, owner_of(c), copy_files);
        } else if (!c->is_directory && step->n_files > 1)
                build_fail_step(b, -EINVAL, "with more than one source the destination must be a directory: write '%s/'", c->destination);
        else
                copy_files(b);
}

/* What was there before. */
static void on_looked(Build *b) {
        b->copy->is_directory = b->found && S_ISDIR(b->entry.mode);
        if (build_step(b)->from >= 0)
                copy_from(b);
        else
                step_copy_choose(b);
}

static void step_copy_look(Build *b) {
        Sandbox *sb = build_sandbox(b, b->stage);

        if (sb)
                ops_stat(b, sb, b->copy->directory, on_looked);
}

static void step_copy_with_accounts(Build *b) {
        const BuildScope *scope = &build_stage(b)->scope;
        const PlanStep *step = build_step(b);
        _cleanup_free_ char *text = NULL;
        Error error = { 0 };
        int r = step->chown ? scope_expand(scope, b->plan, step->chown, &text, &error) : 0;

        if (r >= 0)
                r = build_find_account(b, text ? text : scope->user ? scope->user : "0", /* chown= */ true, &b->copy->owner, &error);
        if (r < 0) {
                build_fail_step(b, r, "--chown: %s", error.text);
                return;
        }
        b->copy->has_owner = true;
        step_copy_look(b);
}

/* Before anything is looked at. */

static int expand_words(Build *b, BuildCopy *c, Error *reterr) {
        const PlanStep *step = build_step(b);
        const BuildScope *scope = &build_stage(b)->scope;

        for (size_t i = 0; i < step->words.n; i++) {
                _cleanup_free_ char *word = NULL;
                int r = step->literal ? ((word = strdup(step->words.items[i])) ? 0 : -ENOMEM) : scope_expand(scope, b->plan, step->words.items[i], &word, reterr);

                if (r >= 0)
                        r = i + 1 == step->words.n ? scope_path(scope, word, &c->destination, reterr) : strv_push(&c->sources, word);
                if (r < 0)
                        return r;
        }
        c->directory = strdup(c->destination);
        if (!c->directory)
                return -ENOMEM;
        if (strlen(c->directory) > 1 && c->directory[strlen(c->directory) - 1] == '/')
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

void step_copy(Build *b) {
        const PlanStep *step = build_step(b);
        BuildCopy *c = calloc(1, sizeof(*c));
        Error error = { 0 };
        int r = c ? 0 : -ENOMEM;

        b->copy = c;
        if (c) {
                c->sources.max = PLAN_WORDS_MAX;
                r = expand_words(b, c, &error);
                if (r >= 0 && step->chmod)
                        r = step_copy_read_mode(b, c, &error);
        }
        if (r < 0)
                build_fail_step(b, r, "%s", error.text[0] ? error.text : strerror(-r));
        else if (step->chown || step->own)
                op_accounts(b, step_copy_with_accounts);
        else
                step_copy_look(b);
}
