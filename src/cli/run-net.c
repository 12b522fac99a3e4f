#include "cli/run-net.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "cli/run-options.h"

static const char *const modes[_RUN_NET_MODE_MAX] = {
        [RUN_NET_NONE] = "none",
        [RUN_NET_EGRESS] = "egress",
        [RUN_NET_OPEN] = "open",
        [RUN_NET_HOST] = "host",
};

void run_net_done(RunNet *n) {
        strv_done(&n->allow);
        strv_done(&n->deny);
        strv_done(&n->reachable);
        strv_done(&n->dns);
}

static RunNetMode mode_from_string(const char *text) {
        for (RunNetMode m = 0; m < _RUN_NET_MODE_MAX; m++)
                if (strcmp(modes[m], text) == 0)
                        return m;
        return _RUN_NET_MODE_INVALID;
}

OPTION_KIND(run_net_mode) {
        RunNet *n = &((RunOptions *) target)->net;
        RunNetMode mode = mode_from_string(value);

        if (strcmp(value, RUN_NET_PACKAGES) == 0) {
                n->mode = RUN_NET_EGRESS;
                n->given = true;
                return strv_push(&n->allow, RUN_NET_PACKAGES) < 0 ? error_set(reterr, -ENOMEM, "--net: too many rules") : 0;
        }
        if (strcmp(value, "isolated") == 0)
                return error_set(reterr, -EINVAL, "--net: 'isolated' is a network between sandboxes of a daemon: cove create --network isolated");
        if (mode < 0)
                return error_set(reterr, -EINVAL, "--net: '%s' is not 'none', 'egress', 'packages', 'open' or 'host'", value);
        n->mode = mode;
        n->given = true;
        return 0;
}

/* Stores a word for a list or a command line; it is parsed later. */
OPTION_KIND(run_net_words) {
        return value[0] == '\0' ? error_set(reterr, -EINVAL, "--%s: an empty value", o->name)
                                : option_words(o, target, value, reterr);
}

static const char *first_of_gate(const RunNet *n) {
        return n->allow.n > 0 ? "allow" : n->deny.n > 0 ? "deny" : n->reachable.n > 0 ? "reachable" : n->dns.n > 0 ? "dns" :
               n->plain_http ? "plain-http" : NULL;
}

int run_net_finish(RunNet *n, Error *reterr) {
        const char *option = first_of_gate(n);

        if (!option)
                return 0;
        if (!n->given && (n->allow.n > 0 || n->deny.n > 0))
                n->mode = RUN_NET_EGRESS;
        if (!run_net_is_gated(n))
                return error_set(reterr, -EINVAL, "--%s means nothing with --net %s: take --net egress", option, modes[n->mode]);
        if (n->mode == RUN_NET_OPEN && n->allow.n > 0)
                return error_set(reterr, -EINVAL, "--allow means nothing with --net open, which allows everything: take --net egress");
        return 0;
}

static void run_net_write_list(JsonWriter *w, const char *key, const Strv *list) {
        if (list->n == 0)
                return;
        json_begin_list(w, key);
        for (size_t i = 0; i < list->n; i++)
                json_write_string(w, /* key= */ NULL, list->items[i]);
        json_end_list(w);
}

bool run_net_names_packages(const RunNet *n) {
        for (size_t i = 0; i < n->allow.n; i++)
                if (strcmp(n->allow.items[i], RUN_NET_PACKAGES) == 0)
                        return true;
        return false;
}

int run_net_policy(const RunNet *n, int *ret_fd) {
        _cleanup_close_ int fd = memfd_create("policy", MFD_CLOEXEC);
        JsonWriter w = { 0 };
        int r;

        if (fd < 0)
                return -errno;
        json_begin_object(&w, /* key= */ NULL);
        json_write_string(&w, "mode", modes[n->mode]);
        if (n->plain_http)
                json_write_bool(&w, "requireTls", false);
        run_net_write_list(&w, "allow", &n->allow);
        run_net_write_list(&w, "deny", &n->deny);
        json_end_object(&w);
        r = json_finish(&w, fd);
        if (r < 0)
                return r;
        if (lseek(fd, 0, SEEK_SET) < 0)
                return -errno;
        *ret_fd = TAKE_FD(fd);
        return 0;
}
