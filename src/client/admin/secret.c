/* cove secret: values that sandboxes use by name.
 *
 * A value comes from a file, from stdin, or from a person who types it without echo. It never comes from the
 * command line, which every user who lists processes can read, and which the shell saves in its history. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "client/ask.h"
#include "client/verbs.h"

#define VALUE_MAX 65536 /* the daemon's limit; it refuses one byte more itself */

#define TENANT_OPTION { "tenant", 't', "TENANT", "tenant of the secrets; for admins", QUERY_TEXT("tenant") }

static const Option set_options[] = {
        { "value-file", 'f', "FILE", "read the value from this file", OPTION_OWN },
        TENANT_OPTION,
};
static const Option ls_options[] = { TENANT_OPTION };
static const Option rm_options[] = {
        { "all", 0, NULL, "every secret of every tenant, even if the key is lost", OPTION_OWN },
        TENANT_OPTION,
};

/* The value. */

typedef struct Value {
        char data[VALUE_MAX + 2];
        size_t size;
} Value;

static void value_done(Value *v) {
        explicit_bzero(v, sizeof(*v));
}

/* Without echo and without signals: an interrupt must not leave a terminal that shows nothing. */
static ssize_t read_typed(int tty, const char *name, Value *ret) {
        struct termios before, quiet;
        ssize_t n = -1;

        if (tcgetattr(tty, &before) < 0)
                return -errno;
        quiet = before;
        quiet.c_lflag &= ~(tcflag_t) (ECHO | ISIG);
        if (tcsetattr(tty, TCSAFLUSH, &quiet) == 0) {
                (void) dprintf(tty, "value of %s: ", name); /* only now: what was typed before is discarded */
                do
                        n = read(tty, ret->data, sizeof(ret->data));
                while (n < 0 && errno == EINTR);
                (void) tcsetattr(tty, TCSAFLUSH, &before);
        }
        (void) dprintf(tty, "\n");
        if (n < 0)
                return -errno;
        return n == 0 || memchr(ret->data, '\003', (size_t) n) ? -ECANCELED : n;
}

static int secret_read_value(const Common *o, const char *name, Value *ret, Error *reterr) {
        const char *path = common_said(o, "value-file");
        _cleanup_close_ int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -EBADF;
        bool typed = !path && isatty(STDIN_FILENO);
        ssize_t n = typed            ? read_typed(STDIN_FILENO, name, ret)
                    : path && fd < 0 ? -errno
                                     : fd_read_full(path ? fd : STDIN_FILENO, ret->data, sizeof(ret->data));

        if (typed && n == -ECANCELED)
                return error_set(reterr, (int) n, "nothing was typed");
        if (n < 0 && path)
                return error_set(reterr, (int) n, "cannot read '%s': %m", path);
        if (n < 0)
                return error_set(reterr, (int) n, "cannot read %s: %m", typed ? "the terminal" : "stdin");
        ret->size = (size_t) n;
        if (ret->size > 0 && ret->data[ret->size - 1] == '\n')
                ret->size--;
        if (ret->size > VALUE_MAX)
                return error_set(reterr, -EFBIG, "the value has more than %d bytes", VALUE_MAX);
        return ret->size == 0 ? error_set(reterr, -EINVAL, "the value is empty") : 0;
}

/* The verbs. */

static int secret_set(const Place *place, void *options, const Operands *words) {
        const Common *o = options;
        _cleanup_(value_done) Value value = { 0 };
        _cleanup_url_ Url u = url_of("/api/secrets/%s?tenant=%s", words->items[0], common_query(o, "tenant"));
        _cleanup_answer_ Answer a = { 0 };
        Error error = { 0 };

        if (words->n > 1 || strchr(words->items[0], '='))
                return verb_refuse("a value on the command line can be read by everybody who lists processes, and stays in the shell's history: "
                                   "give it on stdin, or with --value-file");
        if (secret_read_value(o, words->items[0], &value, &error) < 0)
                return verb_refuse("secret %s: %s", words->items[0], error.text);
        if (client_transfer(place,
                            &REQUEST(.method = "PUT", .path = url_text(&u),
                                            .type = "application/octet-stream", .body = value.data,
                                            .body_size = value.size),
                            /* error= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->json)
                (void) fwrite(a.text, 1, a.size, stdout);
        else
                puts(words->items[0]);
        return 0;
}

static const Column secret_columns[] = {
        { "NAME", "name" }, { "TENANT", "tenant" }, { "MADE", "createdAt" }, { "SET", "updatedAt" },
};

static const Verb rm_all_verb = { .method = "DELETE", .path = "/api/secrets?all=true", .show = show_nothing };

static int remove_secrets(const Place *place, void *options, const Operands *words) {
        Common *o = options;
        bool all = common_said(o, "all");

        if (all == (words->n > 0))
                return verb_refuse(all ? "secret rm: --all cannot be combined with names" : "secret rm: no secret given");
        if (!all)
                return ask_run(place, o, words);
        strv_done(&o->queries);
        return ask_as(&rm_all_verb, place, o, words);
}

static const Verb secret_parts[] = {
        { "set", "secret set NAME [options]",
          "Creates or changes a secret. The value is read from stdin, from a file, or from a terminal\n"
          "without echo. One newline at the end is removed.",
          .more = "Sandboxes and commands use it by reference: cove exec box --env API_KEY=secret:api-key -- ./run\n"
                  "Example: pass show api-key | cove secret set api-key",
          VERB_OPTIONS(set_options), .operands_min = 1, .operands_max = 2,
          /* a second word is accepted only to refuse it with an explanation */
          .missing = "no name given",
          .run = secret_set },
        { "ls", "secret ls [options]", "Lists names and times of the secrets. Values cannot be read back.", VERB_OPTIONS(ls_options),
          .path = "/api/secrets", VERB_COLUMNS(secret_columns) },
        { "rm", "secret rm NAME… | --all [options]", "Removes secrets. Running commands keep the value that they were started with.",
          VERB_OPTIONS(rm_options), .operands_max = VERB_ANY_NUMBER, .run = remove_secrets, VERB_DELETE("/api/secrets/%") },
};

const Verb command_secret = {
        .name = "secret",
        .about = "Sets, lists and removes secrets: values that sandboxes use by name and that cannot be read back.",
        VERB_PARTS(secret_parts),
};
