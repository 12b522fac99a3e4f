/* cove-registry: registries and image archives; registry.h says what it does. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/parse.h"
#include "registry/confine.h"
#include "registry/registry.h"
#include "registry/verbs.h"

#define STALL_DEFAULT  (30 * USEC_PER_SEC)
#define BYTES_DEFAULT  (UINT64_C(64) * 1024 * 1024 * 1024)

static const char *arg_blobs, *arg_ca, *arg_config;
static bool arg_insecure, arg_outside;
static usec_t arg_stall = STALL_DEFAULT;

typedef enum VerbFlags {
        VERB_PULL = 1 << 0,
        VERB_PUSH = 1 << 1,
        VERB_IMPORT = 1 << 2,
        VERB_DESCRIBE = 1 << 3,
        VERB_REMOTE = VERB_PULL | VERB_PUSH,
        VERB_ALL = 15,
} VerbFlags;

static int set_blobs(Arguments *a, const char *value, Error *reterr) {
        arg_blobs = value;
        return 0;
}

static int set_platform(Arguments *a, const char *value, Error *reterr) {
        return platform_parse(value, &a->platform, reterr);
}

static int set_insecure(Arguments *a, const char *value, Error *reterr) {
        arg_insecure = true;
        return 0;
}

static int set_outside(Arguments *a, const char *value, Error *reterr) {
        arg_outside = true;
        return 0;
}

static int set_ca(Arguments *a, const char *value, Error *reterr) {
        arg_ca = value;
        return access(value, R_OK) < 0 ? error_set(reterr, -errno, "--ca '%.300s': %m", value) : 0;
}

static int set_max_bytes(Arguments *a, const char *value, Error *reterr) {
        return parse_uint64(value, 1, UINT64_MAX, &a->max_bytes) < 0 ? error_set(reterr, -EINVAL, "--max-bytes '%.40s' is no number of bytes", value) : 0;
}

static int set_stall(Arguments *a, const char *value, Error *reterr) {
        uint64_t seconds;

        if (parse_uint64(value, 1, 3600, &seconds) < 0)
                return error_set(reterr, -EINVAL, "--stall '%.40s' is no number of seconds from 1 to 3600", value);
        arg_stall = seconds * USEC_PER_SEC;
        return 0;
}

static int set_manifest(Arguments *a, const char *value, Error *reterr) {
        if (!digest_is_valid(value))
                return error_set(reterr, -EINVAL, "--manifest '%.100s' is no digest", value);
        memcpy(a->manifest.text, value, DIGEST_SIZE + 1);
        return 0;
}

static int set_format(Arguments *a, const char *value, Error *reterr) {
        static const char *const names[] = { [IMPORT_AUTO] = "auto", [IMPORT_OCI] = "oci", [IMPORT_DOCKER] = "docker", [IMPORT_ROOTFS] = "rootfs" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (strcmp(value, names[i]) == 0) {
                        a->format = (ImportFormat) i;
                        return 0;
                }
        return error_set(reterr, -EINVAL, "--format '%.40s' is not known; there are auto, oci, docker and rootfs", value);
}

static int set_reference(Arguments *a, const char *value, Error *reterr) {
        a->wanted = value;
        return 0;
}

static int set_config(Arguments *a, const char *value, Error *reterr) {
        arg_config = value;
        return 0;
}

static int set_layer(Arguments *a, const char *value, Error *reterr) {
        int r = strv_push(&a->layers, value);

        return r < 0 ? error_set(reterr, r, "--layer: too many") : 0;
}

static const struct {
        const char *name;
        unsigned verbs;
        bool flag;
        int (*set)(Arguments *a, const char *value, Error *reterr);
} options[] = {
        { "--blobs",     VERB_ALL,                  false, set_blobs     },
        { "--platform",  VERB_PULL | VERB_IMPORT,   false, set_platform  },
        { "--insecure",  VERB_REMOTE,               true,  set_insecure  },
        { "--outside",   VERB_REMOTE,               true,  set_outside   },
        { "--ca",        VERB_REMOTE,               false, set_ca        },
        { "--max-bytes", VERB_PULL | VERB_IMPORT,   false, set_max_bytes },
        { "--stall",     VERB_REMOTE,               false, set_stall     },
        { "--manifest",  VERB_PUSH,                 false, set_manifest  },
        { "--format",    VERB_IMPORT,               false, set_format    },
        { "--reference", VERB_IMPORT,               false, set_reference },
        { "--config",    VERB_DESCRIBE,             false, set_config    },
        { "--layer",     VERB_DESCRIBE,             false, set_layer     },
};

static const struct RegistryVerb {
        const char *name;
        VerbFlags flag;
        int (*function)(const Arguments *a, Error *reterr);
} verbs[] = {
        { "pull",     VERB_PULL,     verb_pull     },
        { "push",     VERB_PUSH,     verb_push     },
        { "import",   VERB_IMPORT,   verb_import   },
        { "describe", VERB_DESCRIBE, verb_describe },
};

static int registry_parse_option(const struct RegistryVerb *v, Arguments *a, char **argv, int *i, Error *reterr) {
        for (size_t k = 0; k < ELEMENTSOF(options); k++) {
                if (strcmp(argv[*i], options[k].name) != 0 || !(options[k].verbs & v->flag))
                        continue;
                if (!options[k].flag && !argv[++*i])
                        return error_set(reterr, -EINVAL, "%s needs a value", options[k].name);
                return options[k].set(a, argv[*i], reterr);
        }
        return error_set(reterr, -EINVAL, "%s knows no '%.80s'", v->name, argv[*i]);
}

static int registry_parse(int argc, char **argv, Arguments *a, const struct RegistryVerb **ret, Error *reterr) {
        const struct RegistryVerb *v = NULL;
        int r = 0, i = 2;

        for (size_t k = 0; k < ELEMENTSOF(verbs) && argc > 1; k++)
                if (strcmp(argv[1], verbs[k].name) == 0)
                        v = verbs + k;
        if (!v)
                return error_set(reterr, -EINVAL, "usage: cove-registry pull|push|import|describe …");
        if (v->flag & VERB_REMOTE) {
                if (argc < 3)
                        return error_set(reterr, -EINVAL, "%s needs the name of an image", v->name);
                r = reference_parse(argv[i++], &a->reference, reterr);
        }
        for (; i < argc && r >= 0; i++)
                r = registry_parse_option(v, a, argv, &i, reterr);
        if (r >= 0 && (!arg_blobs || (v->flag == VERB_PUSH && !a->manifest.text[0]) || (v->flag == VERB_DESCRIBE && !arg_config)))
                r = error_set(reterr, -EINVAL, "%s needs %s", v->name, !arg_blobs ? "--blobs" : v->flag == VERB_PUSH ? "--manifest" : "--config");
        *ret = v;
        return r;
}

static int registry_run(const struct RegistryVerb *v, Arguments *a, Error *reterr) {
        _cleanup_remote_ Remote remote = { 0 };
        bool network = v->flag & VERB_REMOTE;
        int r = blobdir_open(&a->blobs, arg_blobs, reterr);

        if (r >= 0 && arg_config) {
                a->config_fd = open(arg_config, O_RDONLY | O_CLOEXEC);
                if (a->config_fd < 0)
                        r = error_set(reterr, -errno, "--config '%.300s': %m", arg_config);
        }
        if (r >= 0)
                r = registry_confine(a->blobs.dirfd, arg_ca, network, reterr);
        if (r >= 0 && network)
                r = remote_open(&remote, &a->reference,
                                &(RemoteOptions) { .ca = arg_ca, .insecure = arg_insecure, .outside = arg_outside, .push = v->flag == VERB_PUSH, .stall_usec = arg_stall }, reterr);
        a->remote = &remote;
        return r < 0 ? r : v->function(a, reterr);
}

/* One line, whatever strangers have put into it. */
static void registry_complain(const Error *error) {
        char line[ERROR_TEXT_MAX + 16];

        (void) snprintf(line, sizeof(line) - 1, "%d %s", -error->code, error->text);
        for (char *p = line; *p; p++)
                if ((unsigned char) *p < ' ' || *p == 0x7f)
                        *p = '?';
        (void) strcat(line, "\n");
        (void) fd_write_all(STDERR_FILENO, line, strlen(line));
}

int main(int argc, char **argv) {
        Arguments a = { .max_bytes = BYTES_DEFAULT, .config_fd = -EBADF, .blobs.dirfd = -EBADF, .layers = STRV_INIT(MANIFEST_LAYERS_MAX) };
        const struct RegistryVerb *v = NULL;
        Error error = { 0 };
        int r;

        (void) signal(SIGPIPE, SIG_IGN);
        (void) signal(SIGXFSZ, SIG_IGN); /* a limit on files is told as one */
        platform_of_machine(&a.platform);
        r = registry_parse(argc, argv, &a, &v, &error);
        if (r >= 0)
                r = registry_run(v, &a, &error);
        if (r < 0)
                registry_complain(&error);
        strv_done(&a.layers);
        blobdir_done(&a.blobs);
        (void) fd_close(a.config_fd);
        return r < 0;
}
