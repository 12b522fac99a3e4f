/* cove template pull, import, push: templates that come from elsewhere, and go there. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "client/files/pack.h"
#include "client/progress.h"
#include "client/template/template.h"
#include "client/verbs.h"

#define SECRET_MAX 65536

APPLY_TEXT(TemplateOptions, name)
APPLY_TEXT(TemplateOptions, platform)
APPLY_TEXT(TemplateOptions, user)
APPLY_FLAG(TemplateOptions, password_stdin)

#define AUTH_OPTIONS                                                                                                          \
        { "user",           'u', "NAME", "log in as; the password is COVE_REGISTRY_PASSWORD",   apply_user },                 \
        { "password-stdin", 0,   NULL,   "read the password from stdin",                        apply_password_stdin }

static const Option pull_options[] = {
        { "name",     0,   "NAME[:TAG]", "what it shall be called (default: as it is there)", apply_name },
        { "platform", 0,   "OS/ARCH",    "another than this machine's",                       apply_platform },
        AUTH_OPTIONS,
        TEMPLATE_MAKING_OPTIONS,
        COMMON_OPTIONS,
};

static const Option making_options[] = { TEMPLATE_MAKING_OPTIONS, COMMON_OPTIONS };
static const Option push_options[] = { AUTH_OPTIONS, TEMPLATE_MAKING_OPTIONS, COMMON_OPTIONS };

const Usage template_pull_usage = {
        .synopsis = "template pull IMAGE [options]",
        .about = "Gets an image from a registry; layers that are there already are not fetched again.",
        .more = "IMAGE is [HOST[:PORT]/]NAME[:TAG][@DIGEST]; without a host it is docker.io's.\n\n"
                "Example: cove template pull python:3.12-slim",
        USAGE_OPTIONS(pull_options),
        .operands_min = 1,
        .operands_max = 1,
        .missing = "no image given",
};

const Usage template_import_usage = {
        .synopsis = "template import NAME[:TAG] FILE|DIR|- [options]",
        .about = "Makes a template of an OCI layout, a `docker save`, a tar of a root directory, or a directory.",
        .more = "Example: docker save alpine | cove template import alpine -",
        USAGE_OPTIONS(making_options),
        .operands_min = 2,
        .operands_max = 2,
        .missing = "no template given",
        .missing_last = "no archive given",
};

const Usage template_push_usage = {
        .synopsis = "template push NAME[:TAG] IMAGE [options]",
        .about = "Sends a template to a registry.",
        .more = "Example: cove template push app:1 registry.lan:5000/team/app:1",
        USAGE_OPTIONS(push_options),
        .operands_min = 2,
        .operands_max = 2,
        .missing = "no template given",
        .missing_last = "no place for it given",
};

static int put_auth(JsonBuilder *b, const TemplateOptions *o) {
        _cleanup_builder_ JsonBuilder auth = { 0 };
        char secret[SECRET_MAX] = "";
        const char *password = getenv("COVE_REGISTRY_PASSWORD");
        ssize_t n;

        if (!o->user && !o->password_stdin)
                return 0;
        if (!o->user) {
                log_error("--password-stdin goes with --user");
                return -EINVAL;
        }
        if (o->password_stdin) {
                n = fd_read_full(STDIN_FILENO, secret, sizeof(secret) - 1);
                if (n < 0) {
                        log_error("cannot read the password: %s", strerror((int) -n));
                        return (int) n;
                }
                secret[n] = '\0';
                secret[strcspn(secret, "\r\n")] = '\0';
                password = secret;
        }
        if (!password) {
                log_error("--user: no password; set COVE_REGISTRY_PASSWORD, or give it with --password-stdin");
                return -EINVAL;
        }
        json_put_text(&auth, "username", o->user);
        json_put_text(&auth, "password", password);
        json_put_object(b, "auth", &auth);
        explicit_bzero(secret, sizeof(secret));
        return 0;
}

static int template_get_begin(const Place *place, TemplateOptions *o, const Url *u, JsonBuilder *b) {
        _cleanup_answer_ Answer a = { 0 };

        o->look.json = o->common.json;
        if (client_need(place, "POST", u, b, &a) < 0)
                return EXIT_OWN_FAILURE;
        return making_follow(place, &a, &o->look);
}

int template_pull(const Place *place, void *options, const Operands *words) {
        TemplateOptions *o = options;
        _cleanup_builder_ JsonBuilder b = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/templates/pull");
        json_put_text(&b, "image", words->items[0]);
        json_put_text(&b, "name", o->name);
        json_put_text(&b, "platform", o->platform);
        if (put_auth(&b, o) < 0)
                return EXIT_OWN_FAILURE;
        return template_get_begin(place, o, &u, &b);
}

int template_push(const Place *place, void *options, const Operands *words) {
        TemplateOptions *o = options;
        _cleanup_builder_ JsonBuilder b = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/templates");
        url_part(&u, words->items[0]);
        url_part(&u, "push");
        json_put_text(&b, "reference", words->items[1]);
        if (put_auth(&b, o) < 0)
                return EXIT_OWN_FAILURE;
        return template_get_begin(place, o, &u, &b);
}

/* Import. */

