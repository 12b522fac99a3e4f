#include "wire/tree.h"

#include <string.h>

#include "wire/shape.h"

static const ShapeField ref_fields[] = {
        { "kind",     SHAPE_UINT8, offsetof(TreeRef, kind), .min = 1, .max = _TREE_KIND_MAX - 1 },
        { "writable", SHAPE_BOOL,  offsetof(TreeRef, writable)                                  },
        { "name",     SHAPE_CHARS, SHAPE_AT(TreeRef, name)                                      },
};
const Shape tree_ref_shape = SHAPE_OF(ref, TreeRef);

static const ShapeField request_fields[] = {
        { "operation", SHAPE_UINT8,  offsetof(TreeRequest, operation), .min = 1, .max = _TREE_OPERATION_MAX - 1 },
        { "reserved",  SHAPE_UINT8,  offsetof(TreeRequest, reserved)                                            },
        { "bytes",     SHAPE_UINT64, offsetof(TreeRequest, bytes)                                               },
        { "cancels",   SHAPE_UINT32, offsetof(TreeRequest, cancels)                                             },
        { "refs",      SHAPE_ARRAY,  SHAPE_AT(TreeRequest, refs), .count = offsetof(TreeRequest, n_refs), .shape = &tree_ref_shape },
        { "group",     SHAPE_UINT64, offsetof(TreeRequest, group.id)                                            },
        { "groupBytes", SHAPE_UINT64, offsetof(TreeRequest, group.bytes)                                        },
};
const Shape tree_request_shape = SHAPE_OF(request, TreeRequest);

bool tree_request_check(unsigned type, const void *fields) {
        return ((const TreeRequest *) fields)->reserved == 0;
}

void tree_put_arguments(WireWriter *w, const void *fields) {
        const TreeRequest *t = fields;

        if (t->arguments_size > sizeof(t->arguments)) {
                w->failed = true;
                return;
        }
        wire_put_uint(w, t->arguments_size, 2);
        for (size_t i = 0; i < t->arguments_size; i++)
                wire_put_uint(w, (uint8_t) t->arguments[i], 1);
}

bool tree_get_arguments(WireReader *reader, unsigned type, void *fields) {
        TreeRequest *t = fields;
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
