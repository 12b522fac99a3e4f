/* schema.c: the sections, and the keys of the plain ones. */

#include "config/schema.h"

#define DAY        86400.0
#define KB         1024.0
#define MB         1048576.0
#define GB         1073741824.0
#define TICK       0.01 /* seconds: nothing is done more often */
#define COUNT_MOST 1e6

#define DAEMON_OPTIONS_MAX 128
#define HEADERS_MAX        64
#define SECRETS_MAX        256

static const ShapeField limits_config_fields[] = {
        { "profile", KEY_NAME(LimitsConfig, profile), .example = "IMPLEMENTATION",
          .help = "of sandboxes whose maker names none and has no key or tenant with one; admins aside" },
        { "maxSandboxes", KEY_COUNT(LimitsConfig, sandboxes_max), .max = COUNT_MOST,
          .help = "live at once; 0: as many as the machine's memory carries" },
        { "maxPerTenant", KEY_COUNT(LimitsConfig, tenant_max), .max = COUNT_MOST,
          .help = "live at once, of a tenant without a quota of its own; 0: no limit" },
        { "queueTimeout", KEY_TIME(LimitsConfig, queue_timeout_usec), .max = DAY, .initial = "30s",
          .help = "how long a caller waits for a place who says nothing else" },
        { "maxQueued", KEY_COUNT(LimitsConfig, queue_max), .max = COUNT_MOST, .initial = "10000", .help = "callers that wait at once; half of them of one tenant" },
        { "answerMemory", KEY_SIZE(LimitsConfig, answer_bytes), .min = 8 * MB, .initial = "128MB",
          .help = "of answers that clients have not read yet; half of it for one tenant" },
        { "diskReserve", KEY_SIZE(LimitsConfig, disk_reserve_bytes), .initial = "256MB",
          .help = "with less free space than this, new work is refused and output is cut short" },
};
static const Shape limits_config_shape = SHAPE_OF(limits_config, LimitsConfig);

/* By the names that profiles have for them. */
static const ShapeField ceilings_config_fields[] = {
        { "memory", KEY_SIZE(SandboxLimits, memory_bytes), .help = "memory; 0: that of the machine" },
        { "cpuCores", KEY_CORES(SandboxLimits, cpu_milli), .max = 4096, .help = "cores at once; 0: those of the machine" },
        { "cpuTime", KEY_TIME(SandboxLimits, cpu_time_usec), .help = "CPU time of all processes together; 0: no ceiling" },
        { "storage", KEY_SIZE(SandboxLimits, disk_bytes), .min = MB, .initial = "64GB", .help = "what may be written" },
        { "pids", KEY_COUNT(SandboxLimits, pids), .min = 1, .max = 4194303, .initial = "32768", .help = "processes and threads" },
        { "executionTime", KEY_TIME(SandboxLimits, exec_timeout_usec), .help = "wall time of one execution; 0: no ceiling" },
        { "outputLimit", KEY_SIZE(SandboxLimits, output_bytes), .min = 1, .initial = "1GB", .help = "kept of one stream of one execution" },
        { "nofile", KEY_UINT64(SandboxLimits, nofile), .min = 3, .max = 1048576, .initial = "65536", .help = "open files of one process" },
};
static const Shape ceilings_config_shape = SHAPE_OF(ceilings_config, SandboxLimits);

static const ShapeField storage_config_fields[] = {
        { "size", KEY_SIZE(StorageConfig, most_bytes), .max = 1048576 * GB,
          .help = "what all that outlives sandboxes may take of the disk; it grows to that as needed; 0: half of what is free" },
        { "reserve", KEY_SIZE(StorageConfig, begin_bytes), .max = 1048576 * GB, .initial = "2GB",
          .help = "of that, taken when the first such thing is made, and never given back" },
        { "shrinkAfter", KEY_TIME(StorageConfig, shrink_usec), .initial = "10m",
          .help = "room that has been free for so long goes back to the disk; 0: only by `cove depot shrink`" },
};
static const Shape storage_config_shape = SHAPE_OF(storage_config, StorageConfig);

