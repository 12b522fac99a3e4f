/* schema.c: the sections, and the keys of the plain ones. */

#include "config/schema.h"

#define DAY        86400.0
#define KB         1024.0
#define MB         1048576.0
#define GB         1073741824.0
#define TICK       0.01 /* seconds; the shortest interval */
#define COUNT_MOST 1e6
#define ID_RANGES_MOST 49151 /* as in jail/ids.h */

#define DAEMON_OPTIONS_MAX 128
#define HEADERS_MAX        64
#define SECRETS_MAX        256

static const ShapeField limits_config_fields[] = {
        { "profile", KEY_NAME(LimitsConfig, profile), .example = "IMPLEMENTATION",
          .help = "profile of sandboxes for which neither the request nor its key or tenant names one; does not apply to admins" },
        { "maxSandboxes", KEY_COUNT(LimitsConfig, sandboxes_max), .max = COUNT_MOST,
          .help = "live sandboxes at once; 0: as many as the machine's memory allows" },
        { "maxPerTenant", KEY_COUNT(LimitsConfig, tenant_max), .max = COUNT_MOST,
          .help = "live sandboxes at once of a tenant without a quota of its own; 0: no limit" },
        { "queueTimeout", KEY_TIME(LimitsConfig, queue_timeout_usec), .max = DAY, .initial = "30s",
          .help = "how long a request waits for a place, unless it says otherwise" },
        { "maxQueued", KEY_COUNT(LimitsConfig, queue_max), .max = COUNT_MOST, .initial = "10000", .help = "waiting requests at once; one tenant may have half of them" },
        { "answerMemory", KEY_SIZE(LimitsConfig, answer_bytes), .min = 8 * MB, .initial = "128MB",
          .help = "memory for answers that clients have not read yet; one tenant may use half of it" },
        { "diskReserve", KEY_SIZE(LimitsConfig, disk_reserve_bytes), .initial = "256MB",
          .help = "with less free disk space than this, new work is refused and output is cut short" },
        { "idRanges", KEY_COUNT(LimitsConfig, id_ranges), .min = 1, .max = ID_RANGES_MOST, .initial = "12288",
          .help = "ranges of 65,536 user ids, from 1073741824 on: each live sandbox needs one; ranges with ids of users are left out; read at the start only" },
};
static const Shape limits_config_shape = SHAPE_OF(limits_config, LimitsConfig);

/* The keys have the same names as in profiles. */
static const ShapeField ceilings_config_fields[] = {
        { "memory", KEY_SIZE(SandboxLimits, memory_bytes), .help = "memory; 0: the machine's" },
        { "cpuCores", KEY_CORES(SandboxLimits, cpu_milli), .max = 4096, .help = "cores at once; 0: the machine's" },
        { "cpuTime", KEY_TIME(SandboxLimits, cpu_time_usec), .help = "CPU time of all processes together; 0: no ceiling" },
        { "storage", KEY_SIZE(SandboxLimits, disk_bytes), .min = MB, .initial = "64GB", .help = "disk space" },
        { "pids", KEY_COUNT(SandboxLimits, pids), .min = 1, .max = 4194303, .initial = "32768", .help = "processes and threads" },
        { "executionTime", KEY_TIME(SandboxLimits, exec_timeout_usec), .help = "wall time of one execution; 0: no ceiling" },
        { "outputLimit", KEY_SIZE(SandboxLimits, output_bytes), .min = 1, .initial = "1GB", .help = "output kept of each stream of an execution" },
        { "nofile", KEY_UINT64(SandboxLimits, nofile), .min = 3, .max = 1048576, .initial = "65536", .help = "open files of one process" },
};
static const Shape ceilings_config_shape = SHAPE_OF(ceilings_config, SandboxLimits);