typedef struct TemplateGetArchive {
        int fd;
        Pack *pack; /* of a directory, instead */
        const char *name;
        Progress progress;
        Error error;
} TemplateGetArchive;

static ssize_t read_archive(void *userdata, void *buffer, size_t size) {
        TemplateGetArchive *a = userdata;
        ssize_t n;

        if (a->pack) {
                n = pack_read(a->pack, buffer, size);
                if (n < 0)
                        a->error = *pack_error(a->pack);
        } else {
                do
                        n = read(a->fd, buffer, size);
                while (n < 0 && errno == EINTR);
                if (n < 0)
                        n = error_set(&a->error, -errno, "cannot read '%s': %m", a->name);
        }
        if (n > 0)
                progress_add(&a->progress, (uint64_t) n);
        return n;
}

static int open_archive(TemplateGetArchive *a, struct stat *st) {
        a->fd = strcmp(a->name, "-") == 0 ? STDIN_FILENO : open(a->name, O_RDONLY | O_CLOEXEC);
        if (a->fd < 0 || fstat(a->fd, st) < 0) {
                log_error("cannot open '%s': %m", a->name);
                return -1;
        }
        if (S_ISDIR(st->st_mode)) {
                if (pack_new(a->name, &a->pack, &a->error) < 0) {
                        log_error("%s", a->error.text);
                        return -1;
                }
        }
        return 0;
}

int template_import(const Place *place, void *options, const Operands *words) {
        TemplateOptions *o = options;
        TemplateGetArchive archive = { .name = words->items[1] };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        Request q = REQUEST_INIT;
        struct stat st;
        int r;

        if (open_archive(&archive, &st) < 0)
                return EXIT_OWN_FAILURE;
        url_begin(&u, "/api/templates/import");
        url_query(&u, "name", words->items[0]);
        if (u.error < 0)
                return EXIT_OWN_FAILURE;
        q.method = "POST";
        q.path = u.text;
        q.type = "application/x-tar";
        q.accept = "application/json";
        q.source = read_archive;
        q.source_data = &archive;
        q.source_size = S_ISREG(st.st_mode) ? (uint64_t) st.st_size : CALL_SIZE_UNKNOWN;
        q.source_fd = S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ? -EBADF : archive.fd;
        q.sink = answer_collect;
        q.sink_data = &a;
        progress_begin(&archive.progress, archive.name, S_ISREG(st.st_mode) ? (uint64_t) st.st_size : PROGRESS_UNKNOWN);
        r = client_transfer(place, &q, &archive.error, /* ret_head= */ NULL);
        progress_end(&archive.progress);
        pack_free(archive.pack);
        if (archive.fd != STDIN_FILENO)
                (void) fd_close(archive.fd);
        if (r < 0)
                return EXIT_OWN_FAILURE;
        a.json = json_parse(a.text ? a.text : "", a.size, /* reterr= */ NULL);
        o->look.json = o->common.json;
        return making_follow(place, &a, &o->look);
}