static const ShapeField agents_config_fields[] = {
        { "concurrency", KEY_COUNT(AgentsConfig, concurrency), .max = COUNT_MOST, .help = "executions at once; 0: as many as sandboxes may be" },
        { "maxAttempts", KEY_COUNT(AgentsConfig, attempts_max), .min = 1, .max = 100, .initial = "3",
          .help = "when the sandbox fails, not the program" },
        { "backoff", KEY_TIME(AgentsConfig, backoff_usec), .min = TICK, .max = DAY, .initial = "1s",
          .help = "before the second attempt; doubled each time" },
        { "maxBackoff", KEY_TIME(AgentsConfig, backoff_max_usec), .min = TICK, .max = DAY, .initial = "1m", .help = "between two attempts" },
        { "readyTimeout", KEY_TIME(AgentsConfig, ready_timeout_usec), .min = TICK, .max = DAY, .initial = "30s",
          .help = "for one sandbox to get ready" },
        { "maxQueued", KEY_COUNT(AgentsConfig, queue_max), .min = 1, .max = 1e7, .initial = "100000",
          .help = "executions that wait at once; half of them of one tenant" },
        { "keep", KEY_TIME(AgentsConfig, keep_usec), .min = 1, .initial = "7d", .help = "how long finished executions can be looked at" },
        { "autoCleanup", KEY_BOOL(AgentsConfig, auto_cleanup), .initial = "true", .help = "the sandbox goes when its execution is done" },
        { "webhookSecret", KEY_SECRET(AgentsConfig, webhook_secret), .example = "file:/etc/cove/webhook.key",
          .help = "signs what is sent to callers' webhooks" },
        { "webhookPrivate", KEY_BOOL(AgentsConfig, webhook_private), .help = "tenants' webhooks may lead to this machine and to private networks" },
        { "operationTimeout", KEY_TIME(AgentsConfig, operation_timeout_usec), .min = TICK, .max = DAY, .initial = "5m",
          .help = "around every single operation on a sandbox" },
};
static const Shape agents_config_shape = SHAPE_OF(agents_config, AgentsConfig);

static const ShapeField cleanup_config_fields[] = {
        { "sweepInterval", KEY_TIME(CleanupConfig, sweep_interval_usec), .min = TICK, .max = DAY, .initial = "5m",
                        .help = "how often orphaned, stuck and old ones are looked for" },
        { "batchSize", KEY_COUNT(CleanupConfig, batch_size), .min = 1, .max = 10000, .initial = "50", .help = "at most so many per sweep" },
        { "orphanTimeout", KEY_TIME(CleanupConfig, orphan_timeout_usec), .min = TICK, .initial = "10m",
                        .help = "initializing for longer is orphaned" },
        { "stuckTimeout", KEY_TIME(CleanupConfig, stuck_timeout_usec), .min = TICK, .initial = "30m",
                        .help = "running for longer is stuck; never below the profile's executionTime" },
        { "recordAge", KEY_TIME(CleanupConfig, record_age_usec), .min = TICK, .initial = "1d",
                        .help = "records of ended sandboxes older than this go" },
        { "ageInterval", KEY_TIME(CleanupConfig, age_interval_usec), .min = TICK, .max = DAY, .initial = "15m",
                        .help = "how often the ages of agents' sandboxes are looked at" },
        { "maxAge", KEY_TIME(CleanupConfig, max_age_usec), .min = TICK, .initial = "10m",
                        .help = "of an agent's sandbox; never below the profile's executionTime" },
        { "pressureInterval", KEY_TIME(CleanupConfig, pressure_interval_usec), .max = DAY, .initial = "10s",
                        .help = "how often memory and disk are looked at; 0: never" },
        { "pressureUsage", KEY_NUMBER(CleanupConfig, pressure_usage), .min = 0.05, .max = 1, .initial = "0.8",
                        .help = "emergency beyond this share of quota, memory or disk" },
        { "pressurePsi", KEY_NUMBER(CleanupConfig, pressure_psi), .min = 1, .max = 100, .initial = "50",
                        .help = "emergency beyond this percentage of time stalled for memory" },
        { "reconcileInterval", KEY_TIME(CleanupConfig, reconcile_interval_usec), .min = TICK, .max = 30 * DAY, .initial = "1h",
                        .help = "how often the store is compared with the kernel" },
        { "healthChecks", KEY_BOOL(CleanupConfig, health_checks), .initial = "true", .help = "whether live sandboxes are asked for a sign of life" },
        { "healthInterval", KEY_TIME(CleanupConfig, health_interval_usec), .min = TICK, .max = DAY, .initial = "1m", .help = "how often" },
        { "healthTimeout", KEY_TIME(CleanupConfig, health_timeout_usec), .min = TICK, .max = 3600, .initial = "5s",
                        .help = "how long the answer may take" },
        { "helperTimeout", KEY_TIME(CleanupConfig, helper_timeout_usec), .min = 0.1, .max = 3600, .initial = "30s",
                        .help = "how long cove-spawner, cove-gate or a helper program may stand still before it is replaced, and a start waits for a sandbox's PID 1" },
        { "unhealthyAge", KEY_TIME(CleanupConfig, unhealthy_age_usec), .min = TICK, .initial = "10m",
                        .help = "unhealthy and older than this is ended" },
};
static const Shape cleanup_config_shape = SHAPE_OF(cleanup_config, CleanupConfig);

