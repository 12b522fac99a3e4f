/* config.h: cove.yaml, read and checked.
 *
 * A Config is the whole configuration. It is never changed after it was made: reading the file again makes another one,
 * and all code reads it through Manager.settings. A key that is not in the file has its default, and so has every key
 * without a file. An unknown key in the file is an error with line, column and the nearest known name.
 * Durations are written as in 90s, 5m, 24h, sizes as in 256MB, 1G. A bare number is seconds (pools: milliseconds) or
 * bytes. Secrets may be given as `file:/path` or `env:NAME` instead of the value; they are never printed.
 * Must not know: the loop (reload.h does), HTTP, the store. Knows core/settings.h for its types. */
#pragma once

#include "base/registries.h"
#include "core/settings.h"

#define CONFIG_NAME_MAX 63

typedef enum AlertSeverity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL, _SEVERITY_MAX } AlertSeverity;
typedef enum ChannelKind { CHANNEL_LOG, CHANNEL_SLACK, CHANNEL_WEBHOOK, CHANNEL_PAGERDUTY, CHANNEL_EMAIL, _CHANNEL_MAX } ChannelKind;
extern const ShapeNames alert_severity_names, channel_kind_names;

typedef struct StorageConfig { /* storage: */
        uint64_t most_bytes;  /* most size of the depot, which holds what outlives sandboxes; 0: half of what is free on disk */
        uint64_t begin_bytes; /* its first and least size */
        usec_t shrink_usec;   /* it shrinks when much of it was free for so long; 0: only on request */
} StorageConfig;

typedef struct AgentsConfig { /* agents: */
        unsigned concurrency;        /* executions at once; 0: as many as the daemon allows sandboxes */
        unsigned attempts_max;       /* 3 */
        usec_t backoff_usec;         /* 1 s; doubled each time */
        usec_t backoff_max_usec;     /* 60 s */
        usec_t ready_timeout_usec;   /* 30 s, for one sandbox to become ready */
        unsigned queue_max;          /* 100000 */
        usec_t keep_usec;            /* finished executions: 7 d; dead letters too */
        bool auto_cleanup;           /* the sandbox ends with its execution: true */
        char *webhook_secret;        /* signs messages to callers' webhooks (HMAC-SHA256); NULL: unsigned */
        bool webhook_private;        /* tenants' webhooks may lead to this machine and to private networks: false */
        usec_t operation_timeout_usec; /* of every single operation on a sandbox (B3 171): 5 min */
} AgentsConfig;

typedef struct CleanupConfig { /* cleanup: */
        usec_t sweep_interval_usec;     /* 5 min */
        unsigned batch_size;            /* 50 per sweep */
        usec_t orphan_timeout_usec;     /* 10 min in initializing */
        usec_t stuck_timeout_usec;      /* 30 min; a profile may have its own; never below the profile's wall time */
        usec_t record_age_usec;         /* 24 h; older records of ended sandboxes are removed */
        usec_t age_interval_usec;       /* 15 min */
        usec_t max_age_usec;            /* 10 min; of agents' sandboxes, never below the profile's wall time */
        usec_t pressure_interval_usec;  /* 10 s; 0: off */
        double pressure_usage;          /* 0.8 of quota, memory or disk */
        double pressure_psi;            /* 50: "full avg10" of memory in percent, where the kernel has PSI */
        usec_t reconcile_interval_usec; /* 1 h */
        usec_t health_interval_usec;    /* 60 s */
        usec_t health_timeout_usec;     /* 5 s */
        usec_t helper_timeout_usec;     /* 30 s */
        usec_t unhealthy_age_usec;      /* 10 min: unhealthy and older than this is ended */
        bool health_checks;             /* true */
} CleanupConfig;

typedef struct ChannelConfig { /* alerts.channels.NAME: */
        char name[CONFIG_NAME_MAX + 1];
        ChannelKind kind;
        char *url;          /* slack, webhook, pagerduty; email: smtp://host:port or smtps:// */
        char *secret;       /* pagerduty: routing key; webhook: bearer; email: password */
        char *user;         /* email */
        char *from;         /* email */
        Strv to;            /* email */
        bool starttls;      /* email over smtp://: required when true */
} ChannelConfig;

