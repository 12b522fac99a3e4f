#include "gate/messages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/address.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "gate/ask.h"
#include "gate/dns/dns.h"
#include "gate/memory.h"
#include "gate/peer.h"
#include "gate/relay/connection.h"
#include "gate/relay/proxy.h"
#include "gate/sandbox.h"
#include "gate/settings.h"
#include "gate/tls/tls.h"

#define SERVERS_MAX   16
#define REACHABLE_MAX 256

/* One message, while it is handled. */
typedef struct MessagesCall {
        Gate *gate;
        GateSandbox *sandbox; /* the sandbox that the message names, if any */
        json_t *message;
        int *fds;
        size_t n_fds;
        json_t *answer; /* fields to send beside "done"; NULL: none */
        bool answered;  /* it is answered already: send no "done" */
} MessagesCall;

static const char *messages_text_of(json_t *message, const char *name) {
        return json_string_value(json_object_get(message, name));
}

/* hello */

static int read_servers(json_t *list, const char *ret[static SERVERS_MAX], size_t *ret_n, Error *reterr) {
        json_t *item;
        size_t i;

        *ret_n = 0;
        if (gate_list_check(list, "dns", "addresses", SERVERS_MAX, reterr) < 0)
                return -EINVAL;
        json_array_foreach(list, i, item) {
                if (!json_is_string(item))
                        return error_set(reterr, -EINVAL, "dns[%zu]: must be an address", i);
                ret[(*ret_n)++] = json_string_value(item);
        }
        return 0;
}

static int messages_read_reachable(json_t *list, IpRange **ret, size_t *ret_n, Error *reterr) {
        _cleanup_free_ IpRange *ranges = NULL;
        json_t *item;
        size_t i;

        if (gate_list_check(list, "reachable", "ranges", REACHABLE_MAX, reterr) < 0)
                return -EINVAL;
        ranges = calloc(json_array_size(list) + 1, sizeof(*ranges));
        if (!ranges)
                return error_set(reterr, -ENOMEM, "%m");
        json_array_foreach(list, i, item)
                if (!json_is_string(item) || ip_range_parse(json_string_value(item), ranges + i) < 0)
                        return error_set(reterr, -EINVAL, "reachable[%zu]: must be a range of addresses", i);
        *ret_n = json_array_size(list);
        *ret = TAKE_PTR(ranges);
        return 0;
}

static int messages_read_memory(json_t *bytes, uint64_t *ret, Error *reterr) {
        if (bytes && (!json_is_integer(bytes) || json_integer_value(bytes) < 0))
                return error_set(reterr, -EINVAL, "memory: must be a number of bytes");
        *ret = (uint64_t) json_integer_value(bytes);
        return 0;
}

static int read_seed(const char *text, uint8_t ret[static 32], Error *reterr) {
        uint8_t seed[32];
        int r = text ? hex_decode(text, seed, sizeof(seed)) : -EINVAL;

        if (r >= 0)
                memcpy(ret, seed, sizeof(seed));
        explicit_bzero(seed, sizeof(seed));
        return r < 0 ? error_set(reterr, r, "seed: must be 64 hexadecimal digits") : 0;
}

/* Reads the authorities that are trusted for upstream certificates in addition to the host's trust store. */
static int read_authorities(Gate *g, json_t *text, Error *reterr) {
        Tls *tls = NULL;
        int r;

        if (text && !json_is_null(text) && !json_is_string(text))
                return error_set(reterr, -EINVAL, "authorities: must be certificates in PEM");
        r = tls_new(json_string_value(text), &tls, reterr);
        if (r < 0)
                return error_prefix(reterr, r, "authorities");
        tls_free(g->tls);
        g->tls = tls;
        return 0;
}

static void tell_all_of_change(Gate *g) {
        GateSandbox *s, *next;

        HASH_ITER(hh, g->sandboxes, s, next) {
                connections_policy_changed(s);
                udp_policy_changed(s);
        }
}