static const ShapeField storage_config_fields[] = {
        { "size", KEY_SIZE(StorageConfig, most_bytes), .max = 1048576 * GB,
          .help = "maximum size of the depot, which holds all data that outlives sandboxes and grows as needed; 0: half of the free disk space" },
        { "reserve", KEY_SIZE(StorageConfig, begin_bytes), .max = 1048576 * GB, .initial = "2GB",
          .help = "part of storage.size that is taken when the depot is created, and never given back" },
        { "shrinkAfter", KEY_TIME(StorageConfig, shrink_usec), .initial = "10m",
          .help = "space in the depot that has been free for this time is returned to the disk; 0: only by `cove depot shrink`" },
};
static const Shape storage_config_shape = SHAPE_OF(storage_config, StorageConfig);

static const ShapeField agents_config_fields[] = {
        { "concurrency", KEY_COUNT(AgentsConfig, concurrency), .max = COUNT_MOST, .help = "executions at once; 0: up to the limit on sandboxes" },
        { "maxAttempts", KEY_COUNT(AgentsConfig, attempts_max), .min = 1, .max = 100, .initial = "3",
          .help = "attempts if the sandbox, not the program, fails" },
        { "backoff", KEY_TIME(AgentsConfig, backoff_usec), .min = TICK, .max = DAY, .initial = "1s",
          .help = "pause before the second attempt; doubled each time" },
        { "maxBackoff", KEY_TIME(AgentsConfig, backoff_max_usec), .min = TICK, .max = DAY, .initial = "1m", .help = "maximum pause between two attempts" },
        { "readyTimeout", KEY_TIME(AgentsConfig, ready_timeout_usec), .min = TICK, .max = DAY, .initial = "30s",
          .help = "how long a sandbox may take to get ready" },
        { "maxQueued", KEY_COUNT(AgentsConfig, queue_max), .min = 1, .max = 1e7, .initial = "100000",
          .help = "waiting executions at once; one tenant may have half of them" },
        { "keep", KEY_TIME(AgentsConfig, keep_usec), .min = 1, .initial = "7d", .help = "how long finished executions are kept" },
        { "autoCleanup", KEY_BOOL(AgentsConfig, auto_cleanup), .initial = "true", .help = "remove the sandbox when its execution has ended" },
        { "webhookSecret", KEY_SECRET(AgentsConfig, webhook_secret), .example = "file:/etc/cove/webhook.key",
          .help = "key that signs requests to callers' webhooks" },
        { "webhookPrivate", KEY_BOOL(AgentsConfig, webhook_private), .help = "permit tenants' webhooks on this machine and in private networks" },
        { "operationTimeout", KEY_TIME(AgentsConfig, operation_timeout_usec), .min = TICK, .max = DAY, .initial = "5m",
          .help = "timeout of every single operation on a sandbox" },
};
static const Shape agents_config_shape = SHAPE_OF(agents_config, AgentsConfig);

