/* cove secret: values that sandboxes are given by name.
 *
 * A value comes from a file, from stdin, or from a person who types it unseen; never from the command line, which everybody who lists
 * processes can read, and the shell writes down. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "client/sandbox/several.h"
#include "client/subverb.h"
#include "client/table.h"
#include "client/verbs.h"

#define VALUE_MAX 65536 /* as the daemon has it; one byte more, and it says so itself */

typedef struct SecretOptions {
        Common common;
        const char *tenant, *value_file;
        bool all;
} SecretOptions;

APPLY_TEXT(SecretOptions, tenant)
APPLY_TEXT(SecretOptions, value_file)
APPLY_FLAG(SecretOptions, all)

#define TENANT_OPTION { "tenant", 't', "NAME", "whose; for admins", apply_tenant }

static const Option set_options[] = {
        { "value-file", 'f', "FILE", "the value is in this file", apply_value_file },
        TENANT_OPTION,
        COMMON_OPTIONS,
};
static const Option ls_options[] = { TENANT_OPTION, COMMON_OPTIONS };
static const Option rm_options[] = {
        { "all", 0, NULL, "every secret of every tenant, also when the key is lost", apply_all },
        TENANT_OPTION,
        COMMON_OPTIONS,
};

static const Usage set_usage = {
        .synopsis = "secret set NAME [options]",
        .about = "Makes a secret, or gives it another value: from stdin, from a file, or, on a terminal,\n"
                 "as it is typed, unseen. One newline at its end is not part of it.",
        .more = "A sandbox or a command gets it by reference: cove exec box --env API_KEY=secret:api-key -- ./run\n"
                "Example: pass show api-key | cove secret set api-key",
        USAGE_OPTIONS(set_options),
        .operands_min = 1,
        .operands_max = 2, /* the second is told why it is none */
        .missing = "no name given",
};

static const Usage ls_usage = {
        .synopsis = "secret ls [options]",
        .about = "Lists the secrets: names and times. Nobody can read a value back.",
        USAGE_OPTIONS(ls_options),
};

static const Usage rm_usage = {
        .synopsis = "secret rm NAME… | --all [options]",
        .about = "Removes secrets. What runs keeps the value that it was started with.",
        USAGE_OPTIONS(rm_options),
        .operands_max = USAGE_ANY_NUMBER,
};

/* The value. */

typedef struct Value {
        char data[VALUE_MAX + 2];
        size_t size;
} Value;

static void value_done(Value *v) {
        explicit_bzero(v, sizeof(*v));
}

/* Without an echo and without signals, so that whoever gives up does not leave a terminal that shows nothing. */
static int read_typed(int tty, const char *name, Value *ret) {
        struct termios before, quiet;
        ssize_t n = -1;

        if (tcgetattr(tty, &before) < 0)
                return -errno;
        quiet = before;
        quiet.c_lflag &= ~(tcflag_t) (ECHO | ISIG);
        if (tcsetattr(tty, TCSAFLUSH, &quiet) == 0) {
                (void) dprintf(tty, "value of %s: ", name); /* not before: what was typed by then is thrown away */
                do
                        n = read(tty, ret->data, sizeof(ret->data));
                while (n < 0 && errno == EINTR);
                (void) tcsetattr(tty, TCSAFLUSH, &before);
        }
        (void) dprintf(tty, "\n");
        if (n < 0)
                return -errno;
        ret->size = (size_t) n;
        return n == 0 || memchr(ret->data, '\003', ret->size) ? -ECANCELED : 0;
}

static int read_stdin(const char *name, Value *ret, Error *reterr) {
        ssize_t n;
        int r;

        if (isatty(STDIN_FILENO)) {
                r = read_typed(STDIN_FILENO, name, ret);
                return r == -ECANCELED ? error_set(reterr, r, "nothing was typed") : r < 0 ? error_set(reterr, r, "cannot read the terminal: %m") : 0;
        }
        n = fd_read_full(STDIN_FILENO, ret->data, sizeof(ret->data));
        if (n < 0)
                return error_set(reterr, (int) n, "cannot read stdin: %m");
        ret->size = (size_t) n;
        return 0;
}

