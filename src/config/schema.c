/* schema.c: the sections, and the keys of those that are plain. */

#include <string.h>

#include "config/schema.h"

#define DAY        86400.0
#define KB         1024.0
#define MB         1048576.0
#define GB         1073741824.0
#define TICK       0.01 /* seconds: nothing is done more often */
#define COUNT_MOST 1e6

#define AT(type, field) offsetof(type, field)

static const Field limits_fields[] = {
        { "maxSandboxes", &type_uint, AT(LimitsConfig, sandboxes_max),
          "live at once; 0: as many as the machine's memory carries", .max = COUNT_MOST },
        { "maxPerTenant", &type_uint, AT(LimitsConfig, tenant_max),
          "live at once, of a tenant without a quota of its own; 0: no limit", .max = COUNT_MOST },
        { "queueTimeout", &type_duration, AT(LimitsConfig, queue_timeout_usec),
          "how long a caller waits for a place who says nothing else", .max = DAY },
        { "maxQueued", &type_uint, AT(LimitsConfig, queue_max), "callers that wait at once", .max = COUNT_MOST },
        { "diskReserve", &type_size, AT(LimitsConfig, disk_reserve_bytes), "with less free space than this, new work is refused" },
        { 0 },
};

static const Field storage_fields[] = {
        { "size", &type_size, AT(StorageConfig, bytes),
          "reserved for what outlives sandboxes, when the first such thing is made; may grow, at a start; 0: a quarter of what is free, 1G to 64G",
          .max = 1048576 * GB },
        { 0 },
};

static const Field agents_fields[] = {
        { "concurrency", &type_uint, AT(AgentsConfig, concurrency),
          "executions at once; 0: as many as sandboxes may be", .max = COUNT_MOST },
        { "maxAttempts", &type_uint, AT(AgentsConfig, attempts_max),
          "when the sandbox fails, not the program", .min = 1, .max = 100 },
        { "backoff", &type_duration, AT(AgentsConfig, backoff_usec),
          "before the second attempt; doubled each time", .min = TICK, .max = DAY },
        { "maxBackoff", &type_duration, AT(AgentsConfig, backoff_max_usec), "between two attempts", .min = TICK, .max = DAY },
        { "readyTimeout", &type_duration, AT(AgentsConfig, ready_timeout_usec),
          "for one sandbox to get ready", .min = TICK, .max = DAY },
        { "maxQueued", &type_uint, AT(AgentsConfig, queue_max), "executions that wait at once; half of them of one tenant", .min = 1, .max = 1e7 },
        { "keep", &type_duration, AT(AgentsConfig, keep_usec), "how long finished executions can be looked at", .min = 1 },
        { "autoCleanup", &type_bool, AT(AgentsConfig, auto_cleanup), "the sandbox goes when its execution is done" },
        { "webhookSecret", &type_secret, AT(AgentsConfig, webhook_secret),
          "signs what is sent to callers' webhooks", .example = "file:/etc/cove/webhook.key" },
        { "webhookPrivate", &type_bool, AT(AgentsConfig, webhook_private),
          "tenants' webhooks may lead to this machine and to private networks" },
        { "operationTimeout", &type_duration, AT(AgentsConfig, operation_timeout_usec),
          "around every single operation on a sandbox", .min = TICK, .max = DAY },
        { 0 },
};

static const Field cleanup_fields[] = {
        { "sweepInterval", &type_duration, AT(CleanupConfig, sweep_interval_usec),
          "how often orphaned, stuck and old ones are looked for", .min = TICK, .max = DAY },
        { "batchSize", &type_uint, AT(CleanupConfig, batch_size), "at most so many per sweep", .min = 1, .max = 10000 },
        { "orphanTimeout", &type_duration, AT(CleanupConfig, orphan_timeout_usec),
          "initializing for longer is orphaned", .min = TICK },
        { "stuckTimeout", &type_duration, AT(CleanupConfig, stuck_timeout_usec),
          "running for longer is stuck; never below the profile's executionTime", .min = TICK },
        { "recordAge", &type_duration, AT(CleanupConfig, record_age_usec),
          "records of ended sandboxes older than this go", .min = TICK },
        { "ageInterval", &type_duration, AT(CleanupConfig, age_interval_usec),
          "how often the ages of agents' sandboxes are looked at", .min = TICK, .max = DAY },
        { "maxAge", &type_duration, AT(CleanupConfig, max_age_usec),
          "of an agent's sandbox; never below the profile's executionTime", .min = TICK },
        { "pressureInterval", &type_duration, AT(CleanupConfig, pressure_interval_usec),
          "how often memory and disk are looked at; 0: never", .max = DAY },
        { "pressureUsage", &type_number, AT(CleanupConfig, pressure_usage),
          "emergency beyond this share of quota, memory or disk", .min = 0.05, .max = 1 },
        { "pressurePsi", &type_number, AT(CleanupConfig, pressure_psi),
          "emergency beyond this percentage of time stalled for memory", .min = 1, .max = 100 },
        { "reconcileInterval", &type_duration, AT(CleanupConfig, reconcile_interval_usec),
          "how often the store is compared with the kernel", .min = TICK, .max = 30 * DAY },
        { "healthChecks", &type_bool, AT(CleanupConfig, health_checks), "whether live sandboxes are asked for a sign of life" },
        { "healthInterval", &type_duration, AT(CleanupConfig, health_interval_usec), "how often", .min = TICK, .max = DAY },
        { "healthTimeout", &type_duration, AT(CleanupConfig, health_timeout_usec),
          "how long the answer may take", .min = TICK, .max = 3600 },
        { "unhealthyAge", &type_duration, AT(CleanupConfig, unhealthy_age_usec),
          "unhealthy and older than this is ended", .min = TICK },
        { 0 },
};