static const ShapeField metrics_config_fields[] = {
        { "interval", KEY_TIME(MetricsConfig, interval_usec), .min = TICK, .max = DAY, .initial = "1m", .help = "between two rows of history" },
        { "retention", KEY_TIME(MetricsConfig, retention_usec), .min = 1, .initial = "7d", .help = "how long rows are kept; sums per hour stay" },
        { "open", KEY_BOOL(MetricsConfig, open), .help = "GET /metrics without a key" },
        { "maxAgentTypes", KEY_COUNT(MetricsConfig, agent_types_max), .min = 1, .max = 10000, .initial = "64",
          .help = "labels beyond so many become 'other'" },
};
static const Shape metrics_config_shape = SHAPE_OF(metrics_config, MetricsConfig);

static const ShapeField otlp_config_fields[] = {
        { "endpoint", KEY_URL(OtlpConfig, endpoint), .example = "http://127.0.0.1:4318",
          .help = "collector for OTLP over HTTP; without it nothing is sent" },
        { "headers", KEY_HEADERS(OtlpConfig, headers), .max = HEADERS_MAX, .help = "Name: value, as in Authorization: env:OTLP_TOKEN" },
        { "interval", KEY_TIME(OtlpConfig, interval_usec), .min = TICK, .max = DAY, .initial = "1m", .help = "between two batches of metrics" },
        { "traces", KEY_BOOL(OtlpConfig, traces), .initial = "true", .help = "send traces" },
        { "metrics", KEY_BOOL(OtlpConfig, metrics), .initial = "true", .help = "send metrics" },
        { "sampling", KEY_NUMBER(OtlpConfig, sampling), .max = 1, .initial = "1", .help = "share of traces that are sent" },
        { "maxQueued", KEY_COUNT(OtlpConfig, queue_max), .min = 1, .max = COUNT_MOST, .initial = "4096",
          .help = "spans that wait to be sent; more are dropped" },
};
static const Shape otlp_config_shape = SHAPE_OF(otlp_config, OtlpConfig);

