/* describe.c: writes configuration and manifest for images that were built here. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/parse.h"
#include "registry/assemble.h"
#include "registry/document.h"
#include "registry/verbs.h"

/* Parses DIGEST:DIFFID:SIZE:MEDIATYPE. The first two contain a colon each. */
static int parse_layer(const char *text, Part *ret, Error *reterr) {
        const char *p = text;
        char number[24] = "";

        if (digest_is_prefix(p) && p[DIGEST_SIZE] == ':') {
                memcpy(ret->digest.text, p, DIGEST_SIZE);
                p += DIGEST_SIZE + 1;
                if (digest_is_prefix(p) && p[DIGEST_SIZE] == ':') {
                        size_t n;

                        memcpy(ret->diff_id.text, p, DIGEST_SIZE);
                        p += DIGEST_SIZE + 1;
                        n = strcspn(p, ":");
                        if (n < sizeof(number) && p[n] == ':' && strlen(p + n + 1) < sizeof(ret->type)) {
                                memcpy(number, p, n);
                                (void) strcpy(ret->type, p + n + 1);
                                if (ret->type[0] && parse_uint64(number, 0, INT64_MAX, &ret->size) >= 0)
                                        return 0;
                        }
                }
        }
        return error_set(reterr, -EINVAL, "--layer '%.250s' is not DIGEST:DIFFID:SIZE:MEDIATYPE", text);
}

static int describe_read_config(int fd, json_t **ret, Error *reterr) {
        _cleanup_free_ char *text = malloc(IMAGECONFIG_SIZE_MAX + 1);
        ssize_t n;

        if (!text)
                return error_set(reterr, -ENOMEM, "out of memory");
        n = fd_read_full(fd, text, IMAGECONFIG_SIZE_MAX + 1);
        if (n < 0 || n > IMAGECONFIG_SIZE_MAX)
                return error_set(reterr, n < 0 ? (int) n : -EFBIG, "the configuration: %m");
        *ret = document_parse(text, (size_t) n, reterr);
        return *ret ? 0 : error_prefix(reterr, -EBADMSG, "the configuration");
}

int verb_describe(void *arguments, Error *reterr) {
        const Arguments *a = arguments;
        _cleanup_free_ Part *parts = calloc(a->layers.n + 1, sizeof(*parts));
        _cleanup_json_ json_t *config = NULL;
        int r;

        if (!parts)
                return error_set(reterr, -ENOMEM, "out of memory");
        r = describe_read_config(a->config_fd, &config, reterr);
        for (size_t i = 0; i < a->layers.n && r >= 0; i++)
                r = parse_layer(a->layers.items[i], parts + i, reterr);
        if (r < 0)
                return r;
        return assemble_image_of(&a->blobs, "", config, &a->platform, parts, a->layers.n, reterr);
}