static const ShapeField cleanup_config_fields[] = {
        { "sweepInterval", KEY_TIME(CleanupConfig, sweep_interval_usec), .min = TICK, .max = DAY, .initial = "5m",
                        .help = "how often orphaned, stuck and old sandboxes are looked for" },
        { "batchSize", KEY_COUNT(CleanupConfig, batch_size), .min = 1, .max = 10000, .initial = "50", .help = "maximum of sandboxes per sweep" },
        { "orphanTimeout", KEY_TIME(CleanupConfig, orphan_timeout_usec), .min = TICK, .initial = "10m",
                        .help = "a sandbox that initializes for longer is orphaned" },
        { "stuckTimeout", KEY_TIME(CleanupConfig, stuck_timeout_usec), .min = TICK, .initial = "30m",
                        .help = "a command that runs for longer is stuck; never below the profile's executionTime" },
        { "recordAge", KEY_TIME(CleanupConfig, record_age_usec), .min = TICK, .initial = "1d",
                        .help = "age at which records of ended sandboxes are removed" },
        { "ageInterval", KEY_TIME(CleanupConfig, age_interval_usec), .min = TICK, .max = DAY, .initial = "15m",
                        .help = "how often the ages of agents' sandboxes are checked" },
        { "maxAge", KEY_TIME(CleanupConfig, max_age_usec), .min = TICK, .initial = "10m",
                        .help = "maximum age of an agent's sandbox; never below the profile's executionTime" },
        { "pressureInterval", KEY_TIME(CleanupConfig, pressure_interval_usec), .max = DAY, .initial = "10s",
                        .help = "how often memory and disk are checked; 0: never" },
        { "pressureUsage", KEY_NUMBER(CleanupConfig, pressure_usage), .min = 0.05, .max = 1, .initial = "0.8",
                        .help = "emergency clean-up beyond this share of quota, memory or disk" },
        { "pressurePsi", KEY_NUMBER(CleanupConfig, pressure_psi), .min = 1, .max = 100, .initial = "50",
                        .help = "emergency clean-up beyond this percentage of time stalled for memory" },
        { "reconcileInterval", KEY_TIME(CleanupConfig, reconcile_interval_usec), .min = TICK, .max = 30 * DAY, .initial = "1h",
                        .help = "how often the database is compared with the kernel" },
        { "healthChecks", KEY_BOOL(CleanupConfig, health_checks), .initial = "true", .help = "check that live sandboxes respond" },
        { "healthInterval", KEY_TIME(CleanupConfig, health_interval_usec), .min = TICK, .max = DAY, .initial = "1m", .help = "how often live sandboxes are checked" },
        { "healthTimeout", KEY_TIME(CleanupConfig, health_timeout_usec), .min = TICK, .max = 3600, .initial = "5s",
                        .help = "how long a sandbox may take to respond" },
        { "helperTimeout", KEY_TIME(CleanupConfig, helper_timeout_usec), .min = 0.1, .max = 3600, .initial = "30s",
                        .help = "how long cove-spawner, cove-gate or a helper program may hang before it is replaced, and how long a start waits for a sandbox's PID 1" },
        { "unhealthyAge", KEY_TIME(CleanupConfig, unhealthy_age_usec), .min = TICK, .initial = "10m",
                        .help = "age at which an unhealthy sandbox is ended" },
};
static const Shape cleanup_config_shape = SHAPE_OF(cleanup_config, CleanupConfig);

static const ShapeField metrics_config_fields[] = {
        { "interval", KEY_TIME(MetricsConfig, interval_usec), .min = TICK, .max = DAY, .initial = "1m", .help = "time between two rows of history" },
        { "retention", KEY_TIME(MetricsConfig, retention_usec), .min = 1, .initial = "7d", .help = "how long rows are kept; hourly sums stay" },
        { "open", KEY_BOOL(MetricsConfig, open), .help = "permit GET /metrics without a key" },
        { "maxAgentTypes", KEY_COUNT(MetricsConfig, agent_types_max), .min = 1, .max = 10000, .initial = "64",
          .help = "maximum of agent types used as labels; further ones become 'other'" },
};
static const Shape metrics_config_shape = SHAPE_OF(metrics_config, MetricsConfig);

static const ShapeField otlp_config_fields[] = {
        { "endpoint", KEY_URL(OtlpConfig, endpoint), .example = "http://127.0.0.1:4318",
          .help = "OTLP/HTTP collector; without it nothing is sent" },
        { "headers", KEY_HEADERS(OtlpConfig, headers), .max = HEADERS_MAX, .help = "Name: value, as in Authorization: env:OTLP_TOKEN" },
        { "interval", KEY_TIME(OtlpConfig, interval_usec), .min = TICK, .max = DAY, .initial = "1m", .help = "time between two batches of metrics" },
        { "traces", KEY_BOOL(OtlpConfig, traces), .initial = "true", .help = "send traces" },
        { "metrics", KEY_BOOL(OtlpConfig, metrics), .initial = "true", .help = "send metrics" },
        { "sampling", KEY_NUMBER(OtlpConfig, sampling), .max = 1, .initial = "1", .help = "share of traces that are sent" },
        { "maxQueued", KEY_COUNT(OtlpConfig, queue_max), .min = 1, .max = COUNT_MOST, .initial = "4096",
          .help = "spans waiting to be sent; further ones are dropped" },
};
static const Shape otlp_config_shape = SHAPE_OF(otlp_config, OtlpConfig);