static int secret_read_file(const char *path, Value *ret, Error *reterr) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -errno : fd_read_full(fd, ret->data, sizeof(ret->data));

        if (n < 0)
                return error_set(reterr, (int) n, "cannot read '%s': %m", path);
        ret->size = (size_t) n;
        return 0;
}

static int secret_read_value(const SecretOptions *o, const char *name, Value *ret, Error *reterr) {
        int r = o->value_file ? secret_read_file(o->value_file, ret, reterr) : read_stdin(name, ret, reterr);

        if (r < 0)
                return r;
        if (ret->size > 0 && ret->data[ret->size - 1] == '\n')
                ret->size--;
        if (ret->size > VALUE_MAX)
                return error_set(reterr, -EFBIG, "the value has more than %d bytes", VALUE_MAX);
        return ret->size == 0 ? error_set(reterr, -EINVAL, "the value is empty") : 0;
}

/* The verbs. */

static int secret_set(const Place *place, void *options, const Operands *words) {
        const SecretOptions *o = options;
        _cleanup_(value_done) Value value = { 0 };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };
        Request q = REQUEST_INIT;
        Error error = { 0 };

        if (words->n > 1) {
                log_error("a value on the command line can be read by everybody who lists processes, and stays in the shell's history: "
                          "give it on stdin, or with --value-file");
                return EXIT_OWN_FAILURE;
        }
        if (secret_read_value(o, words->items[0], &value, &error) < 0) {
                log_error("secret %s: %s", words->items[0], error.text);
                return EXIT_OWN_FAILURE;
        }
        url_begin(&u, "/api/secrets");
        url_part(&u, words->items[0]);
        url_query(&u, "tenant", o->tenant);
        q.method = "PUT";
        q.path = u.text;
        q.type = "application/octet-stream";
        q.body = value.data;
        q.body_size = value.size;
        q.sink = answer_collect;
        q.sink_data = &a;
        if (u.error < 0 || client_transfer(place, &q, &error, /* ret_head= */ NULL) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                (void) fwrite(a.text, 1, a.size, stdout);
        else
                puts(words->items[0]);
        return 0;
}

static void secret_add_row(Table *t, const json_t *secret) {
        table_cell(t, json_get_text(secret, "name"));
        table_cell(t, json_get_text(secret, "tenant"));
        table_cell(t, json_get_text(secret, "createdAt"));
        table_cell(t, json_get_text(secret, "updatedAt"));
}

static int secret_list(const Place *place, void *options, const Operands *words) {
        static const char *const heads[] = { "NAME", "TENANT", "MADE", "SET", NULL };
        const SecretOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/secrets");
        url_query(&u, "tenant", o->tenant);
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        return subverb_show_list(&a, o->common.json, heads, secret_add_row);
}

static int secret_remove_all(const Place *place, const SecretOptions *o) {
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/secrets");
        url_query(&u, "all", "true");
        if (client_need(place, "DELETE", &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        return 0;
}

static int remove_secrets(const Place *place, void *options, const Operands *words) {
        const SecretOptions *o = options;
        _cleanup_free_ char *query = NULL;
        Several several = { .place = place, .method = "DELETE", .what = "/api/secrets", .root = true, .json = o->common.json };

        if (o->all == (words->n > 0)) {
                log_error(o->all ? "secret rm: --all goes without names" : "secret rm: no secret given");
                return EXIT_OWN_FAILURE;
        }
        if (o->all)
                return secret_remove_all(place, o);
        if (o->tenant && asprintf(&query, "tenant=%s", o->tenant) < 0)
                return EXIT_OWN_FAILURE;
        several.query = query;
        return several_ask(&several, words->items, words->n);
}

int verb_secret(int argc, char **argv) {
        static const Subverb subverbs[] = {
                { "set", &set_usage, secret_set },
                { "ls", &ls_usage, secret_list },
                { "rm", &rm_usage, remove_secrets },
        };
        SecretOptions o = { 0 };

        return subverb_run("secret", "Sets, lists and removes secrets: values that sandboxes get by name, and that nobody reads back.", subverbs,
                        ELEMENTSOF(subverbs), argc, argv, &o);
}