/* Bits of AlertOverride.said. */
typedef enum AlertOverrideKey { OVERRIDE_THRESHOLD, OVERRIDE_SUSTAINED, OVERRIDE_SEVERITY, OVERRIDE_ENABLED } AlertOverrideKey;

typedef struct AlertOverride { /* alerts.rules.NAME: */
        char name[CONFIG_NAME_MAX + 1];
        uint64_t said; /* bit n: the file has AlertOverrideKey n; other values are the rule's own */
        double threshold;
        usec_t sustained_usec;
        AlertSeverity severity;
        bool enabled;
} AlertOverride;

typedef enum AlertPreset { ALERT_PRESET_MACHINE, ALERT_PRESET_MONOTASK, _ALERT_PRESET_MAX } AlertPreset;

typedef struct AlertsConfig { /* alerts: */
        AlertPreset preset;       /* machine: thresholds are shares of what the daemon allows and has; monotask: fixed numbers */
        bool enabled;             /* true */
        usec_t interval_usec;     /* between two evaluations of the rules: 10 s */
        usec_t cooldown_usec;     /* 1 h; the same alert is not sent again within it */
        ChannelConfig *channels;  /* "log" is always there */
        size_t n_channels;
        Strv routes[_SEVERITY_MAX]; /* names of channels; default: critical to all, warning to slack and webhook, info to log */
        AlertOverride *overrides;
        size_t n_overrides;
        unsigned attempts_max;    /* deliveries: 5 */
        usec_t backoff_usec;      /* 1 s, doubled, up to 5 min */
        unsigned queue_max;       /* undelivered messages at once: 1000; the oldest are dropped and counted */
} AlertsConfig;

typedef struct MetricsConfig { /* metrics: */
        usec_t interval_usec;   /* one row of history: 60 s */
        usec_t retention_usec;  /* of rows: 7 d; sums of hours are kept for ever */
        bool open;              /* GET /metrics without a key: false */
        unsigned agent_types_max; /* 64; labels beyond so many become "other" */
} MetricsConfig;

typedef struct OtlpConfig { /* otlp: */
        char *endpoint;        /* http://host:4318; NULL: off */
        Strv headers;          /* "Name: value" */
        usec_t interval_usec;  /* metrics: 60 s; traces go in batches every 5 s */
        bool traces, metrics;  /* true */
        double sampling;       /* of traces: 1.0 */
        unsigned queue_max;    /* spans: 4096; more are dropped and counted */
} OtlpConfig;

typedef struct CostConfig { /* cost: prices */
        char currency[8];      /* USD */
        double per_cpu_second, per_gb_second, per_egress_gb;
} CostConfig;

typedef struct PredictionConfig { /* recommendations: */
        bool automatic;        /* false: recommended limits are shown only */
        double quantile;       /* 0.95 */
        double margin;         /* 1.2 */
        unsigned samples_min;  /* 20 */
} PredictionConfig;

typedef struct ArtifactsConfig { /* artifacts: */
        bool enabled;          /* true */
        bool s3;               /* kind: local | s3 */
        char *directory;       /* local; NULL: DIR/artifacts */
        char *endpoint, *bucket, *region, *access_key, *secret_key, *prefix; /* s3 */
        usec_t keep_usec;      /* local: 7 d; 0: for ever */
        uint64_t total_bytes;  /* local: 10 GB; the oldest are removed */
        uint64_t file_bytes_max; /* of one captured file: 10 MB */
        unsigned files_max;    /* of one execution: 100 */
} ArtifactsConfig;

typedef struct SecretsConfig { /* secrets: */
        Strv environment; /* variables of the daemon that sandboxes may have as secret:env:NAME */
} SecretsConfig;

typedef struct AuditConfig { /* audit: */
        bool enabled;            /* true */
        bool reads;              /* also GET and HEAD: true */
        uint64_t file_bytes;     /* size after which a new file begins: 64 MB */
        usec_t keep_usec;        /* 0: for ever */
        uint64_t total_bytes;    /* of all files; the oldest are removed: 10 GB; 0: no limit */
        usec_t stranger_window_usec; /* calls without a key are counted for so long, and then share one record: 1 min */
        uint64_t reserve_bytes;  /* disk space allocated ahead of the log's end: 16 MB */
        bool required;           /* calls that change something are refused while no record can be written: true */
} AuditConfig;