static const ShapeField cost_config_fields[] = {
        { "currency", KEY_NAME(CostConfig, currency), .initial = "USD", .help = "currency of the prices" },
        { "perCpuSecond", KEY_NUMBER(CostConfig, per_cpu_second), .help = "price of a second of one core" },
        { "perGbSecond", KEY_NUMBER(CostConfig, per_gb_second), .help = "price of a gigabyte of memory for a second" },
        { "perEgressGb", KEY_NUMBER(CostConfig, per_egress_gb), .help = "price of a gigabyte that is sent" },
};
static const Shape cost_config_shape = SHAPE_OF(cost_config, CostConfig);

static const ShapeField prediction_config_fields[] = {
        { "automatic", KEY_BOOL(PredictionConfig, automatic), .help = "use recommended limits; false: only show them" },
        { "quantile", KEY_NUMBER(PredictionConfig, quantile), .min = 0.5, .max = 1, .initial = "0.95", .help = "quantile of the measurements" },
        { "margin", KEY_NUMBER(PredictionConfig, margin), .min = 1, .max = 10, .initial = "1.2", .help = "factor applied to the quantile" },
        { "minSamples", KEY_COUNT(PredictionConfig, samples_min), .min = 1, .max = COUNT_MOST, .initial = "20",
          .help = "minimum of measurements for a recommendation" },
};
static const Shape prediction_config_shape = SHAPE_OF(prediction_config, PredictionConfig);

static const char *const store_words[] = { "local", "s3" };
static const ShapeNames store_kinds = SHAPE_WORDS(store_words);

static const ShapeField artifacts_config_fields[] = {
        { "enabled", KEY_BOOL(ArtifactsConfig, enabled), .initial = "true", .help = "keep logs, usage and captured files of finished executions" },
        { "kind", KEY_CHOICE(ArtifactsConfig, s3, store_kinds), .help = "local or s3" },
        { "directory", KEY_PATH(ArtifactsConfig, directory), .example = "/srv/cove/artifacts",
          .help = "local: path; default: artifacts in the state directory" },
        { "endpoint", KEY_TEXT(ArtifactsConfig, endpoint), .example = "https://s3.example.org", .help = "s3: URL of the service" },
        { "bucket", KEY_TEXT(ArtifactsConfig, bucket), .example = "cove", .help = "s3: name of the bucket" },
        { "region", KEY_TEXT(ArtifactsConfig, region), .example = "us-east-1", .help = "s3: region of the bucket" },
        { "accessKey", KEY_SECRET(ArtifactsConfig, access_key), .example = "env:AWS_ACCESS_KEY_ID", .help = "s3: access key" },
        { "secretKey", KEY_SECRET(ArtifactsConfig, secret_key), .example = "env:AWS_SECRET_ACCESS_KEY", .help = "s3: secret key" },
        { "prefix", KEY_TEXT(ArtifactsConfig, prefix), .example = "cove/", .help = "s3: prefix of every object's name" },
        { "keep", KEY_TIME(ArtifactsConfig, keep_usec), .initial = "7d", .help = "local: how long artifacts are kept; 0: for ever" },
        { "totalSize", KEY_SIZE(ArtifactsConfig, total_bytes), .min = MB, .initial = "10GB", .help = "local: total size; beyond it the oldest are removed" },
        { "maxFileSize", KEY_SIZE(ArtifactsConfig, file_bytes_max), .min = 1, .max = 100 * GB, .initial = "10MB", .help = "maximum size of a captured file" },
        { "maxFiles", KEY_COUNT(ArtifactsConfig, files_max), .max = 10000, .initial = "100", .help = "maximum of captured files per execution" },
};
static const Shape artifacts_config_shape = SHAPE_OF(artifacts_config, ArtifactsConfig);

