#include "daemon/rooms.h"

#include <fcntl.h>
#include <unistd.h>

#include "agent/agent.h"
#include "artifact/artifact.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/program.h"
#include "base/proxy.h"
#include "build/build.h"
#include "config/reload.h"
#include "context/context.h"
#include "core/admission.h"
#include "core/pool.h"
#include "core/settle.h"
#include "daemon/reaper.h"
#include "daemon/settings.h"
#include "gatekeeper/gatekeeper.h"
#include "image/image.h"
#include "observe/alert.h"
#include "observe/audit.h"
#include "observe/metric.h"
#include "observe/observe.h"
#include "observe/otlp.h"
#include "outbound/delivery.h"
#include "outbound/outbound.h"
#include "record/record.h"
#include "state/state.h"
#include "vault/vault.h"

static void rooms_before_outbound(void *userdata) {
        settle_now(userdata);
}

/* Connections are limited. Deliveries to callers, whose servers may never answer, have a limit of their own,
 * so that they do not delay alerts. */
static int open_outbound(Rooms *r, Error *reterr) {
        int k = outbound_new(r->manager->event, &r->outbound, reterr);

        if (k >= 0)
                k = outbound_new(r->manager->event, &r->callers, reterr);
        if (k >= 0) {
                outbound_set_before(r->outbound, rooms_before_outbound, r->manager->settle);
                outbound_set_before(r->callers, rooms_before_outbound, r->manager->settle);
        }
        return k < 0 ? k : deliveries_new(r->manager->event, r->callers, &r->deliveries, reterr);
}

/* Requests that wait for a place may have one after a change of limits. */
static void on_settings(const Config *settings, void *userdata) {
        Manager *m = userdata;

        admission_wake(m->admission);
}

static int open_reload(Rooms *r, Error *reterr) {
        int k = reload_new(r->manager, settings_hooks(), r->config_file, r->settings, &r->api.reload);

        if (k >= 0)
                k = reload_add(r->api.reload, on_settings, r->manager);
        return k < 0 ? error_set(reterr, k, "out of memory") : 0;
}

static int open_vault(Rooms *r, Error *reterr) {
        return vault_new(r->manager, TAKE_FD(r->secret_key_fd), r->environment, &r->api.vault, reterr);
}

static void tell_pools(const Config *settings, void *userdata) {
        pools_reload(userdata);
}

static int open_pools(Rooms *r, Error *reterr) {
        int k = pools_new(r->manager, &r->pools);

        if (k >= 0)
                k = reload_add(r->api.reload, tell_pools, r->pools);
        return k < 0 ? error_set(reterr, k, "cannot make the pools: %m") : 0;
}

static void tell_gatekeeper(const Config *settings, void *userdata) {
        gatekeeper_reloaded(userdata);
}

/* If registries cannot be reached, the proxy is the usual reason. */
static void tell_proxy(const NetworkConfig *network) {
        _cleanup_(registries_done) Registries host = REGISTRIES_INIT;
        _cleanup_free_ char *unusable = NULL;
        char shown[PROXY_SHOWN_MAX];
        int r = network_find_proxy(network, &host, &unusable);

        if (r < 0) {
                log_warning("no proxy is used for package registries: %s", network_proxy_failure(r));
                return;
        }
        if (host.https_proxy || host.http_proxy) {
                proxy_shown(host.https_proxy ? host.https_proxy : host.http_proxy, shown);
                log_notice("package registries are reached through the proxy %s (network.proxy in cove.yaml)", shown);
        }
        if (unusable) {
                proxy_shown(unusable, shown);
                log_warning(REGISTRIES_PROXY_UNUSABLE, shown);
        }
}

/* A missing gate program is reported only to requests that want a network. */
static int open_gatekeeper(Rooms *r, Error *reterr) {
        _cleanup_free_ char *program = NULL;
        GatekeeperConfig config = { .run_dir = r->run_dir, .state_dir = r->manager->config.state_dir };
        int k;

        (void) program_path("cove-gate", &program);
        config.program = program;
        k = gatekeeper_new(r->manager, r->api.vault, &config, &r->api.gatekeeper, reterr);
        if (k < 0)
                return k;
        tell_proxy(&r->manager->settings->network);
        k = reload_add(r->api.reload, tell_gatekeeper, r->api.gatekeeper);
        return k < 0 ? error_set(reterr, k, "out of memory") : 0;
}

static int open_audit(Rooms *r, Error *reterr) {
        lifelog_start(&r->lifelog, r->manager);
        return audit_new(r->manager, &r->api.audit, reterr);
}

static int open_observe(Rooms *r, Error *reterr) {
        return observe_new(r->manager, &r->api.observe, reterr);
}

static int open_artifacts(Rooms *r, Error *reterr) {
        return artifacts_new(r->manager, r->outbound, &r->api.artifacts, reterr);
}

