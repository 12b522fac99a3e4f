#include "wire/tree.h"

#include <string.h>

void tree_put_ref(WireWriter *w, const TreeRef *ref) {
        wire_put_uint(w, ref->kind, 1);
        wire_put_uint(w, ref->writable, 1);
        wire_put_string(w, ref->name, sizeof(ref->name));
}

bool tree_get_ref(WireReader *reader, TreeRef *ret) {
        uint64_t kind = wire_get_uint(reader, 1), writable = wire_get_uint(reader, 1);

        ret->kind = (uint8_t) kind;
        ret->writable = writable == 1;
        wire_get_string(reader, ret->name, sizeof(ret->name));
        return !reader->failed && kind > 0 && kind < _TREE_KIND_MAX && writable <= 1;
}

void tree_put(WireWriter *w, const TreeRequest *t) {
        wire_put_uint(w, t->operation, 1);
        wire_put_uint(w, 0, 1);
        wire_put_uint(w, t->bytes, 8);
        wire_put_uint(w, t->cancels, 4);
        if (t->n_refs > TREE_REFS_MAX || t->arguments_size > sizeof(t->arguments)) {
                w->failed = true;
                return;
        }
        wire_put_uint(w, t->n_refs, 1);
        for (size_t i = 0; i < t->n_refs; i++)
                tree_put_ref(w, t->refs + i);
        wire_put_uint(w, t->arguments_size, 2);
        for (size_t i = 0; i < t->arguments_size; i++)
                wire_put_uint(w, (uint8_t) t->arguments[i], 1);
}

static bool get_arguments(WireReader *reader, TreeRequest *t) {
        uint64_t size = wire_get_uint(reader, 2);

        if (reader->failed || size > sizeof(t->arguments) || size > (size_t) (reader->end - reader->p))
                return false;
        if (size > 0 && reader->p[size - 1] != '\0')
                return false;
        memcpy(t->arguments, reader->p, (size_t) size);
        t->arguments_size = (uint16_t) size;
        reader->p += size;
        return true;
}

bool tree_get(WireReader *reader, TreeRequest *ret) {
        TreeRequest t = { .operation = (uint8_t) wire_get_uint(reader, 1) };
        uint64_t flags = wire_get_uint(reader, 1);

        t.bytes = wire_get_uint(reader, 8);
        t.cancels = (uint32_t) wire_get_uint(reader, 4);
        t.n_refs = (uint8_t) wire_get_uint(reader, 1);
        if (reader->failed || t.operation == 0 || t.operation >= _TREE_OPERATION_MAX || flags != 0 || t.n_refs > TREE_REFS_MAX)
                return false;
        for (size_t i = 0; i < t.n_refs; i++)
                if (!tree_get_ref(reader, t.refs + i))
                        return false;
        if (!get_arguments(reader, &t))
                return false;
        *ret = t;
        return true;
}