static const ShapeField cost_config_fields[] = {
        { "currency", KEY_NAME(CostConfig, currency), .initial = "USD", .help = "of the prices" },
        { "perCpuSecond", KEY_NUMBER(CostConfig, per_cpu_second), .help = "price of a second of one core" },
        { "perGbSecond", KEY_NUMBER(CostConfig, per_gb_second), .help = "price of a gigabyte of memory for a second" },
        { "perEgressGb", KEY_NUMBER(CostConfig, per_egress_gb), .help = "price of a gigabyte that is sent" },
};
static const Shape cost_config_shape = SHAPE_OF(cost_config, CostConfig);

static const ShapeField prediction_config_fields[] = {
        { "automatic", KEY_BOOL(PredictionConfig, automatic), .help = "use recommended limits; false: only show them" },
        { "quantile", KEY_NUMBER(PredictionConfig, quantile), .min = 0.5, .max = 1, .initial = "0.95", .help = "of what was seen" },
        { "margin", KEY_NUMBER(PredictionConfig, margin), .min = 1, .max = 10, .initial = "1.2", .help = "factor on top of it" },
        { "minSamples", KEY_COUNT(PredictionConfig, samples_min), .min = 1, .max = COUNT_MOST, .initial = "20",
          .help = "fewer give no recommendation" },
};
static const Shape prediction_config_shape = SHAPE_OF(prediction_config, PredictionConfig);

static const char *const store_words[] = { "local", "s3" };
static const ShapeNames store_kinds = SHAPE_WORDS(store_words);

static const ShapeField artifacts_config_fields[] = {
        { "enabled", KEY_BOOL(ArtifactsConfig, enabled), .initial = "true", .help = "keep logs, usage and captured files of finished executions" },
        { "kind", KEY_CHOICE(ArtifactsConfig, s3, store_kinds), .help = "local or s3" },
        { "directory", KEY_PATH(ArtifactsConfig, directory), .example = "/srv/cove/artifacts",
          .help = "local: where; default: artifacts below the state directory" },
        { "endpoint", KEY_TEXT(ArtifactsConfig, endpoint), .example = "https://s3.example.org", .help = "s3: URL of the service" },
        { "bucket", KEY_TEXT(ArtifactsConfig, bucket), .example = "cove", .help = "s3" },
        { "region", KEY_TEXT(ArtifactsConfig, region), .example = "us-east-1", .help = "s3" },
        { "accessKey", KEY_SECRET(ArtifactsConfig, access_key), .example = "env:AWS_ACCESS_KEY_ID", .help = "s3" },
        { "secretKey", KEY_SECRET(ArtifactsConfig, secret_key), .example = "env:AWS_SECRET_ACCESS_KEY", .help = "s3" },
        { "prefix", KEY_TEXT(ArtifactsConfig, prefix), .example = "cove/", .help = "s3: in front of every name" },
        { "keep", KEY_TIME(ArtifactsConfig, keep_usec), .initial = "7d", .help = "local: how long; 0: for ever" },
        { "totalSize", KEY_SIZE(ArtifactsConfig, total_bytes), .min = MB, .initial = "10GB", .help = "local: all of them; the oldest go" },
        { "maxFileSize", KEY_SIZE(ArtifactsConfig, file_bytes_max), .min = 1, .max = 100 * GB, .initial = "10MB", .help = "of one captured file" },
        { "maxFiles", KEY_COUNT(ArtifactsConfig, files_max), .max = 10000, .initial = "100", .help = "captured of one execution" },
};
static const Shape artifacts_config_shape = SHAPE_OF(artifacts_config, ArtifactsConfig);

