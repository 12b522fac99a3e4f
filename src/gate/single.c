#include "gate/single.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "gate/dns/dns.h"
#include "gate/relay/proxy.h"
#include "gate/sandbox.h"

#define POLICY_MAX (1 << 20)
#define OUTBOX_MAX (256 * 1024)
#define SINGLE_ID  "run"

struct Single {
        Gate *gate;
        int events_fd;
        sd_event_source *source; /* NULL: events_fd is a file, which takes everything at once */
        Text outbox;
};

/* Events. */

static void single_flush(Single *s) {
        while (s->outbox.size > 0) {
                ssize_t n = write(s->events_fd, s->outbox.data, s->outbox.size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno != EAGAIN) /* the reader is gone */
                        s->events_fd = fd_close(s->events_fd);
                if (n < 0)
                        break;
                text_consume(&s->outbox, (size_t) n);
        }
        if (s->source)
                (void) sd_event_source_set_enabled(s->source, s->outbox.size > 0 && s->events_fd >= 0 ? SD_EVENT_ON : SD_EVENT_OFF);
}

static int single_on_writable(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        single_flush(userdata);
        return 0;
}

static void single_tell(Gate *g, json_t *event, void *userdata) {
        Single *s = userdata;
        size_t size;
        char *line = s->events_fd < 0 ? NULL : json_print(event, &size);

        json_decref(event);
        if (line && s->outbox.size + size <= OUTBOX_MAX) {
                text_put(&s->outbox, line, size);
                single_flush(s);
        }
        free(line);
}

static int watch_events(Single *s, Error *reterr) {
        int r;

        if (s->events_fd < 0)
                return 0;
        (void) fcntl(s->events_fd, F_SETFL, O_WRONLY | O_APPEND | O_NONBLOCK);
        r = sd_event_add_io(s->gate->event, &s->source, s->events_fd, EPOLLOUT, single_on_writable, s);
        if (r == -EPERM)
                return 0;
        if (r >= 0)
                r = sd_event_source_set_enabled(s->source, SD_EVENT_OFF);
        return r < 0 ? error_set(reterr, r, "--events-fd: %m") : 0;
}

/* The sandbox. */

static int single_read_policy(int fd, json_t **ret, Error *reterr) {
        _cleanup_free_ char *text = malloc(POLICY_MAX);
        json_error_t where;
        ssize_t n;

        if (!text)
                return error_set(reterr, -ENOMEM, "%m");
        n = fd_read_full(fd, text, POLICY_MAX);
        if (n < 0)
                return error_set(reterr, (int) n, "--policy-fd: %m");
        *ret = json_loadb(text, (size_t) n, JSON_REJECT_DUPLICATES, &where);
        return *ret ? 0 : error_set(reterr, -EBADMSG, "--policy-fd: line %d: %s", where.line, where.text);
}

static int single_read_reachable(Gate *g, const SingleConfig *c, Error *reterr) {
        g->reachable = calloc(c->n_reachable + 1, sizeof(*g->reachable));
        if (!g->reachable)
                return error_set(reterr, -ENOMEM, "%m");
        for (size_t i = 0; i < c->n_reachable; i++) {
                if (ip_range_parse(c->reachable[i], g->reachable + i) < 0)
                        return error_set(reterr, -EINVAL, "--reachable: '%.64s' is no range of addresses", c->reachable[i]);
                g->n_reachable++;
        }
        return 0;
}

/* Answers to datagrams need a socket inside, for which a daemon asks PID 1. There is no daemon here. */
static int refuse_datagrams(const GateSandbox *sandbox, Error *reterr) {
        for (size_t i = 0; i < sandbox->policy.n_rules; i++) {
                const EgressRule *rule = sandbox->policy.rules + i;

                if (rule->action != EGRESS_DENY && (rule->protocols & EGRESS_UDP))
                        return error_set(reterr, -EOPNOTSUPP, "'%.200s': UDP takes a daemon (cove serve, cove create --network egress)", rule->text);
        }
        return 0;
}

