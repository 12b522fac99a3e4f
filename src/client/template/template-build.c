/* cove template build, recipes: templates that are built here. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/ignore.h"
#include "base/log.h"
#include "client/files/upload.h"
#include "client/template/template.h"
#include "client/text.h"
#include "client/verbs.h"

#define DOCKERFILE "Dockerfile"
#define RECIPE     "cove-template.yaml"
#define IGNORE     ".dockerignore"
#define TEXT_MAX   (1 << 20)
#define ARGUMENTS_MAX 256
#define EXIT_STEP_FAILED 1 /* the build itself failed, not the client */

/* Makes the network object from the rules of --allow; a rule with http:// means that TLS is not required.
 * The caller frees it. */
static int write_network(TemplateOptions *o, char **ret) {
        _cleanup_builder_ JsonBuilder b = { 0 };
        Error error = { 0 };

        if (o->allow.n == 0)
                return 0;
        if (o->network)
                return log_failure(-EINVAL, "--network and --allow are two ways to say the same: give one of them");
        json_put_text(&b, "mode", "egress");
        json_put_words(&b, "allow", o->allow.items, o->allow.n);
        for (size_t i = 0; i < o->allow.n; i++)
                if (strncmp(o->allow.items[i], "http://", strlen("http://")) == 0) {
                        json_put_bool(&b, "requireTls", false);
                        break;
                }
        *ret = json_builder_print(&b, &error);
        o->network = *ret;
        if (!*ret)
                log_error("%s", error.text);
        return *ret ? 0 : error.code;
}

/* NAME alone takes its value from our environment. */
OPTION_KIND(template_argument) {
        const char *here = strchr(value, '=') ? NULL : getenv(value);
        _cleanup_free_ char *assignment = NULL;
        Strv *arguments = option_field(o, target);
        int r;

        if (*value == '\0' || *value == '=')
                return error_set(reterr, -EINVAL, "--build-arg: '%s' is not NAME=VALUE", value);
        if (!strchr(value, '=') && !here)
                return 0;
        if (here && asprintf(&assignment, "%s=%s", value, here) < 0)
                return error_set(reterr, -ENOMEM, "out of memory");
        arguments->max = ARGUMENTS_MAX;
        r = strv_set_env(arguments, here ? assignment : value);
        return r < 0 ? error_set(reterr, r, "--build-arg: more than %zu", arguments->max) : 0;
}

/* The file of the directory that is built. */

static char *read_text_file(const char *directory, const char *name, size_t *ret) {
        _cleanup_close_ int dir = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -EBADF;
        char *text = NULL;
        ssize_t n = -1;

        fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
        if (fd >= 0)
                text = malloc(TEXT_MAX);
        if (text)
                n = fd_read_full(fd, text, TEXT_MAX);
        if (n < 0) {
                free(text);
                return NULL;
        }
        *ret = (size_t) n;
        return text;
}

static bool template_build_is_there(const char *directory, const char *name) {
        char path[PATH_MAX];

        return snprintf(path, sizeof(path), "%s/%s", directory, name) < (int) sizeof(path) && access(path, R_OK) >= 0;
}

/* Returns the file's name below the directory, "" if none was given, or NULL after a message. */
static char *find_file(const char *directory, const char *file) {
        _cleanup_free_ char *top = realpath(directory, NULL), *path = NULL;
        size_t n;

        if (!top) {
                log_error("cannot open '%s': %m", directory);
                return NULL;
        }
        if (!file) {
                if (template_build_is_there(directory, DOCKERFILE) || template_build_is_there(directory, RECIPE))
                        return strdup("");
                log_error("there is neither a %s nor a %s in '%s' (-f names another file)", DOCKERFILE, RECIPE, directory);
                return NULL;
        }
        path = realpath(file, NULL);
        n = strlen(top);
        if (path && strncmp(path, top, n) == 0 && (path[n] == '/' || strcmp(top, "/") == 0))
                return strdup(path + n + (path[n] == '/'));
        if (*file != '/' && template_build_is_there(directory, file))
                return strdup(file);
        if (path)
                log_error("'%s' is outside of '%s', which is all that is sent: put it there", file, directory);
        else
                log_error("cannot open '%s': %m", file);
        return NULL;
}

/* Sending the directory. */

static int open_pack(const char *directory, const char *file, Strv *ignored, Strv *always, ClientUpload *s) {
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        int r = 0;

        text = read_text_file(directory, IGNORE, &size);
        if (text)
                r = ignore_parse(text, size, ignored);
        always->max = 8;
        for (size_t i = 0; r >= 0 && i < 4; i++)
                r = strv_push(always, (const char *const[]) { IGNORE, DOCKERFILE, RECIPE, file }[i]);
        if (r < 0)
                return log_failure(r, "'%s/%s' cannot be read: %s", directory, IGNORE, strerror(-r));
        r = pack_new(directory, &s->pack, &s->error);
        if (r < 0)
                log_error("%s", s->error.text);
        else
                pack_leave_out(s->pack, ignored, always);
        return r;
}