static const ShapeField audit_config_fields[] = {
        { "enabled", KEY_BOOL(AuditConfig, enabled), .initial = "true", .help = "write down every call of the API and every security event" },
        { "reads", KEY_BOOL(AuditConfig, reads), .initial = "true", .help = "also those that only look" },
        { "fileSize", KEY_SIZE(AuditConfig, file_bytes), .min = 4 * KB, .max = 100 * GB, .initial = "64MB", .help = "a new file after so much" },
        { "keep", KEY_TIME(AuditConfig, keep_usec), .help = "how long; 0: for ever" },
        { "totalSize", KEY_SIZE(AuditConfig, total_bytes), .initial = "10GB", .help = "all of them; the oldest go; 0: no limit" },
        { "strangerWindow", KEY_TIME(AuditConfig, stranger_window_usec), .min = 1, .max = DAY, .initial = "1m",
          .help = "calls without a key, beyond the first few, are counted for so long and told by one record" },
        { "reserve", KEY_SIZE(AuditConfig, reserve_bytes), .max = GB, .initial = "16MB",
          .help = "set aside on disk, for records while the disk is full; at most a 32nd of the disk" },
        { "required", KEY_BOOL(AuditConfig, required), .initial = "true", .help = "refuse what changes something while it cannot be written down" },
};
static const Shape audit_config_shape = SHAPE_OF(audit_config, AuditConfig);

static const ShapeField previews_config_fields[] = {
        { "domain", KEY_NAME(PreviewsConfig, domain), .initial = "localhost",
          .help = "PORT-ID.DOMAIN leads to a port inside; browsers know *.localhost without DNS" },
        { "linkTime", KEY_TIME(PreviewsConfig, link_usec), .min = 1, .max = 365 * DAY, .initial = "1h",
          .help = "how long a signed link is good for which nothing else was asked" },
};
static const Shape previews_config_shape = SHAPE_OF(previews_config, PreviewsConfig);

static const ShapeField cors_config_fields[] = {
        { "origins", KEY_STRINGS(CorsConfig, origins), .max = CORS_ORIGINS_MAX, .example = "[https://app.example.org]", .yaml = &origins_yaml,
          .help = "of pages in browsers that may use the API with a key; https://*.example.org: all names below; \"*\": every page" },
        { "loopback", KEY_BOOL(CorsConfig, loopback), .initial = "true",
          .help = "pages of localhost, *.localhost, 127.0.0.0/8 and [::1] may too, those of sandboxes' ports aside" },
        { "maxAge", KEY_TIME(CorsConfig, max_age_usec), .max = DAY, .initial = "10m", .help = "how long a browser need not ask again" },
};
static const Shape cors_config_shape = SHAPE_OF(cors_config, CorsConfig);

static const ShapeField secrets_config_fields[] = {
        { "environment", KEY_STRINGS(SecretsConfig, environment), .max = SECRETS_MAX, .example = "[NPM_TOKEN]",
          .help = "variables of the daemon's environment that every sandbox may have, as secret:env:NAME; they cannot be set or listed" },
};
static const Shape secrets_config_shape = SHAPE_OF(secrets_config, SecretsConfig);

static const ShapeField images_config_fields[] = {
        { "insecureRegistries", KEY_STRINGS(ImagesConfig, insecure), .max = IMAGES_REGISTRIES_MAX, .example = "[registry.lan:5000]",
          .help = "HOST[:PORT] that is spoken to without TLS; this machine's own always are, for the operator, and for tenants when they are listed" },
        { "caFile", KEY_PATH(ImagesConfig, ca_file), .example = "/etc/cove/registry-ca.pem",
          .help = "authorities (PEM) of registries that count beside the host's" },
        { "maxSize", KEY_SIZE(ImagesConfig, image_bytes_max), .min = MB, .initial = "32GB", .help = "of one image, unpacked" },
        { "stallTime", KEY_TIME(ImagesConfig, stall_usec), .min = 1, .max = 3600, .initial = "30s",
          .help = "a registry that sends nothing for so long is given up" },
        { "keepBlobs", KEY_BOOL(ImagesConfig, keep_blobs), .initial = "true",
          .help = "keep the compressed layers of templates, so that a push has the digests of the pull" },
        { "keepCacheFor", KEY_TIME(ImagesConfig, keep_cache_usec), .initial = "7d", .help = "steps of builds that nobody has used for so long go" },
        { "gcInterval", KEY_TIME(ImagesConfig, gc_interval_usec), .initial = "1h",
          .help = "how often what no template, sandbox or snapshot uses is removed; 0: never" },
        { "keepMakings", KEY_TIME(ImagesConfig, keep_makings_usec), .initial = "7d", .help = "records and logs of pulls, builds and the like" },
        { "maxMakings", KEY_COUNT(ImagesConfig, makings_max), .min = 1, .max = 1000, .initial = "16", .help = "pulls, builds and the like at once; the first of each tenant may always begin" },
};
static const Shape images_config_shape = SHAPE_OF(images_config, ImagesConfig);