typedef struct PreviewsConfig { /* previews: */
        char domain[254];      /* PORT-ID.DOMAIN leads here: localhost */
        usec_t link_usec;      /* lifetime of a signed link, unless the request sets one: 1 h */
} PreviewsConfig;

#define CORS_ORIGINS_MAX 256

typedef struct CorsConfig { /* cors: */
        Strv origins;          /* of pages that may use the API, beside loopback: "https://app.example.org", one with "*." before its host, "*" */
        bool loopback;         /* pages of this machine may use the API: true */
        usec_t max_age_usec;   /* how long a browser may cache the answer to a preflight: 10 min */
} CorsConfig;

typedef struct IpRange IpRange; /* policy/egress.h */

#define NETWORK_REACHABLE_MAX 256
#define NETWORK_DNS_MAX       16
#define NETWORK_PACKAGES_MAX  100
#define NETWORK_NO_PROXY_MAX  64

typedef struct NetworkConfig { /* network: */
        Strv reachable_words;    /* as they were written */
        IpRange *reachable;  /* the same: special ranges that policies may open; none */
        size_t n_reachable;
        Strv packages;           /* what "packages" of a policy stands for: rules, "builtin", "host" */
        Strv packages_rules;     /* the same with both words replaced: rules alone */
        char *proxy;             /* by which they are reached: "host", "none", or a URL */
        Strv no_proxy;           /* names that are reached without, beside the host's own */
        uint64_t gate_bytes;     /* of the gate's memory; 0: by the machine */
        Strv dns;                /* "203.0.113.53:53", "[2001:db8::53]:53"; n == 0: as the host's resolv.conf says */
        bool allow_open;         /* mode open: false */
        unsigned denials_kept;   /* of one sandbox: 500 */
        char *ca_file;           /* authorities (PEM) that count beside the host's, where TLS is opened; NULL: none */
} NetworkConfig;

/* By which proxies package registries are reached, as of now: ret->http_proxy, https_proxy, no_proxy. One that cannot be used is left out, and is
 * *ret_unusable where that is not NULL (to be freed). -ENOMEM; -EOVERFLOW: too many exceptions. */
int network_find_proxy(const NetworkConfig *n, Registries *ret, char **ret_unusable);
const char *network_proxy_failure(int r); /* for people */

/* As policies want it (policy/egress.h). */
#define NETWORK_SITE(n) (&(const EgressSite) { (n)->reachable, (n)->n_reachable, &(n)->packages_rules })

#define IMAGES_REGISTRIES_MAX 64

typedef struct ImagesConfig { /* images: */
        Strv insecure;            /* registries HOST[:PORT] that are spoken to without TLS, beside this machine's own */
        char *ca_file;            /* certificate authorities (PEM), in addition to the host's; NULL: none */
        uint64_t image_bytes_max; /* of one image, unpacked: 32 GB */
        usec_t stall_usec;        /* a registry that sends nothing for so long is given up: 30 s */
        bool keep_blobs;          /* keep compressed layers of named templates, for a push with the same digests: true */
        usec_t keep_cache_usec;   /* build steps that were not used for so long are removed: 7 d */
        usec_t gc_interval_usec;  /* 1 h; 0: only on request */
        usec_t keep_makings_usec; /* records and logs of pulls, builds and the like: 7 d */
        unsigned makings_max;     /* such operations at once: 16 */
} ImagesConfig;

typedef struct RecordingConfig { /* recording: */
        bool by_default;    /* record sandboxes whose creator does not say: false */
        uint64_t bytes_max; /* of one: 256 MB */
        uint64_t total_bytes; /* of all: 10 GB; 0: no limit */
        usec_t keep_usec;   /* after the last line: 7 d; 0: for ever */
} RecordingConfig;

typedef enum BuildNetwork { BUILD_NETWORK_NONE, BUILD_NETWORK_PACKAGES, BUILD_NETWORK_OPEN, _BUILD_NETWORK_MAX } BuildNetwork;

typedef struct BuildConfig { /* build: */
        char profile[PROFILE_NAME_MAX + 1]; /* gives the steps their limits and policy; "": the limits below */
        uint64_t memory_bytes;   /* 2 GB */
        uint32_t cpu_milli;      /* 0: no quota */
        uint64_t disk_bytes;     /* 10 GB */
        unsigned pids;           /* 4096 */
        BuildNetwork network;    /* of a build that names none: packages */
        usec_t step_usec;        /* 1 h; 0: no limit */
        uint64_t context_bytes_max; /* 2 GB */
} BuildConfig;