static int do_hello(MessagesCall *c, Error *reterr) {
        const char *servers[SERVERS_MAX];
        _cleanup_free_ IpRange *reachable = NULL;
        GateProxy *proxy = NULL;
        size_t n_servers = 0, n_reachable = 0;
        Gate *g = c->gate;
        uint64_t memory = 0;
        int r;

        r = read_servers(json_object_get(c->message, "dns"), servers, &n_servers, reterr);
        if (r >= 0)
                r = messages_read_reachable(json_object_get(c->message, "reachable"), &reachable, &n_reachable, reterr);
        if (r >= 0)
                r = messages_read_memory(json_object_get(c->message, "memory"), &memory, reterr);
        if (r >= 0 && json_object_get(c->message, "proxy"))
                r = gate_proxy_new(json_object_get(c->message, "proxy"), &proxy, reterr);
        if (r >= 0)
                r = resolver_set_servers(g->resolver, servers, n_servers, reterr);
        if (r >= 0)
                r = read_authorities(g, json_object_get(c->message, "authorities"), reterr);
        if (r >= 0)
                r = read_seed(messages_text_of(c->message, "seed"), g->seed, reterr);
        if (r < 0) {
                gate_proxy_free(proxy);
                return r;
        }
        gate_proxy_free(g->proxy);
        g->proxy = proxy;
        free(g->reachable);
        g->reachable = TAKE_PTR(reachable);
        g->n_reachable = n_reachable;
        memory_set_most(g, memory);
        g->has_ipv6 = address_has_ipv6();
        g->greeted = true;
        tell_all_of_change(g);
        peer_answer(g->peer, json_pack("{s:i, s:i, s:I}", "hello", 1, "version", CONTROL_VERSION, "pid", (json_int_t) getpid()));
        c->answered = true;
        return 0;
}

/* sandboxes */

static int answer_certificate(MessagesCall *c, GateSandbox *s, Error *reterr) {
        _cleanup_free_ char *certificate = NULL;
        int r = gate_sandbox_certificate(s, &certificate, reterr);

        if (r < 0)
                return r;
        if (certificate)
                c->answer = json_pack("{s:s}", "certificate", certificate);
        return 0;
}

static int do_attach(MessagesCall *c, Error *reterr) {
        GateSandbox *s = NULL;
        int r;

        if (!c->gate->greeted)
                return error_set(reterr, -EPROTO, "the connection did not begin with hello");
        r = gate_sandbox_attach(c->gate, c->message, c->fds, c->n_fds, &s, reterr);
        if (r < 0)
                return r;
        r = answer_certificate(c, s, reterr);
        if (r < 0 && !c->sandbox) /* this message attached it */
                gate_sandbox_free(s);
        return r;
}

static int do_policy(MessagesCall *c, Error *reterr) {
        int r = gate_sandbox_replace(c->sandbox, c->message, reterr);

        return r < 0 ? r : answer_certificate(c, c->sandbox, reterr);
}

static int do_names(MessagesCall *c, Error *reterr) {
        return gate_sandbox_set_names(c->sandbox, json_object_get(c->message, "names"), reterr);
}

static int do_execution(MessagesCall *c, Error *reterr) {
        c->sandbox->requests_now = 0;
        return 0;
}

static int do_detach(MessagesCall *c, Error *reterr) {
        if (c->sandbox) /* else it is detached already */
                gate_sandbox_free(c->sandbox);
        return 0;
}

static int do_usage(MessagesCall *c, Error *reterr) {
        c->answer = json_pack("{s:o}", "usage", gate_usage_to_json(&c->sandbox->usage));
        return c->answer ? 0 : error_set(reterr, -ENOMEM, "%m");
}

static int do_list(MessagesCall *c, Error *reterr) {
        GateSandbox *s, *next;

        HASH_ITER(hh, c->gate->sandboxes, s, next)
                peer_answer(c->gate->peer, json_pack("{s:s}", "item", s->id));
        peer_answer(c->gate->peer, json_pack("{s:b}", "end", 1));
        c->answered = true;
        return 0;
}

/* the rest */

