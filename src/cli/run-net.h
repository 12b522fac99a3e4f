/* run-net.h: network options of `cove run`, and the policy for the gate that they make (policy/egress.h).
 *
 * The gate checks the rules; its verdict comes before anything runs.
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
        bool given; /* --net was given */
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

/* Call after all options are read. Rules imply mode egress unless --net was given; contradictions are
 * refused. */
int run_net_finish(RunNet *n, Error *reterr);

/* Whether a gate is needed. */
static inline bool run_net_is_gated(const RunNet *n) {
        return n->mode == RUN_NET_EGRESS || n->mode == RUN_NET_OPEN;
}

/* Whether the allow rules contain "packages". */
bool run_net_names_packages(const RunNet *n);

/* Returns the policy as JSON, in a descriptor that is positioned at its beginning. */
int run_net_policy(const RunNet *n, int *ret_fd);