static const Field metrics_fields[] = {
        { "interval", &type_duration, AT(MetricsConfig, interval_usec), "between two rows of history", .min = TICK, .max = DAY },
        { "retention", &type_duration, AT(MetricsConfig, retention_usec), "how long rows are kept; sums per hour stay", .min = 1 },
        { "open", &type_bool, AT(MetricsConfig, open), "GET /metrics without a key" },
        { "maxAgentTypes", &type_uint, AT(MetricsConfig, agent_types_max),
          "labels beyond so many become 'other'", .min = 1, .max = 10000 },
        { 0 },
};

static const Field otlp_fields[] = {
        { "endpoint", &type_url, AT(OtlpConfig, endpoint),
          "collector for OTLP over HTTP; without it nothing is sent", .example = "http://127.0.0.1:4318" },
        { "headers", &type_headers, AT(OtlpConfig, headers), "Name: value, as in Authorization: env:OTLP_TOKEN" },
        { "interval", &type_duration, AT(OtlpConfig, interval_usec), "between two batches of metrics", .min = TICK, .max = DAY },
        { "traces", &type_bool, AT(OtlpConfig, traces), "send traces" },
        { "metrics", &type_bool, AT(OtlpConfig, metrics), "send metrics" },
        { "sampling", &type_number, AT(OtlpConfig, sampling), "share of traces that are sent", .max = 1 },
        { "maxQueued", &type_uint, AT(OtlpConfig, queue_max),
          "spans that wait to be sent; more are dropped", .min = 1, .max = COUNT_MOST },
        { 0 },
};

static const Field cost_fields[] = {
        { "currency", &type_name, AT(CostConfig, currency), "of the prices", .room = sizeof(((CostConfig *) NULL)->currency) },
        { "perCpuSecond", &type_number, AT(CostConfig, per_cpu_second), "price of a second of one core" },
        { "perGbSecond", &type_number, AT(CostConfig, per_gb_second), "price of a gigabyte of memory for a second" },
        { "perEgressGb", &type_number, AT(CostConfig, per_egress_gb), "price of a gigabyte that is sent" },
        { 0 },
};

static const Field prediction_fields[] = {
        { "automatic", &type_bool, AT(PredictionConfig, automatic), "use recommended limits; false: only show them" },
        { "quantile", &type_number, AT(PredictionConfig, quantile), "of what was seen", .min = 0.5, .max = 1 },
        { "margin", &type_number, AT(PredictionConfig, margin), "factor on top of it", .min = 1, .max = 10 },
        { "minSamples", &type_uint, AT(PredictionConfig, samples_min),
          "fewer give no recommendation", .min = 1, .max = COUNT_MOST },
        { 0 },
};

static const char *const store_words[] = { "local", "s3", NULL };

