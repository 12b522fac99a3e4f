/* run-net.h: options of `cove run` about the network, and what they come to: a policy for the gate (policy/egress.h).
 *
 * What a rule may say is the gate's to judge; it is told before anything runs.
 * Must not know: how the gate is started. */
#pragma once

#include <stdbool.h>

#include "base/strv.h"
#include "cli/options.h"

#define RUN_NET_RULES_MAX 1024 /* EGRESS_RULES_MAX */
#define RUN_NET_PACKAGES  "packages" /* EGRESS_PACKAGES */

typedef enum RunNetMode {
        RUN_NET_NONE,
        RUN_NET_EGRESS,
        RUN_NET_OPEN,
        RUN_NET_HOST,
        _RUN_NET_MODE_MAX,
        _RUN_NET_MODE_INVALID = -22,
} RunNetMode;

typedef struct RunNet {
        RunNetMode mode;
        bool given; /* --net was */
        bool quiet;
        bool plain_http;
        Strv allow, deny, reachable, dns;
} RunNet;

#define RUN_NET_INIT                                                                                         \
        {                                                                                                    \
                .allow = STRV_INIT(RUN_NET_RULES_MAX), .deny = STRV_INIT(RUN_NET_RULES_MAX),                  \
                .reachable = STRV_INIT(64), .dns = STRV_INIT(8)                                              \
        }

void run_net_done(RunNet *n);

OPTION_KIND(run_net_mode);
OPTION_KIND(run_net_words); /* into a Strv */

/* When all options are read: rules mean egress unless somebody said otherwise; what contradicts itself is refused. */
int run_net_finish(RunNet *n, Error *reterr);

/* Whether there is a gate to start. */
static inline bool run_net_is_gated(const RunNet *n) {
        return n->mode == RUN_NET_EGRESS || n->mode == RUN_NET_OPEN;
}

/* Whether registries are among what is allowed. */
bool run_net_names_packages(const RunNet *n);

/* The policy as JSON, in a descriptor that can be read from its beginning. */
int run_net_policy(const RunNet *n, int *ret_fd);
