#include "daemon/policies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/proxy.h"
#include "daemon/settings.h"
#include "policy/policy.h"

#define FILE_MAX         (1 << 20)
#define EXIT_OWN_FAILURE 125

static int policies_print_json(json_t *j) {
        size_t size;
        char *text = j ? json_print(j, &size) : NULL;
        int r = text ? printf("%s", text) : -1;

        free(text);
        json_decref(j);
        return r < 0 ? EXIT_OWN_FAILURE : 0;
}

/* Mistakes of the file are not reported here: `cove config check` does that. */
static Config *policies_read_config(const char *named) {
        _cleanup_free_ char *usual = named ? NULL : settings_default_path();
        const char *path = named ? named : usual;
        Config *c = NULL;
        Error error;

        if (path && access(path, R_OK) == 0)
                (void) config_read(settings_hooks(), path, /* complain= */ NULL, NULL, &c, &error);
        return c;
}

static json_t *policies_read_file(const PoliciesQuestion *q, Error *reterr) {
        _cleanup_free_ char *text = NULL;
        const char *path = strcmp(q->file, "-") == 0 ? "/dev/stdin" : q->file;
        json_error_t error;
        json_t *j;
        size_t size;
        int r = file_read_alloc(AT_FDCWD, path, FILE_MAX, &text, &size);

        if (r < 0) {
                (void) error_set(reterr, r, "cannot read '%s': %m", q->file);
                return NULL;
        }
        j = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);
        if (!j)
                (void) error_set(reterr, -EBADMSG, "%s is not JSON: %s (line %d, column %d)", q->file, error.text, error.line, error.column);
        return j;
}

static void policies_print_complaints(const PoliciesQuestion *q, const JsonComplaints *c) {
        json_t *item;
        size_t i;

        json_array_foreach(c->list, i, item)
                printf("✗ %s: %s: %s\n", q->file, json_string_value(json_object_get(item, "field")),
                                json_string_value(json_object_get(item, "message")));
}

/* Prints all mistakes of the policy or, if there are none, what it means. */
static int tell_check(const PoliciesQuestion *q, const Policy *p, const JsonComplaints *c) {
        bool good = !json_has_complaints(c);
        int r = 0;

        if (q->json)
                r = policies_print_json(json_pack("{s:o,s:b,s:o,s:o}", "path", json_text_or_null(q->file), "ok", good, "complaints",
                                c->list ? json_incref(c->list) : json_array(), "policy", good ? policy_to_json(p) : json_null()));
        else if (good)
                printf("✓ %s\n", q->file);
        else
                policies_print_complaints(q, c);
        return r > 0 ? r : !good;
}

static int tell_explanation(const PoliciesQuestion *q, const Policy *p, const NetworkConfig *n) {
        _cleanup_json_ json_t *j = NULL;
        Error error = { 0 };
        bool allowed;

        if (egress_explain_url(&p->network, n ? n->reachable : NULL, n ? n->n_reachable : 0, q->url, q->method, &j, &error) < 0) {
                log_error("%s", error.text);
                return EXIT_OWN_FAILURE;
        }
        allowed = json_is_true(json_object_get(j, "allowed"));
        if (q->json)
                return policies_print_json(json_incref(j)) ? EXIT_OWN_FAILURE : !allowed;
        printf("%s\n", json_string_value(json_object_get(j, "text")));
        if (json_is_string(json_object_get(j, "cure")))
                printf("→ %s\n", json_string_value(json_object_get(j, "cure")));
        return !allowed;
}

int policies_look(const PoliciesQuestion *q) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        _cleanup_config_ Config *config = policies_read_config(q->config);
        const NetworkConfig *n = config ? &config->network : NULL;
        _cleanup_(policy_done) Policy p = { 0 };
        _cleanup_json_ json_t *j = NULL;
        Error error = { 0 };

        j = policies_read_file(q, &error);
        if (!j && error.code == -EBADMSG)
                (void) json_complain(&c, "policy", "%s", error.text);
        else if (!j) {
                log_error("%s", error.text);
                return EXIT_OWN_FAILURE;
        } else if (policy_parse(j, "policy", n ? NETWORK_SITE(n) : NULL, &p, &c) < 0) {
                log_error("out of memory");
                return EXIT_OWN_FAILURE;
        }
        return q->url && !json_has_complaints(&c) ? tell_explanation(q, &p, n) : tell_check(q, &p, &c);
}

static json_t *policies_strings(const Strv *v) {
        json_t *list = json_array();

        for (size_t i = 0; i < v->n; i++)
                (void) json_array_append_new(list, json_string(v->items[i]));
        return list;
}

int policies_print_packages(const char *path) {
        _cleanup_config_ Config *config = policies_read_config(path);
        _cleanup_(registries_done) Registries host = REGISTRIES_INIT;
        char http[PROXY_SHOWN_MAX] = "", https[PROXY_SHOWN_MAX] = "";
        int r;

        r = config ? 0 : config_defaults(&config);
        if (r >= 0)
                r = network_find_proxy(&config->network, &host, NULL);
        if (r < 0) {
                log_error("%s", network_proxy_failure(r));
                return EXIT_OWN_FAILURE;
        }
        if (host.http_proxy)
                proxy_shown(host.http_proxy, http);
        if (host.https_proxy)
                proxy_shown(host.https_proxy, https);
        return policies_print_json(json_pack("{s:o,s:o,s:o,s:o,s:o}", "packages", policies_strings(&config->network.packages), "rules",
                        policies_strings(&config->network.packages_rules), "httpProxy", json_text_or_null(*http ? http : NULL), "httpsProxy",
                        json_text_or_null(*https ? https : NULL), "noProxy", json_text_or_null(host.no_proxy && *host.no_proxy ? host.no_proxy : NULL)));
}

int policies_print_presets(void) {
        json_t *all = json_object();

        for (const char *const *name = policy_preset_names; *name; name++) {
                const Policy *p = policy_preset(*name);

                (void) json_object_set_new(all, *name, p ? policy_to_json(p) : json_null());
        }
        return policies_print_json(all);
}