static const Field artifacts_fields[] = {
        { "enabled", &type_bool, AT(ArtifactsConfig, enabled), "keep logs, usage and captured files of finished executions" },
        { "kind", &type_choice, AT(ArtifactsConfig, s3), "local or s3", .words = store_words },
        { "directory", &type_path, AT(ArtifactsConfig, directory),
          "local: where; default: artifacts below the state directory", .example = "/srv/cove/artifacts" },
        { "endpoint", &type_text, AT(ArtifactsConfig, endpoint), "s3: URL of the service", .example = "https://s3.example.org" },
        { "bucket", &type_text, AT(ArtifactsConfig, bucket), "s3", .example = "cove" },
        { "region", &type_text, AT(ArtifactsConfig, region), "s3", .example = "us-east-1" },
        { "accessKey", &type_secret, AT(ArtifactsConfig, access_key), "s3", .example = "env:AWS_ACCESS_KEY_ID" },
        { "secretKey", &type_secret, AT(ArtifactsConfig, secret_key), "s3", .example = "env:AWS_SECRET_ACCESS_KEY" },
        { "prefix", &type_text, AT(ArtifactsConfig, prefix), "s3: in front of every name", .example = "cove/" },
        { "keep", &type_duration, AT(ArtifactsConfig, keep_usec), "local: how long; 0: for ever" },
        { "totalSize", &type_size, AT(ArtifactsConfig, total_bytes), "local: all of them; the oldest go", .min = MB },
        { "maxFileSize", &type_size, AT(ArtifactsConfig, file_bytes_max), "of one captured file", .min = 1, .max = 100 * GB },
        { "maxFiles", &type_uint, AT(ArtifactsConfig, files_max), "captured of one execution", .max = 10000 },
        { 0 },
};

static const Field audit_fields[] = {
        { "enabled", &type_bool, AT(AuditConfig, enabled), "write down every call of the API and every security event" },
        { "reads", &type_bool, AT(AuditConfig, reads), "also those that only look" },
        { "fileSize", &type_size, AT(AuditConfig, file_bytes), "a new file after so much", .min = 4 * KB, .max = 100 * GB },
        { "keep", &type_duration, AT(AuditConfig, keep_usec), "how long; 0: for ever" },
        { "required", &type_bool, AT(AuditConfig, required), "refuse what changes something while it cannot be written down" },
        { 0 },
};

static const Field previews_fields[] = {
        { "domain", &type_name, AT(PreviewsConfig, domain), "PORT-ID.DOMAIN leads to a port inside; browsers know *.localhost without DNS",
          .room = sizeof(((PreviewsConfig *) NULL)->domain) },
        { "linkTime", &type_duration, AT(PreviewsConfig, link_usec), "how long a signed link is good for which nothing else was asked", .min = 1,
          .max = 365 * DAY },
        { 0 },
};

static const Field secrets_fields[] = {
        { "environment", &type_strings, AT(SecretsConfig, environment),
          "variables of the daemon's environment that every sandbox may have, as secret:env:NAME; they cannot be set or listed",
          .example = "[NPM_TOKEN]" },
        { 0 },
};

static const Field images_fields[] = {
        { "insecureRegistries", &type_strings, AT(ImagesConfig, insecure),
          "HOST[:PORT] that is spoken to without TLS; this machine's own always are, for the operator, and for tenants when they are listed", .example = "[registry.lan:5000]" },
        { "caFile", &type_path, AT(ImagesConfig, ca_file), "authorities (PEM) of registries that count beside the host's",
          .example = "/etc/cove/registry-ca.pem" },
        { "maxSize", &type_size, AT(ImagesConfig, image_bytes_max), "of one image, unpacked", .min = MB },
        { "stallTime", &type_duration, AT(ImagesConfig, stall_usec), "a registry that sends nothing for so long is given up", .min = 1, .max = 3600 },
        { "keepBlobs", &type_bool, AT(ImagesConfig, keep_blobs),
          "keep the compressed layers of templates, so that a push has the digests of the pull" },
        { "keepCacheFor", &type_duration, AT(ImagesConfig, keep_cache_usec), "steps of builds that nobody has used for so long go" },
        { "gcInterval", &type_duration, AT(ImagesConfig, gc_interval_usec), "how often what no template, sandbox or snapshot uses is removed; 0: never" },
        { "keepMakings", &type_duration, AT(ImagesConfig, keep_makings_usec), "records and logs of pulls, builds and the like" },
        { "maxMakings", &type_uint, AT(ImagesConfig, makings_max), "pulls, builds and the like at once", .min = 1, .max = 1000 },
        { 0 },
};

static const Field recording_fields[] = {
        { "default", &type_bool, AT(RecordingConfig, by_default), "record what goes into every sandbox, also where nobody asks for it" },
        { "maxSize", &type_size, AT(RecordingConfig, bytes_max), "of the contents of one recording; what is beyond it is only named", .min = KB },
        { "keep", &type_duration, AT(RecordingConfig, keep_usec), "how long after a sandbox's end; 0: for ever" },
        { 0 },
};

static const char *const build_networks[] = { "none", "open", NULL };

