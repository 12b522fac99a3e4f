#include "wire/rules.h"

#include <errno.h>
#include <string.h>

int rules_add_path(Rules *r, RulesPathKind kind, const char *path) {
        const char *p = NULL;
        size_t n = strlen(path) + 1, count = 0;

        while ((p = rules_next_path(r, p, NULL)))
                count++;
        if (count >= RULES_PATHS_MAX || 1 + n > sizeof(r->paths) - r->paths_size)
                return -ENOSPC;
        r->paths[r->paths_size] = (char) kind;
        memcpy(r->paths + r->paths_size + 1, path, n);
        r->paths_size = (uint16_t) (r->paths_size + 1 + n);
        return 0;
}

const char *rules_next_path(const Rules *r, const char *previous, RulesPathKind *ret_kind) {
        const char *next = previous ? previous + strlen(previous) + 1 : r->paths;

        if (next >= r->paths + r->paths_size)
                return NULL;
        if (ret_kind)
                *ret_kind = (RulesPathKind) next[0];
        return next + 1;
}

bool rules_equal(const Rules *a, const Rules *b) {
        return a->flags == b->flags && a->file_size_max == b->file_size_max && a->paths_size == b->paths_size &&
               memcmp(a->paths, b->paths, a->paths_size) == 0;
}

void rules_put(WireWriter *w, const Rules *r) {
        wire_put_uint(w, r->flags, 1);
        wire_put_uint(w, r->file_size_max, 8);
        wire_put_bytes(w, r->paths, r->paths_size);
}

static bool take_paths(Rules *r, const uint8_t *data, size_t size) {
        size_t count = 0;

        if (size > sizeof(r->paths))
                return false;
        for (const uint8_t *p = data, *end; p < data + size; p = end + 1) {
                end = memchr(p, 0, (size_t) (data + size - p));
                if (!end || p[0] >= _RULES_PATH_KIND_MAX || end - p < 2 || ++count > RULES_PATHS_MAX)
                        return false;
        }
        if (size > 0)
                memcpy(r->paths, data, size);
        r->paths_size = (uint16_t) size;
        return true;
}

bool rules_get(WireReader *reader, Rules *ret) {
        const uint8_t *data = NULL;
        size_t size = 0;

        ret->flags = (uint8_t) wire_get_uint(reader, 1);
        ret->file_size_max = wire_get_uint(reader, 8);
        wire_get_bytes(reader, &data, &size);
        return !reader->failed && !(ret->flags & ~RULES_FLAGS_ALL) && take_paths(ret, data, size);
}
