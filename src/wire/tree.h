/* tree.h: the requests of base/tree-request.h as a part of spawn.h.
 *
 * Pure encode and decode. Must not know: file systems, processes.
 *
 *      u8 operation · u8 flags, 0 · u64 bytes · u32 cancels · u8 n_refs · refs (u8 kind, u8 writable, name) · u16 size · arguments, each with its NUL */
#pragma once

#include <stdbool.h>

#include "base/tree-request.h"
#include "wire/codec.h"

void tree_put(WireWriter *w, const TreeRequest *t);
bool tree_get(WireReader *reader, TreeRequest *ret); /* false: what tree_put() would not have written */
void tree_put_ref(WireWriter *w, const TreeRef *ref);
bool tree_get_ref(WireReader *reader, TreeRef *ret);