static const ShapeField audit_config_fields[] = {
        { "enabled", KEY_BOOL(AuditConfig, enabled), .initial = "true", .help = "record every call of the API and every security event" },
        { "reads", KEY_BOOL(AuditConfig, reads), .initial = "true", .help = "also record calls that only read" },
        { "fileSize", KEY_SIZE(AuditConfig, file_bytes), .min = 4 * KB, .max = 100 * GB, .initial = "64MB", .help = "size at which a new file is started" },
        { "keep", KEY_TIME(AuditConfig, keep_usec), .help = "how long records are kept; 0: for ever" },
        { "totalSize", KEY_SIZE(AuditConfig, total_bytes), .initial = "10GB", .help = "total size; beyond it the oldest files are removed; 0: no limit" },
        { "strangerWindow", KEY_TIME(AuditConfig, stranger_window_usec), .min = 1, .max = DAY, .initial = "1m",
          .help = "calls without a key, beyond the first few, are counted for this time and reported in one record" },
        { "reserve", KEY_SIZE(AuditConfig, reserve_bytes), .max = GB, .initial = "16MB",
          .help = "disk space reserved for records while the disk is full; at most a 32nd of the disk" },
        { "required", KEY_BOOL(AuditConfig, required), .initial = "true", .help = "refuse calls that change something while they cannot be recorded" },
};
static const Shape audit_config_shape = SHAPE_OF(audit_config, AuditConfig);

static const ShapeField previews_config_fields[] = {
        { "domain", KEY_NAME(PreviewsConfig, domain), .initial = "localhost",
          .help = "ports inside are at PORT-ID.DOMAIN; browsers resolve *.localhost without DNS" },
        { "linkTime", KEY_TIME(PreviewsConfig, link_usec), .min = 1, .max = 365 * DAY, .initial = "1h",
          .help = "validity of a signed link, unless the request gives another" },
};
static const Shape previews_config_shape = SHAPE_OF(previews_config, PreviewsConfig);

static const ShapeField cors_config_fields[] = {
        { "origins", KEY_STRINGS(CorsConfig, origins), .max = CORS_ORIGINS_MAX, .example = "[https://app.example.org]", .yaml = &origins_yaml,
          .help = "origins of pages that may use the API with a key; https://*.example.org: all names below; \"*\": every page" },
        { "loopback", KEY_BOOL(CorsConfig, loopback), .initial = "true",
          .help = "permit pages of localhost, *.localhost, 127.0.0.0/8 and [::1] too, except those of sandboxes' ports" },
        { "maxAge", KEY_TIME(CorsConfig, max_age_usec), .max = DAY, .initial = "10m", .help = "how long a browser may cache the answer to a preflight request" },
};
static const Shape cors_config_shape = SHAPE_OF(cors_config, CorsConfig);

static const ShapeField secrets_config_fields[] = {
        { "environment", KEY_STRINGS(SecretsConfig, environment), .max = SECRETS_MAX, .example = "[NPM_TOKEN]",
          .help = "variables of the daemon's environment that every sandbox may use as secret:env:NAME; they cannot be set or listed" },
};
static const Shape secrets_config_shape = SHAPE_OF(secrets_config, SecretsConfig);

static const ShapeField images_config_fields[] = {
        { "insecureRegistries", KEY_STRINGS(ImagesConfig, insecure), .max = IMAGES_REGISTRIES_MAX, .example = "[registry.lan:5000]",
          .help = "registries, as HOST[:PORT], that are contacted without TLS; those of this machine always are for the operator, and for tenants if listed" },
        { "caFile", KEY_PATH(ImagesConfig, ca_file), .example = "/etc/cove/registry-ca.pem",
          .help = "authorities (PEM) of registries to trust in addition to the host's" },
        { "maxSize", KEY_SIZE(ImagesConfig, image_bytes_max), .min = MB, .initial = "32GB", .help = "maximum size of an image, unpacked" },
        { "stallTime", KEY_TIME(ImagesConfig, stall_usec), .min = 1, .max = 3600, .initial = "30s",
          .help = "how long a registry may send nothing before the transfer is given up" },
        { "keepBlobs", KEY_BOOL(ImagesConfig, keep_blobs), .initial = "true",
          .help = "keep the compressed layers of templates, so that a push has the digests of the pull" },
        { "keepCacheFor", KEY_TIME(ImagesConfig, keep_cache_usec), .initial = "7d", .help = "how long a cached build step is kept after its last use" },
        { "gcInterval", KEY_TIME(ImagesConfig, gc_interval_usec), .initial = "1h",
          .help = "how often unused layers and blobs are removed; 0: never" },
        { "keepMakings", KEY_TIME(ImagesConfig, keep_makings_usec), .initial = "7d", .help = "how long records and logs of pulls, builds and similar jobs are kept" },
        { "maxMakings", KEY_COUNT(ImagesConfig, makings_max), .min = 1, .max = 1000, .initial = "16", .help = "pulls, builds and similar jobs at once; the first one of each tenant always runs" },
};
static const Shape images_config_shape = SHAPE_OF(images_config, ImagesConfig);

