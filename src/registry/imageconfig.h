/* imageconfig.h: the parts of an image's configuration that cove uses. Pure. */
#pragma once

#include "json/json.h"
#include "registry/manifest.h"

#define IMAGECONFIG_SIZE_MAX (8 * 1024 * 1024)

typedef struct Imageconfig {
        Platform platform;  /* os "": not given */
        /* Env, WorkingDir, User, Entrypoint, Cmd, ExposedPorts, Labels, Shell: all present, of the right
         * type, and nothing else */
        json_t *config;
        Digest *diff_ids;
        size_t n;
} Imageconfig;

/* n_layers: the expected number of layers; SIZE_MAX: any. */
int imageconfig_read(const char *data, size_t size, size_t n_layers, Imageconfig *ret, Error *reterr);
void imageconfig_done(Imageconfig *c);
#define _cleanup_imageconfig_ _cleanup_(imageconfig_done)

/* -ENOENT: the image is for another platform. */
int imageconfig_check_platform(const Imageconfig *c, const Platform *wanted, Error *reterr);