static int do_answer(MessagesCall *c, Error *reterr) {
        json_t *allow = json_object_get(c->message, "allow"), *grant = json_object_get(c->message, "grant");
        const char *id = messages_text_of(c->message, "ask");
        GateSandbox *s;
        int r;

        if (!id || !json_is_boolean(allow))
                return error_set(reterr, -EINVAL, "an answer has an ask and an allow");
        s = asks_find(c->gate->asks, id);
        if (!s)
                return error_set(reterr, -ENOENT, "no request waits for an answer to '%.40s'", id);
        if (json_is_true(allow) && grant && !json_is_null(grant)) {
                r = gate_sandbox_grant(s, grant, reterr);
                if (r < 0)
                        return r;
        }
        asks_answer(c->gate->asks, id, json_is_true(allow));
        return 0;
}

static int do_flow(MessagesCall *c, Error *reterr) {
        json_t *token = json_object_get(c->message, "token"), *error = json_object_get(c->message, "error");
        int code = (int) json_integer_value(error);

        if (!json_is_integer(token) || (error && !json_is_integer(error)) || (code == 0) != (c->n_fds == 1))
                return error_set(reterr, -EINVAL, "a flow has a token and either an error or a descriptor");
        udp_flow_ready(c->gate, (uint64_t) json_integer_value(token), code == 0 ? 0 : -abs(code), code == 0 ? TAKE_FD(c->fds[0]) : -EBADF);
        return 0;
}

static int do_quit(MessagesCall *c, Error *reterr) {
        log_debug("coved replaces this gate by another");
        return sd_event_exit(c->gate->event, 0);
}

static const struct {
        const char *name;
        int (*function)(MessagesCall *c, Error *reterr);
        bool of_sandbox; /* needs an attached sandbox */
} verbs[] = {
        { "hello",     do_hello,     false },
        { "attach",    do_attach,    false },
        { "policy",    do_policy,    true  },
        { "names",     do_names,     true  },
        { "execution", do_execution, true  },
        { "answer",    do_answer,    false },
        { "flow",      do_flow,      false },
        { "detach",    do_detach,    false },
        { "usage",     do_usage,     true  },
        { "list",      do_list,      false },
        { "quit",      do_quit,      false },
};

static int call(MessagesCall *c, Error *reterr) {
        const char *verb = messages_text_of(c->message, "do"), *id = messages_text_of(c->message, "id");
        size_t i = 0;

        while (verb && i < ELEMENTSOF(verbs) && strcmp(verb, verbs[i].name) != 0)
                i++;
        if (!verb || i == ELEMENTSOF(verbs))
                return error_set(reterr, -EINVAL, "unknown message '%.40s'", verb ? verb : "");
        c->sandbox = id ? gate_find(c->gate, id) : NULL;
        if (verbs[i].of_sandbox && !c->sandbox)
                return error_set(reterr, -ENOENT, "no sandbox '%.40s' is attached", id ? id : "");
        return verbs[i].function(c, reterr);
}

static void say_failed(Gate *g, json_t *serial, const char *text) {
        peer_answer(g->peer, json_pack("{s:O?, s:o}", "failed", json_is_integer(serial) ? serial : NULL, "error", json_text_or_null(text)));
}

static void say_done(MessagesCall *c, json_t *serial) {
        json_t *answer = json_pack("{s:O}", "done", serial);

        if (answer && c->answer)
                (void) json_object_update(answer, c->answer);
        peer_answer(c->gate->peer, answer);
}

void messages_on_message(Gate *g, json_t *message, int *fds, size_t n_fds) {
        json_t *serial = json_object_get(message, "serial");
        MessagesCall c = { .gate = g, .message = message, .fds = fds, .n_fds = n_fds };
        Error error = { 0 };
        int r = call(&c, &error);

        if (r < 0)
                say_failed(g, serial, error.text);
        else if (json_is_integer(serial) && !c.answered)
                say_done(&c, serial);
        json_decref(c.answer);
}

void messages_on_cut(Gate *g, json_t *message, int *fds, size_t n_fds) {
        say_failed(g, json_object_get(message, "serial"), "cove-gate has too many open files: raise the limit of open files (LimitNOFILE=, ulimit -n), or end sandboxes with a network");
}

void messages_on_broken(Gate *g, json_t *message, int *fds, size_t n_fds) {
        say_failed(g, NULL, "invalid message");
}