static int send_directory(const Place *place, const TemplateOptions *o, const char *directory, Answer *ret) {
        _cleanup_(strv_done) Strv ignored = { 0 }, always = { 0 };
        _cleanup_free_ char *file = find_file(directory, o->file);
        _cleanup_url_ Url u = { 0 };
        Progress progress = { 0 };
        ClientUpload sent = { .name = directory, .fd = -EBADF, .wait_fd = -EBADF, .progress = &progress };
        int r;

        if (!file || open_pack(directory, file, &ignored, &always, &sent) < 0)
                return -EINVAL;
        u = url_of("/api/templates/build?name=%s&file=%s&target=%s&network=%s&noCache=%s", o->tag,
                        *file ? file : NULL, o->target, o->network, o->no_cache ? "true" : NULL);
        for (size_t i = 0; i < o->arguments.n; i++)
                url_query(&u, "arg", o->arguments.items[i]);
        r = upload_send(&sent, place, "POST", &u, "application/x-tar", CALL_SIZE_UNKNOWN, ret);
        pack_free(sent.pack);
        return r;
}

/* Sends a text without a directory. */
static int template_build_send_text(const Place *place, const TemplateOptions *o, const char *text, Answer *ret) {
        _cleanup_builder_ JsonBuilder b = { 0 };

        json_put_text(&b, "name", o->tag);
        json_put_text(&b, "text", text);
        json_put_text(&b, "recipe", o->recipe);
        json_put_text(&b, "target", o->target);
        json_put_assignments(&b, "arguments", o->arguments.items, o->arguments.n);
        if (o->no_cache)
                json_put_true(&b, "noCache");
        if (o->network && *o->network == '{')
                json_put_value(&b, "network", json_parse(o->network, strlen(o->network), /* reterr= */ NULL));
        else
                json_put_text(&b, "network", o->network);
        return client_need_path(place, &b, ret, "/api/templates/build");
}

static int send_stdin(const Place *place, const TemplateOptions *o, Answer *ret) {
        _cleanup_free_ char *text = NULL;
        int r = text_read("-", TEXT_MAX, &text);

        if (r < 0)
                return log_failure(r, "cannot read stdin: %s", strerror(-r));
        return template_build_send_text(place, o, text, ret);
}

static int template_build_follow(const Place *place, TemplateOptions *o, const Operands *words) {
        const char *directory = words->n > 0 ? words->items[0] : NULL;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_free_ char *network = NULL;
        int r;

        if (!o->tag)
                return verb_refuse("no name given: -t NAME[:TAG]");
        if (!directory == !o->recipe)
                return verb_refuse(directory ? "--recipe cannot be combined with a directory" : "no directory given (or - for stdin, or --recipe NAME)");
        if (write_network(o, &network) < 0)
                return EXIT_OWN_FAILURE;
        if (o->recipe)
                r = template_build_send_text(place, o, NULL, &a);
        else if (strcmp(directory, "-") == 0)
                r = send_stdin(place, o, &a);
        else
                r = send_directory(place, o, directory, &a);
        if (r < 0)
                return EXIT_OWN_FAILURE;
        r = making_follow(place, &a, &o->look, o->common.json);
        return r == EXIT_OWN_FAILURE ? EXIT_STEP_FAILED : r;
}

int template_build(const Place *place, void *options, const Operands *words) {
        TemplateOptions *o = options;
        int status = template_build_follow(place, o, words);

        strv_done(&o->arguments);
        return status;
}

/* Recipes. */

static int recipe_print(const json_t *recipe, bool as_json) {
        _cleanup_free_ char *text = as_json ? client_json_print(recipe, /* pretty= */ false) : NULL;

        if (as_json)
                return text && puts(text) >= 0 ? 0 : EXIT_OWN_FAILURE;
        (void) fputs(json_get_text_or(recipe, "text", ""), stdout);
        return 0;
}

int template_recipes(const Place *place, void *options, const Operands *words) {
        const Common *c = options;
        _cleanup_answer_ Answer a = { 0 };
        const json_t *item;
        size_t i;

        if (ask_need(place, options, words, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (words->n == 0)
                return ask_show(c, words, &a);
        json_array_foreach(a.json, i, item)
                if (strcmp(json_get_text_or(item, "name", ""), words->items[0]) == 0)
                        return recipe_print(item, c->json);
        return verb_refuse("there is no recipe '%s': `cove template recipes` lists them", words->items[0]);
}
