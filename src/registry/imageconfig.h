/* imageconfig.h: the configuration of an image: of all that is in there, what counts here. Pure. */
#pragma once

#include "json/json.h"
#include "registry/manifest.h"

#define IMAGECONFIG_SIZE_MAX (8 * 1024 * 1024)

typedef struct Imageconfig {
        Platform platform;  /* os "": not said */
        json_t *config;     /* Env, WorkingDir, User, Entrypoint, Cmd, ExposedPorts, Labels, Shell: all there, of the right type, and nothing else */
        Digest *diff_ids;
        size_t n;
} Imageconfig;

/* n_layers: how many there must be; SIZE_MAX: any number. */
int imageconfig_read(const char *data, size_t size, size_t n_layers, Imageconfig *ret, Error *reterr);
void imageconfig_done(Imageconfig *c);
#define _cleanup_imageconfig_ _cleanup_(imageconfig_done)

/* -ENOENT: it is for another machine. */
int imageconfig_check_platform(const Imageconfig *c, const Platform *wanted, Error *reterr);