static const ShapeField recording_config_fields[] = {
        { "default", KEY_BOOL(RecordingConfig, by_default), .help = "record what goes into every sandbox, also where nobody asks for it" },
        { "maxSize", KEY_SIZE(RecordingConfig, bytes_max), .min = KB, .initial = "256MB",
          .help = "of the contents of one recording; what is beyond it is only named" },
        { "totalSize", KEY_SIZE(RecordingConfig, total_bytes), .initial = "10GB",
          .help = "all of them; of the tenant that holds most, the oldest whose sandbox has ended go; 0: no limit" },
        { "keep", KEY_TIME(RecordingConfig, keep_usec), .initial = "7d", .help = "how long after a sandbox's end; 0: for ever" },
};
static const Shape recording_config_shape = SHAPE_OF(recording_config, RecordingConfig);

static const char *const build_words[_BUILD_NETWORK_MAX] = { "none", "packages", "open" };
static const ShapeNames build_networks = SHAPE_WORDS(build_words);

static const ShapeField build_config_fields[] = {
        { "profile", KEY_NAME(BuildConfig, profile), .example = "BUILD",
          .help = "whose limits and policy the steps of a build have; none: the limits below" },
        { "memory", KEY_SIZE(BuildConfig, memory_bytes), .min = 4 * MB, .initial = "2GB", .help = "of a step" },
        { "cpus", KEY_CORES(BuildConfig, cpu_milli), .max = 4096, .help = "cores at once; 0: no limit" },
        { "disk", KEY_SIZE(BuildConfig, disk_bytes), .min = MB, .initial = "10GB", .help = "what a stage may write" },
        { "processes", KEY_COUNT(BuildConfig, pids), .min = 1, .max = 1e6, .initial = "4096", .help = "at once" },
        { "network", KEY_ENUM(BuildConfig, network, build_networks), .initial = "packages",
          .help = "of a build that names none: none, packages (registries, see network.packages), or open (all that is public); a profile's policy can say more" },
        { "stepTimeout", KEY_TIME(BuildConfig, step_usec), .initial = "1h", .help = "how long one step may take; 0: as long as it likes" },
        { "maxContext", KEY_SIZE(BuildConfig, context_bytes_max), .min = MB, .initial = "2GB", .help = "of the files that are sent with a build" },
};
static const Shape build_config_shape = SHAPE_OF(build_config, BuildConfig);

static const char *const internet_words[_E2B_INTERNET_MAX] = { "false", "packages", "true" };
static const ShapeNames e2b_internet_names = SHAPE_WORDS(internet_words);

static const ShapeField e2b_config_fields[] = {
        { "enabled", KEY_BOOL(E2bConfig, enabled), .initial = "true", .help = "answer programs that are written for E2B" },
        { "template", KEY_NAME(E2bConfig, template_name), .initial = "base", .help = "what they mean by the template 'base'" },
        { "profile", KEY_NAME(E2bConfig, profile), .example = "IMPLEMENTATION",
          .help = "limits and policy of their sandboxes; none: those that sandboxes have without one" },
        { "domain", KEY_NAME(E2bConfig, domain), .example = "sandboxes.example.org",
          .help = "PORT-ID.DOMAIN leads to a port inside, and clients are told so; none: they ask where they have asked" },
        { "internet", KEY_ENUM(E2bConfig, internet, e2b_internet_names), .initial = "true",
          .help = "what sandboxes reach through the gate whose maker says nothing about it: true (all that is public), packages (registries), false (nothing)" },
        { "disk", KEY_SIZE(E2bConfig, disk_bytes), .min = MB, .initial = "1GB", .help = "of a sandbox, where disks are kept and no profile says it" },
        { "timeout", KEY_TIME(E2bConfig, timeout_usec), .min = 1, .max = 365 * DAY, .initial = "5m",
          .help = "how long a sandbox lives for which nothing is said" },
        { "maxTimeout", KEY_TIME(E2bConfig, timeout_max_usec), .min = 1, .max = 3650 * DAY, .initial = "1d",
          .help = "the most that may be asked for" },
};
static const Shape e2b_config_shape = SHAPE_OF(e2b_config, E2bConfig);

