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

#define STALL_DEFAULT  30
#define BYTES_DEFAULT  (UINT64_C(64) * 1024 * 1024 * 1024)

typedef enum RegistryVerb {
        VERB_PULL,
        VERB_PUSH,
        VERB_IMPORT,
        VERB_DESCRIBE,
} RegistryVerb;

static int set_platform(const char *value, void *place, Error *reterr) {
        return platform_parse(value, place, reterr);
}

static int set_ca(const char *value, void *place, Error *reterr) {
        *(const char **) place = value;
        return access(value, R_OK) < 0 ? error_set(reterr, -errno, "--ca '%.300s': %m", value) : 0;
}

static int set_stall(const char *value, void *place, Error *reterr) {
        if (parse_uint64(value, 1, 3600, place) < 0)
                return error_set(reterr, -EINVAL, "--stall '%.40s' is no number of seconds from 1 to 3600", value);
        return 0;
}

static int set_manifest(const char *value, void *place, Error *reterr) {
        if (!digest_is_valid(value))
                return error_set(reterr, -EINVAL, "--manifest '%.100s' is not a digest", value);
        memcpy(((Digest *) place)->text, value, DIGEST_SIZE + 1);
        return 0;
}

static int set_format(const char *value, void *place, Error *reterr) {
        static const char *const names[] = { [IMPORT_AUTO] = "auto", [IMPORT_OCI] = "oci", [IMPORT_DOCKER] = "docker", [IMPORT_ROOTFS] = "rootfs" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (strcmp(value, names[i]) == 0) {
                        *(ImportFormat *) place = (ImportFormat) i;
                        return 0;
                }
        return error_set(reterr, -EINVAL, "--format '%.40s' is not known; there are auto, oci, docker and rootfs", value);
}

static int set_layer(const char *value, void *place, Error *reterr) {
        int r = strv_push(place, value);

        return r < 0 ? error_set(reterr, r, "--layer: too many") : 0;
}

#define ON(verb)  (1u << VERB_##verb)
#define ON_REMOTE (ON(PULL) | ON(PUSH))
#define ON_ALL    (ON_REMOTE | ON(IMPORT) | ON(DESCRIBE))

static const ProgramOption options[] = {
        { "--blobs",     ON_ALL,                false, program_set_text,   offsetof(Arguments, directory) },
        { "--platform",  ON(PULL) | ON(IMPORT), false, set_platform,       offsetof(Arguments, platform)  },
        { "--insecure",  ON_REMOTE,             true,  program_set_true,   offsetof(Arguments, insecure)  },
        { "--outside",   ON_REMOTE,             true,  program_set_true,   offsetof(Arguments, outside)   },
        { "--ca",        ON_REMOTE,             false, set_ca,             offsetof(Arguments, ca)        },
        { "--max-bytes", ON(PULL) | ON(IMPORT), false, program_set_number, offsetof(Arguments, max_bytes) },
        { "--stall",     ON_REMOTE,             false, set_stall,          offsetof(Arguments, stall)     },
        { "--manifest",  ON(PUSH),              false, set_manifest,       offsetof(Arguments, manifest)  },
        { "--format",    ON(IMPORT),            false, set_format,         offsetof(Arguments, format)    },
        { "--reference", ON(IMPORT),            false, program_set_text,   offsetof(Arguments, wanted)    },
        { "--config",    ON(DESCRIBE),          false, program_set_text,   offsetof(Arguments, config)    },
        { "--layer",     ON(DESCRIBE),          false, set_layer,          offsetof(Arguments, layers)    },
};

static int registry_connect(const Arguments *a, int (*verb)(const Arguments *a, Error *reterr), Error *reterr) {
        const RemoteOptions o = {
                .ca = a->ca,
                .insecure = a->insecure,
                .outside = a->outside,
                .push = a->words.verb == VERB_PUSH,
                .stall_usec = a->stall * USEC_PER_SEC,
        };
        int r = remote_open(a->remote, &a->reference, &o, reterr);

        return r < 0 ? r : verb(a, reterr);
}

static int registry_pull(void *arguments, Error *reterr) {
        return registry_connect(arguments, verb_pull, reterr);
}

static int registry_push(void *arguments, Error *reterr) {
        return registry_connect(arguments, verb_push, reterr);
}

static const ProgramVerb verbs[] = {
        [VERB_PULL]     = { "pull",     registry_pull, "the name of an image" },
        [VERB_PUSH]     = { "push",     registry_push, "the name of an image" },
        [VERB_IMPORT]   = { "import",   verb_import,   NULL                   },
        [VERB_DESCRIBE] = { "describe", verb_describe, NULL                   },
};

static int registry_prepare(void *arguments, Error *reterr) {
        Arguments *a = arguments;
        const RegistryVerb verb = (RegistryVerb) a->words.verb;
        int r = a->words.operand ? reference_parse(a->words.operand, &a->reference, reterr) : 0;

        if (!a->words.operand)
                a->remote = NULL;
        if (r >= 0 && (!a->directory || (verb == VERB_PUSH && !a->manifest.text[0]) || (verb == VERB_DESCRIBE && !a->config)))
                r = error_set(reterr, -EINVAL, "%s needs %s", verbs[verb].name,
                                !a->directory ? "--blobs" : verb == VERB_PUSH ? "--manifest" : "--config");
        if (r >= 0)
                r = blobdir_open(&a->blobs, a->directory, reterr);
        if (r >= 0 && a->config) {
                a->config_fd = open(a->config, O_RDONLY | O_CLOEXEC);
                if (a->config_fd < 0)
                        r = error_set(reterr, -errno, "--config '%.300s': %m", a->config);
        }
        return r;
}

int main(int argc, char **argv) {
        static const Program program = {
                "cove-registry", verbs, ELEMENTSOF(verbs), options, ELEMENTSOF(options), registry_prepare, registry_walls,
        };
        _cleanup_remote_ Remote remote = { 0 };
        Arguments a = {
                .stall = STALL_DEFAULT,
                .max_bytes = BYTES_DEFAULT,
                .remote = &remote,
                .config_fd = -EBADF,
                .blobs.dirfd = -EBADF,
                .layers = STRV_INIT(MANIFEST_LAYERS_MAX),
        };
        int status;

        (void) signal(SIGXFSZ, SIG_IGN); /* writing beyond the file size limit then fails with EFBIG */
        platform_of_machine(&a.platform);
        status = program_main(&program, argc, argv, &a);
        strv_done(&a.layers);
        blobdir_done(&a.blobs);
        (void) fd_close(a.config_fd);
        return status;
}
