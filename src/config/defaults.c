/* defaults.c: what there is without a file. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "config/schema.h"

#define SECONDS(n) ((n) * USEC_PER_SEC)
#define MINUTES(n) ((n) * 60 * USEC_PER_SEC)
#define HOURS(n)   ((n) * 3600 * USEC_PER_SEC)
#define DAYS(n)    ((n) * 86400 * USEC_PER_SEC)
#define MB(n)      ((uint64_t) (n) << 20)
#define GB(n)      ((uint64_t) (n) << 30)

#define DAEMON_OPTIONS_MAX 128
#define CHANNELS_MAX       64
#define HEADERS_MAX        64
#define SECRETS_MAX 256

static const Config defaults = {
        .daemon = STRV_INIT(DAEMON_OPTIONS_MAX),
        .limits = {
                .queue_timeout_usec = SECONDS(30),
                .queue_max = 10000,
                .disk_reserve_bytes = MB(256),
        },
        .e2b = {
                .enabled = true,
                .template_name = "base",
                .internet = true,
                .disk_bytes = GB(1),
                .timeout_usec = MINUTES(5),
                .timeout_max_usec = HOURS(24),
        },
        .agents = {
                .attempts_max = 3,
                .backoff_usec = SECONDS(1),
                .backoff_max_usec = SECONDS(60),
                .ready_timeout_usec = SECONDS(30),
                .queue_max = 100000,
                .keep_usec = DAYS(7),
                .auto_cleanup = true,
                .operation_timeout_usec = MINUTES(5),
        },
        .cleanup = {
                .sweep_interval_usec = MINUTES(5),
                .batch_size = 50,
                .orphan_timeout_usec = MINUTES(10),
                .stuck_timeout_usec = MINUTES(30),
                .record_age_usec = HOURS(24),
                .age_interval_usec = MINUTES(15),
                .max_age_usec = MINUTES(10),
                .pressure_interval_usec = SECONDS(10),
                .pressure_usage = 0.8,
                .pressure_psi = 50,
                .reconcile_interval_usec = HOURS(1),
                .health_interval_usec = SECONDS(60),
                .health_timeout_usec = SECONDS(5),
                .unhealthy_age_usec = MINUTES(10),
                .health_checks = true,
        },
        .alerts = {
                .enabled = true,
                .interval_usec = SECONDS(10),
                .cooldown_usec = HOURS(1),
                .routes = { STRV_INIT(CHANNELS_MAX), STRV_INIT(CHANNELS_MAX), STRV_INIT(CHANNELS_MAX) },
                .attempts_max = 5,
                .backoff_usec = SECONDS(1),
                .queue_max = 1000,
        },
        .metrics = {
                .interval_usec = SECONDS(60),
                .retention_usec = DAYS(7),
                .agent_types_max = 64,
        },
        .otlp = {
                .headers = STRV_INIT(HEADERS_MAX),
                .interval_usec = SECONDS(60),
                .traces = true,
                .metrics = true,
                .sampling = 1,
                .queue_max = 4096,
        },
        .cost = { .currency = "USD" },
        .previews = { .domain = "localhost", .link_usec = 3600 * USEC_PER_SEC },
        .prediction = { .quantile = 0.95, .margin = 1.2, .samples_min = 20 },
        .artifacts = {
                .enabled = true,
                .keep_usec = DAYS(7),
                .total_bytes = GB(10),
                .file_bytes_max = MB(10),
                .files_max = 100,
        },
        .audit = { .enabled = true, .reads = true, .file_bytes = MB(64) },
        .network = {
                .reachable_words = STRV_INIT(NETWORK_REACHABLE_MAX),
                .dns = STRV_INIT(NETWORK_DNS_MAX),
                .denials_kept = 500,
        },
        .recording = { .bytes_max = MB(256), .keep_usec = DAYS(7) },
        .secrets = { .environment = STRV_INIT(SECRETS_MAX) },
        .images = {
                .insecure = STRV_INIT(IMAGES_REGISTRIES_MAX),
                .image_bytes_max = GB(32),
                .stall_usec = SECONDS(30),
                .keep_blobs = true,
                .keep_cache_usec = DAYS(7),
                .gc_interval_usec = HOURS(1),
                .keep_makings_usec = DAYS(7),
                .makings_max = 16,
        },
        .build = {
                .memory_bytes = GB(2),
                .disk_bytes = GB(10),
                .pids = 4096,
                .step_usec = HOURS(1),
                .context_bytes_max = GB(2),
        },
};

int config_defaults(Config **ret) {
        const Profile *builtins;
        size_t n = profile_builtins(&builtins);
        Config *c = malloc(sizeof(*c));

        if (!c)
                return -ENOMEM;
        *c = defaults;
        c->read_at = clock_wall_usec();
        c->profiles = calloc(n, sizeof(*c->profiles));
        if (!c->profiles) {
                free(c);
                return -ENOMEM;
        }
        memcpy(c->profiles, builtins, n * sizeof(*builtins)); /* they own nothing yet */
        c->n_profiles = n;
        if (alerts_route_defaults(&c->alerts, (const bool[_SEVERITY_MAX]) { false }) < 0) {
                config_free(c);
                return -ENOMEM;
        }
        *ret = c;
        return 0;
}

static void channel_done(ChannelConfig *k) {
        free(k->url);
        free(k->secret);
        free(k->user);
        free(k->from);
        strv_done(&k->to);
}

Config *config_free(Config *c) {
        if (!c)
                return NULL;
        for (size_t i = 0; i < c->n_profiles; i++)
                profile_done(&c->profiles[i]);
        for (size_t i = 0; i < c->alerts.n_channels; i++)
                channel_done(&c->alerts.channels[i]);
        for (size_t i = 0; i < ELEMENTSOF(c->alerts.routes); i++)
                strv_done(&c->alerts.routes[i]);
        free(c->path);
        strv_done(&c->daemon);
        free(c->profiles);
        free(c->pools);
        zygotes_free(c);
        free(c->agents.webhook_secret);
        free(c->alerts.channels);
        free(c->alerts.overrides);
        free(c->otlp.endpoint);
        strv_done(&c->otlp.headers);
        strv_done(&c->secrets.environment);
        strv_done(&c->images.insecure);
        free(c->images.ca_file);
        free(c->artifacts.directory);
        free(c->artifacts.endpoint);
        free(c->artifacts.bucket);
        free(c->artifacts.region);
        free(c->artifacts.access_key);
        free(c->artifacts.secret_key);
        free(c->artifacts.prefix);
        strv_done(&c->network.reachable_words);
        strv_done(&c->network.dns);
        free(c->network.reachable);
        free(c->network.ca_file);
        free(c);
        return NULL;
}