#define SECTION(the_name, member, the_help, the_shape) \
        { the_name, SHAPE_OBJECT, offsetof(Config, member), .shape = &(the_shape), .help = the_help }
#define ITEMS(the_name, member, the_shape, the_yaml) \
        the_name, SHAPE_LIST, offsetof(Config, member), .count = offsetof(Config, n_##member), .shape = &(the_shape), .yaml = &(the_yaml)

static const ShapeField config_fields[] = {
        { NULL, SHAPE_TEXT, offsetof(Config, path) },
        SECTION("limits", limits, "what the daemon takes on", limits_config_shape),
        SECTION("ceilings", ceilings, "the most that a key may ask for a sandbox without a profile, admins aside", ceilings_config_shape),
        SECTION("storage", storage, "templates, snapshots, disks and volumes", storage_config_shape),
        { ITEMS("profiles", profiles, profile_config_shape, profiles_yaml), .example = "REVIEW",
          .help = "NAME: limits of an agent type; the five of the box are there, and can be changed here" },
        { ITEMS("pools", pools, pool_config_shape, pools_yaml), .max = POOLS_MAX,
          .help = "sandboxes that are made ahead of demand; bare numbers are milliseconds" },
        { ITEMS("zygotes", zygotes, zygote_config_shape, zygotes_yaml), .max = ZYGOTES_MAX,
          .help = "interpreters with modules loaded, forked into sandboxes; taken at the start only" },
        SECTION("agents", agents, "agent executions", agents_config_shape),
        SECTION("cleanup", cleanup, "sweeps, health checks, reconciliation", cleanup_config_shape),
        SECTION("alerts", alerts, "rules, and where alerts go", alerts_config_shape),
        SECTION("metrics", metrics, "history and GET /metrics", metrics_config_shape),
        SECTION("otlp", otlp, "traces and metrics for a collector", otlp_config_shape),
        SECTION("cost", cost, "prices", cost_config_shape),
        SECTION("recommendations", prediction, "limits from what was seen", prediction_config_shape),
        SECTION("artifacts", artifacts, "what is kept of finished executions", artifacts_config_shape),
        SECTION("audit", audit, "who did what", audit_config_shape),
        SECTION("previews", previews, "ports inside, as URLs", previews_config_shape),
        SECTION("cors", cors, "which pages in browsers may use the API", cors_config_shape),
        SECTION("network", network, "what is around sandboxes that have a way out", network_config_shape),
        SECTION("secrets", secrets, "secrets that others keep", secrets_config_shape),
        SECTION("images", images, "templates: registries, size, what is kept", images_config_shape),
        SECTION("recording", recording, "what goes into sandboxes, for a replay", recording_config_shape),
        SECTION("e2b", e2b, "programs that are written for E2B", e2b_config_shape),
        SECTION("build", build, "what steps of `cove template build` may use", build_config_shape),
        { "daemon", SHAPE_STRV, offsetof(Config, daemon), .max = DAEMON_OPTIONS_MAX, .yaml = &daemon_yaml,
          .help = "options of `cove serve`, by the same names; taken at the start only" },
};
const Shape config_shape = SHAPE_OF(config, Config);