static const ShapeField recording_config_fields[] = {
        { "default", KEY_BOOL(RecordingConfig, by_default), .help = "record the input of every sandbox, even if the request does not ask for it" },
        { "maxSize", KEY_SIZE(RecordingConfig, bytes_max), .min = KB, .initial = "256MB",
          .help = "contents kept of a recording; beyond it only size and hash" },
        { "totalSize", KEY_SIZE(RecordingConfig, total_bytes), .initial = "10GB",
          .help = "total size; beyond it the oldest recordings of ended sandboxes are removed, of the tenant that holds most; 0: no limit" },
        { "keep", KEY_TIME(RecordingConfig, keep_usec), .initial = "7d", .help = "how long a recording is kept after the sandbox's end; 0: for ever" },
};
static const Shape recording_config_shape = SHAPE_OF(recording_config, RecordingConfig);

static const char *const build_words[_BUILD_NETWORK_MAX] = { "none", "packages", "open" };
static const ShapeNames build_networks = SHAPE_WORDS(build_words);

static const ShapeField build_config_fields[] = {
        { "profile", KEY_NAME(BuildConfig, profile), .example = "BUILD",
          .help = "profile for the limits and policy of build steps; none: the limits below" },
        { "memory", KEY_SIZE(BuildConfig, memory_bytes), .min = 4 * MB, .initial = "2GB", .help = "memory of a step" },
        { "cpus", KEY_CORES(BuildConfig, cpu_milli), .max = 4096, .help = "cores at once; 0: no limit" },
        { "disk", KEY_SIZE(BuildConfig, disk_bytes), .min = MB, .initial = "10GB", .help = "disk of a stage" },
        { "processes", KEY_COUNT(BuildConfig, pids), .min = 1, .max = 1e6, .initial = "4096", .help = "processes at once" },
        { "network", KEY_ENUM(BuildConfig, network, build_networks), .initial = "packages",
          .help = "network of a build that gives none: none, packages (registries, see network.packages), or open (all public addresses); a profile's policy may allow more" },
        { "stepTimeout", KEY_TIME(BuildConfig, step_usec), .initial = "1h", .help = "timeout of a step; 0: none" },
        { "maxContext", KEY_SIZE(BuildConfig, context_bytes_max), .min = MB, .initial = "2GB", .help = "maximum size of the files that are sent with a build" },
};
static const Shape build_config_shape = SHAPE_OF(build_config, BuildConfig);

static const char *const internet_words[_E2B_INTERNET_MAX] = { "false", "packages", "true" };
static const ShapeNames e2b_internet_names = SHAPE_WORDS(internet_words);