typedef enum E2bInternet { E2B_INTERNET_NONE, E2B_INTERNET_PACKAGES, E2B_INTERNET_PUBLIC, _E2B_INTERNET_MAX } E2bInternet;

typedef struct E2bConfig { /* e2b: */
        bool enabled;          /* true */
        char template_name[128]; /* the template that clients call "base": base */
        char profile[PROFILE_NAME_MAX + 1]; /* of E2B sandboxes; "": the limits of sandboxes without a profile */
        char domain[254];      /* told to clients as the domain below which sandboxes have names; "": none is told */
        E2bInternet internet;  /* what a sandbox reaches unless its creator says: all that is public */
        uint64_t disk_bytes;   /* of a sandbox where disks are kept, unless a profile says: 1 GB */
        usec_t timeout_usec;   /* of a sandbox whose creator sets none: 5 min */
        usec_t timeout_max_usec; /* 24 h */
} E2bConfig;

typedef struct Config {
        char *path;      /* NULL: defaults */
        usec_t read_at;
        Strv daemon;     /* daemon: "option=value", as on the command line of cove serve; read at the start only */
        LimitsConfig limits;
        SandboxLimits ceilings;
        StorageConfig storage;
        Profile *profiles; /* the five built-in ones first, with the file's changes */
        size_t n_profiles;
        PoolConfig *pools;
        size_t n_pools;
        ZygoteConfig *zygotes; /* read at the start only */
        size_t n_zygotes;
        AgentsConfig agents;
        CleanupConfig cleanup;
        AlertsConfig alerts;
        MetricsConfig metrics;
        OtlpConfig otlp;
        CostConfig cost;
        PredictionConfig prediction;
        ArtifactsConfig artifacts;
        AuditConfig audit;
        PreviewsConfig previews;
        CorsConfig cors;
        NetworkConfig network;
        SecretsConfig secrets;
        ImagesConfig images;
        RecordingConfig recording;
        BuildConfig build;
        E2bConfig e2b;
} Config;

/* The configuration without a file. */
int config_defaults(Config **ret);

/* Names that other rooms know. If a member is NULL, every well-formed name is accepted. */
typedef struct ConfigHooks {
        const char *const *alert_rules; /* NULL-terminated */
        /* Checks an option of the section `daemon`. -ENOENT: unknown option. Otherwise the error is about the value. */
        int (*check_option)(const char *name, const char *value, Error *reterr);
        const char *(*option_name)(size_t i); /* for guesses; NULL: no more */
} ConfigHooks;

/* Reports all complaints, each as a line "FILE:LINE:COLUMN: text (did you mean 'x'?)". The error has the first one;
 * `complain` gets every one. -EINVAL: there is at least one. Other errors: the file cannot be read. hooks: NULL to
 * accept every name. */
typedef void (*ConfigComplain)(const char *text, void *userdata);
int config_read(const ConfigHooks *hooks, const char *path, ConfigComplain complain, void *userdata, Config **ret, Error *reterr);
int config_parse(const ConfigHooks *hooks, const char *text, size_t size, const char *name, ConfigComplain complain, void *userdata,
                Config **ret, Error *reterr);
Config *config_free(Config *c);

DEFINE_CLEANUP(Config, config_free)
#define _cleanup_config_ _cleanup_(config_freep)

/* The whole of it as YAML, defaults included, secrets as "(set)". The caller frees. */
char *config_print(const Config *c);
/* The defaults as a file with a comment beside each key. The caller frees. */
char *config_print_commented(void);
/* The same as config_print(), as one line of JSON. */
char *config_print_json(const Config *c);
/* Every key: [{key, type, default, min, max, help}], as one line of JSON. The manual page is checked against it. */
char *config_print_keys(void);

/* The differences, in one line for a person; secrets are not compared. The caller frees. */
char *config_diff(const Config *before, const Config *after);

/* Splits a complaint. Returns its text; line and column are 0 if it has none. */
const char *config_complaint_split(const char *complaint, unsigned *ret_line, unsigned *ret_column);