static json_t *single_packages(const SingleConfig *c) {
        json_t *list = json_array();

        for (const char *const *rule = egress_packages_builtin; *rule; rule++)
                (void) json_array_append_new(list, json_string(*rule));
        for (size_t i = 0; i < c->n_packages; i++)
                (void) json_array_append_new(list, json_string(c->packages[i]));
        return list;
}

/* cove puts the proxy into the environment (cli/run-gate.c), which only our user and root can read. */
static int single_read_proxy(Gate *g, const SingleConfig *c, Error *reterr) {
        const char *http = getenv("http_proxy"), *https = getenv("https_proxy");
        _cleanup_json_ json_t *settings = NULL;

        if (!http && !https)
                return 0;
        settings = json_pack("{s:s?, s:s?, s:s?, s:o}", "http", http, "https", https, "except", getenv("no_proxy"), "packages", single_packages(c));
        return settings ? gate_proxy_new(settings, &g->proxy, reterr) : error_set(reterr, -ENOMEM, "%m");
}

static int single_attach(Single *s, json_t *network, const SingleConfig *c, Error *reterr) {
        _cleanup_json_ json_t *message = json_pack("{s:s, s:O, s:o}", "id", SINGLE_ID, "network", network, "packages", single_packages(c));
        int fds[GATE_FDS_GATED] = { c->sockets[0], c->sockets[1], c->sockets[2], c->pidfd };
        _cleanup_free_ char *certificate = NULL;
        GateSandbox *sandbox;
        int r;

        if (!message)
                return error_set(reterr, -ENOMEM, "%m");
        r = gate_sandbox_attach(s->gate, message, fds, ELEMENTSOF(fds), &sandbox, reterr);
        for (size_t i = 0; i < ELEMENTSOF(fds); i++)
                (void) fd_close(fds[i]);
        if (r >= 0)
                r = refuse_datagrams(sandbox, reterr);
        if (r >= 0)
                r = gate_sandbox_certificate(sandbox, &certificate, reterr);
        if (r < 0)
                return r;
        single_tell(s->gate, json_pack("{s:i, s:o}", "done", 0, "certificate", json_text_or_null(certificate)), s);
        return 0;
}

static void single_on_change(Gate *g, void *userdata) {
        if (!g->sandboxes)
                (void) sd_event_exit(g->event, 0);
}

static int single_start(Single *s, const SingleConfig *c, Error *reterr) {
        _cleanup_close_ int policy_fd = c->policy_fd;
        _cleanup_json_ json_t *network = NULL;
        Gate *g = s->gate;
        int r;

        g->tell = single_tell;
        g->tell_userdata = s;
        g->on_change = single_on_change;
        if (getrandom(g->seed, sizeof(g->seed), 0) != sizeof(g->seed))
                return error_set(reterr, -EIO, "there is no randomness");
        r = single_read_policy(policy_fd, &network, reterr);
        if (r >= 0)
                r = single_read_reachable(g, c, reterr);
        if (r >= 0)
                r = single_read_proxy(g, c, reterr);
        if (r >= 0)
                r = resolver_set_servers(g->resolver, c->dns, c->n_dns, reterr);
        if (r >= 0)
                r = watch_events(s, reterr);
        if (r >= 0)
                r = single_attach(s, network, c, reterr);
        return r;
}

int single_new(Gate *g, const SingleConfig *config, Single **ret, Error *reterr) {
        Single *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return error_set(reterr, -ENOMEM, "%m");
        *s = (Single) { .gate = g, .events_fd = config->events_fd, .outbox = TEXT_INIT(2 * OUTBOX_MAX) };
        r = single_start(s, config, reterr);
        if (r < 0) {
                single_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

Single *single_free(Single *s) {
        if (!s)
                return NULL;
        s->gate->tell = NULL;
        s->gate->on_change = NULL;
        sd_event_source_disable_unref(s->source);
        (void) fd_close(s->events_fd);
        text_done(&s->outbox);
        free(s);
        return NULL;
}
