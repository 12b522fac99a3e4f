#include "registry/output.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"

#define INTERVAL_USEC (100 * USEC_PER_MSEC)

static int registry_output_print(json_t *j, Error *reterr) {
        _cleanup_free_ char *line = NULL;
        size_t size;
        int r;

        line = j ? json_print(j, &size) : NULL;
        json_decref(j);
        r = line ? fd_write_all(STDOUT_FILENO, line, size) : -ENOMEM;
        return r < 0 ? error_set(reterr, r, "cannot report the progress: %m") : 0;
}

int output_progress(Output *o, const char *digest, bool now, Error *reterr) {
        usec_t time = clock_usec();

        if (o->quiet || (!now && o->told_at > 0 && time - o->told_at < INTERVAL_USEC))
                return 0;
        o->told_at = time;
        return registry_output_print(json_pack("{s:{s:s, s:I, s:I, s:I, s:I}}", "progress", "digest", digest, "bytes", (json_int_t) o->bytes, "total", (json_int_t) o->total,
                               "layers", (json_int_t) o->layers, "layersDone", (json_int_t) o->layers_done),
                     reterr);
}

static json_t *layers_of(const Manifest *m, const Imageconfig *c) {
        json_t *list = json_array();

        for (size_t i = 0; i < m->n; i++)
                if (json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:s}", "digest", m->items[i].digest.text, "diffId", c->diff_ids[i].text, "size",
                                                          (json_int_t) m->items[i].size, "mediaType", m->items[i].type)) < 0) {
                        json_decref(list);
                        return NULL;
                }
        return list;
}

int output_result(const char *reference, const Digest *manifest, const Manifest *m, const Imageconfig *c, Error *reterr) {
        char platform[100] = "";

        if (c->platform.os[0])
                (void) platform_print(&c->platform, platform, sizeof(platform));
        return registry_output_print(json_pack("{s:{s:s, s:s, s:s, s:s, s:O, s:o, s:I}}", "result", "reference", reference, "manifestDigest", manifest->text, "configDigest",
                               m->config.digest.text, "platform", platform, "config", c->config, "layers", layers_of(m, c), "size", (json_int_t) m->size),
                     reterr);
}