static const Field build_fields[] = {
        { "profile", &type_name, AT(BuildConfig, profile), "whose limits and policy the steps of a build have; none: the limits below",
          .room = sizeof(((BuildConfig *) NULL)->profile), .example = "BUILD" },
        { "memory", &type_size, AT(BuildConfig, memory_bytes), "of a step", .min = 4 * MB },
        { "cpus", &type_cores, AT(BuildConfig, cpu_milli), "cores at once; 0: no limit", .max = 4096 },
        { "disk", &type_size, AT(BuildConfig, disk_bytes), "what a stage may write", .min = MB },
        { "processes", &type_uint, AT(BuildConfig, pids), "at once", .min = 1, .max = 1e6 },
        { "network", &type_choice, AT(BuildConfig, open),
          "of a build that asks for none: none, or open (all that is public); a profile's policy can say more", .words = build_networks },
        { "stepTimeout", &type_duration, AT(BuildConfig, step_usec), "how long one step may take; 0: as long as it likes" },
        { "maxContext", &type_size, AT(BuildConfig, context_bytes_max), "of the files that are sent with a build", .min = MB },
        { 0 },
};

static const Field e2b_fields[] = {
        { "enabled", &type_bool, AT(E2bConfig, enabled), "answer programs that are written for E2B" },
        { "template", &type_name, AT(E2bConfig, template_name), "what they mean by the template 'base'", .room = sizeof(((E2bConfig *) NULL)->template_name) },
        { "profile", &type_name, AT(E2bConfig, profile), "limits and policy of their sandboxes; none: those that sandboxes have without one",
          .room = sizeof(((E2bConfig *) NULL)->profile), .example = "IMPLEMENTATION" },
        { "domain", &type_name, AT(E2bConfig, domain), "PORT-ID.DOMAIN leads to a port inside, and clients are told so; none: they ask where they have asked",
          .room = sizeof(((E2bConfig *) NULL)->domain), .example = "sandboxes.example.org" },
        { "internet", &type_bool, AT(E2bConfig, internet), "sandboxes whose maker says nothing about it reach what is public, through the gate" },
        { "disk", &type_size, AT(E2bConfig, disk_bytes), "of a sandbox, where disks are kept and no profile says it", .min = MB },
        { "timeout", &type_duration, AT(E2bConfig, timeout_usec), "how long a sandbox lives for which nothing is said", .min = 1, .max = 365 * DAY },
        { "maxTimeout", &type_duration, AT(E2bConfig, timeout_max_usec), "the most that may be asked for", .min = 1, .max = 3650 * DAY },
        { 0 },
};

#define SECTION(the_name, member, the_help, table) \
        { the_name, &type_section, offsetof(Config, member), the_help, .fields = table }

const Field schema_fields[] = {
        SECTION("limits", limits, "what the daemon takes on", limits_fields),
        SECTION("storage", storage, "templates, snapshots, disks and volumes", storage_fields),
        { "profiles", &type_profiles, 0, "NAME: limits of an agent type; the five of the box are there, and can be changed here",
          .flags = FIELD_ITEMS, .fields = profile_fields, .fresh = profile_fresh, .example = "REVIEW" },
        { "pools", &type_pools, 0, "sandboxes that are made ahead of demand; bare numbers are milliseconds", .flags = FIELD_LIST,
          .fields = pool_fields, .fresh = pool_fresh },
        { "zygotes", &type_zygotes, 0, "interpreters with modules loaded, forked into sandboxes; taken at the start only", .flags = FIELD_LIST,
          .fields = zygote_fields, .fresh = zygote_fresh },
        SECTION("agents", agents, "agent executions", agents_fields),
        SECTION("cleanup", cleanup, "sweeps, health checks, reconciliation", cleanup_fields),
        SECTION("alerts", alerts, "rules, and where alerts go", alerts_fields),
        SECTION("metrics", metrics, "history and GET /metrics", metrics_fields),
        SECTION("otlp", otlp, "traces and metrics for a collector", otlp_fields),
        SECTION("cost", cost, "prices", cost_fields),
        SECTION("recommendations", prediction, "limits from what was seen", prediction_fields),
        SECTION("artifacts", artifacts, "what is kept of finished executions", artifacts_fields),
        SECTION("audit", audit, "who did what", audit_fields),
        SECTION("previews", previews, "ports inside, as URLs", previews_fields),
        SECTION("network", network, "what is around sandboxes that have a way out", network_fields),
        SECTION("secrets", secrets, "secrets that others keep", secrets_fields),
        SECTION("images", images, "templates: registries, size, what is kept", images_fields),
        SECTION("recording", recording, "what goes into sandboxes, for a replay", recording_fields),
        SECTION("e2b", e2b, "programs that are written for E2B", e2b_fields),
        SECTION("build", build, "what steps of `cove template build` may use", build_fields),
        { "daemon", &type_daemon, 0, "options of `cove serve`, by the same names; taken at the start only" },
        { 0 },
};
