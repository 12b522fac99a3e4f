/* tree.h: the requests of base/tree-request.h as a part of spawn.h.
 *
 * Pure encode and decode. Must not know: file systems, processes.
 *
 *      u8 operation · u8 flags, 0 · u64 bytes · u32 cancels · u8 n_refs · refs (u8 kind, u8 writable, name) · u16 size · arguments, each with its NUL */
#pragma once

#include <stdbool.h>

#include "base/tree-request.h"
#include "wire/shape.h"

/* For spawn.c's table. */
extern const Shape tree_request_shape, tree_ref_shape;
bool tree_request_check(unsigned type, const void *fields);
void tree_put_arguments(WireWriter *w, const void *fields);
bool tree_get_arguments(WireReader *reader, unsigned type, void *fields);
