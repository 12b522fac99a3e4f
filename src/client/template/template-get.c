/* cove template pull, import, push: templates from and to other places. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "client/files/upload.h"
#include "client/template/template.h"
#include "client/verbs.h"

#define SECRET_MAX 65536

static int put_auth(JsonBuilder *b, const TemplateOptions *o) {
        char secret[SECRET_MAX] = "";
        const char *password = getenv("COVE_REGISTRY_PASSWORD");
        ssize_t n;

        if (!o->user && !o->password_stdin)
                return 0;
        if (!o->user)
                return log_failure(-EINVAL, "--password-stdin needs --user");
        if (o->password_stdin) {
                n = fd_read_full(STDIN_FILENO, secret, sizeof(secret) - 1);
                if (n < 0)
                        return log_failure((int) n, "cannot read the password: %s", strerror((int) -n));
                secret[n] = '\0';
                secret[strcspn(secret, "\r\n")] = '\0';
                password = secret;
        }
        if (!password) {
                log_error("--user needs a password: set COVE_REGISTRY_PASSWORD, or give it with --password-stdin");
                return -EINVAL;
        }
        json_put_text(b, "auth.username", o->user);
        json_put_text(b, "auth.password", password);
        explicit_bzero(secret, sizeof(secret));
        return 0;
}

int template_transfer(const Place *place, void *options, const Operands *words) {
        TemplateOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };

        if (put_auth(&o->common.body, o) < 0 || ask_need(place, o, words, &a) < 0)
                return EXIT_OWN_FAILURE;
        return making_follow(place, &a, &o->look, o->common.json);
}

/* Import. */

static int open_archive(ClientUpload *a, struct stat *st) {
        a->fd = strcmp(a->name, "-") == 0 ? STDIN_FILENO : open(a->name, O_RDONLY | O_CLOEXEC);
        if (a->fd < 0 || fstat(a->fd, st) < 0)
                return verb_refuse("cannot open '%s': %m", a->name);
        a->wait_fd = S_ISREG(st->st_mode) || S_ISDIR(st->st_mode) ? -EBADF : a->fd;
        if (S_ISDIR(st->st_mode) && pack_new(a->name, &a->pack, &a->error) < 0)
                return verb_refuse("%s", a->error.text);
        return 0;
}

int template_import(const Place *place, void *options, const Operands *words) {
        TemplateOptions *o = options;
        Progress progress = { 0 };
        ClientUpload archive = { .name = words->items[1], .progress = &progress };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = url_of("/api/templates/import?name=%s", words->items[0]);
        struct stat st;
        int r;

        if (open_archive(&archive, &st) != 0)
                return EXIT_OWN_FAILURE;
        r = upload_send(&archive, place, "POST", &u, "application/x-tar", S_ISREG(st.st_mode) ? (uint64_t) st.st_size : CALL_SIZE_UNKNOWN, &a);
        pack_free(archive.pack);
        if (archive.fd != STDIN_FILENO)
                (void) fd_close(archive.fd);
        if (r < 0)
                return EXIT_OWN_FAILURE;
        return making_follow(place, &a, &o->look, o->common.json);
}