static const ShapeField e2b_config_fields[] = {
        { "enabled", KEY_BOOL(E2bConfig, enabled), .initial = "true", .help = "serve programs that are written for E2B" },
        { "template", KEY_NAME(E2bConfig, template_name), .initial = "base", .help = "template that their name 'base' stands for" },
        { "profile", KEY_NAME(E2bConfig, profile), .example = "IMPLEMENTATION",
          .help = "profile for the limits and policy of their sandboxes; none: the defaults of sandboxes without a profile" },
        { "domain", KEY_NAME(E2bConfig, domain), .example = "sandboxes.example.org",
          .help = "ports inside are at PORT-ID.DOMAIN, and clients are told so; none: clients use the address of the API" },
        { "internet", KEY_ENUM(E2bConfig, internet, e2b_internet_names), .initial = "true",
          .help = "network access through the gate where the request gives none: true (all public addresses), packages (registries), false (nothing)" },
        { "disk", KEY_SIZE(E2bConfig, disk_bytes), .min = MB, .initial = "10GB", .help = "disk of a sandbox, if disks are kept and no profile gives a limit, and size of a volume; a quarter of the tenant's disk quota at most" },
        { "timeout", KEY_TIME(E2bConfig, timeout_usec), .min = 1, .max = 365 * DAY, .initial = "5m",
          .help = "life of a sandbox for which the request gives none" },
        { "maxTimeout", KEY_TIME(E2bConfig, timeout_max_usec), .min = 1, .max = 3650 * DAY, .initial = "1d",
          .help = "maximum life that a request may give" },
};
static const Shape e2b_config_shape = SHAPE_OF(e2b_config, E2bConfig);

#define SECTION(the_name, member, the_help, the_shape) \
        { the_name, SHAPE_OBJECT, offsetof(Config, member), .shape = &(the_shape), .help = the_help }
#define ITEMS(the_name, member, the_shape, the_yaml) \
        the_name, SHAPE_LIST, offsetof(Config, member), .count = offsetof(Config, n_##member), .shape = &(the_shape), .yaml = &(the_yaml)

static const ShapeField config_fields[] = {
        { NULL, SHAPE_TEXT, offsetof(Config, path) },
        SECTION("limits", limits, "limits of the daemon", limits_config_shape),
        SECTION("ceilings", ceilings, "maximum values in requests for sandboxes without a profile; do not apply to admins", ceilings_config_shape),
        SECTION("storage", storage, "templates, snapshots, disks and volumes", storage_config_shape),
        { ITEMS("profiles", profiles, profile_config_shape, profiles_yaml), .example = "REVIEW",
          .help = "NAME: limits of an agent type; the five built-in ones can be changed here" },
        { ITEMS("pools", pools, pool_config_shape, pools_yaml), .max = POOLS_MAX,
          .help = "sandboxes created ahead of demand; bare numbers are milliseconds" },
        { ITEMS("zygotes", zygotes, zygote_config_shape, zygotes_yaml), .max = ZYGOTES_MAX,
          .help = "interpreters with loaded modules, forked into sandboxes; read at the start only" },
        SECTION("agents", agents, "agent executions", agents_config_shape),
        SECTION("cleanup", cleanup, "sweeps, health checks and reconciliation", cleanup_config_shape),
        SECTION("alerts", alerts, "rules and channels of alerts", alerts_config_shape),
        SECTION("metrics", metrics, "history and GET /metrics", metrics_config_shape),
        SECTION("otlp", otlp, "traces and metrics for a collector", otlp_config_shape),
        SECTION("cost", cost, "prices", cost_config_shape),
        SECTION("recommendations", prediction, "limits recommended from measurements", prediction_config_shape),
        SECTION("artifacts", artifacts, "files kept of finished executions", artifacts_config_shape),
        SECTION("audit", audit, "audit log", audit_config_shape),
        SECTION("previews", previews, "URLs of ports inside", previews_config_shape),
        SECTION("cors", cors, "browser pages that may use the API", cors_config_shape),
        SECTION("network", network, "network access of sandboxes", network_config_shape),
        SECTION("secrets", secrets, "secrets from other sources", secrets_config_shape),
        SECTION("images", images, "templates: registries, sizes, retention", images_config_shape),
        SECTION("recording", recording, "recordings of sandboxes, for replays", recording_config_shape),
        SECTION("e2b", e2b, "compatibility with programs that are written for E2B", e2b_config_shape),
        SECTION("build", build, "limits of the steps of `cove template build`", build_config_shape),
        { "daemon", SHAPE_STRV, offsetof(Config, daemon), .max = DAEMON_OPTIONS_MAX, .yaml = &daemon_yaml,
          .help = "options of `cove serve`, by the same names; read at the start only" },
};
const Shape config_shape = SHAPE_OF(config, Config);