static int open_alerts(Rooms *r, Error *reterr) {
        return alerts_new(r->manager, r->outbound, r->api.observe, &r->api.alerts, reterr);
}

static void tell_agents(const Config *settings, void *userdata) {
        agents_reload(userdata);
}

static int open_agents(Rooms *r, Error *reterr) {
        int k = agents_new(r->manager, r->deliveries, r->api.artifacts, &r->api.agents, reterr);

        if (k < 0)
                return k;
        k = reload_add(r->api.reload, tell_agents, r->api.agents);
        if (k < 0)
                return error_set(reterr, k, "out of memory");
        return agent_metrics_start(&r->agent_metrics, r->api.observe, r->api.agents, reterr);
}

static int rooms_open_state(Rooms *r, Error *reterr) {
        return state_new(r->manager, &r->api.state, reterr);
}

static int open_otlp(Rooms *r, Error *reterr) {
        return otlp_new(r->manager, r->outbound, r->api.observe, &r->api.otlp, reterr);
}

static int open_reaper(Rooms *r, Error *reterr) {
        int k = reaper_new(r->manager, &r->api.reaper, reterr);

        if (k < 0)
                return k;
        k = reaper_connect(r->api.reaper, r->api.observe, r->api.alerts, r->api.reload);
        return k < 0 ? error_set(reterr, k, "cannot watch the clean-up: %m") : 0;
}

static void count_makings(Images *i, const Making *ended, void *userdata) {
        Observe *o = userdata;
        ImagesStats s;
        MakingInfo m;

        images_stats(i, &s);
        metric_set(o, METRIC_TEMPLATES, NULL, s.templates);
        metric_set(o, METRIC_LAYER_BYTES, NULL, (double) s.layer_bytes);
        metric_set(o, METRIC_BLOB_BYTES, NULL, (double) s.blob_bytes);
        if (!ended)
                return;
        making_info(ended, &m);
        metric_add2(o, METRIC_MAKINGS, making_kind_name(m.kind), making_status_name(m.status), 1);
        if (m.ended_at > m.created_at)
                metric_observe(o, METRIC_MAKING_SECONDS, making_kind_name(m.kind), (double) (m.ended_at - m.created_at) / (double) USEC_PER_SEC);
}

static int open_images(Rooms *r, Error *reterr) {
        int k = images_new(r->manager, &r->api.images, reterr);

        if (k >= 0)
                images_observe(r->api.images, count_makings, r->api.observe);
        return k;
}

static int open_builds(Rooms *r, Error *reterr) {
        return builds_new(r->api.images, r->manager, &r->api.builds, reterr);
}

static int open_contexts(Rooms *r, Error *reterr) {
        return contexts_new(r->manager, &r->api.contexts, reterr);
}

static int open_recorder(Rooms *r, Error *reterr) {
        return recorder_new(r->manager, &r->api.recorder, reterr);
}

static int (*const doors[])(Rooms *r, Error *reterr) = {
        open_vault,   /* before any request can start anything */
        open_outbound,
        open_reload,  /* before the rooms that want to be told of a reload */
        open_pools,   /* filled when all sandboxes have been looked for */
        open_audit,   /* before any request is accepted */
        open_observe, /* before any event that is counted */
        open_artifacts,
        open_alerts,
        open_images,  /* before the rooms that make sandboxes from images */
        open_builds,
        open_recorder, /* before any input can be sent to a sandbox */
        open_agents,  /* resumes its queue when all sandboxes have been looked for */
        rooms_open_state,
        open_contexts, /* adopts what has outlived the daemon before us when all sandboxes have been looked for */
        open_gatekeeper, /* after the rooms that it notifies */
        open_otlp,    /* after what it exports */
        open_reaper,  /* after the rooms that it reports to */
};

int rooms_open(Rooms *r, Error *reterr) {
        for (size_t i = 0; i < ELEMENTSOF(doors); i++) {
                int k = doors[i](r, reterr);

                if (k < 0)
                        return k;
        }
        return 0;
}

void rooms_close(Rooms *r) {
        if (r->manager)
                manager_unobserve_all(r->manager);
        contexts_free(r->api.contexts);
        state_free(r->api.state);
        gatekeeper_free(r->api.gatekeeper);
        otlp_free(r->api.otlp);
        observe_free(r->api.observe); /* it asks the others for numbers until it is freed */
        agents_free(r->api.agents);
        builds_free(r->api.builds);
        recorder_free(r->api.recorder);
        images_free(r->api.images);
        artifacts_free(r->api.artifacts);
        reaper_free(r->api.reaper);
        pools_free(r->pools);
        audit_free(r->api.audit);
        reload_free(r->api.reload);
        alerts_free(r->api.alerts);
        deliveries_free(r->deliveries);
        outbound_free(r->callers);
        outbound_free(r->outbound);
        vault_free(r->api.vault);
}
