/* transfer.h: the two directions of cove-archive: from a worker that packs to a tar stream, and from a tar
 * stream to a worker that unpacks. */
#pragma once

#include "archive/tar.h"

int transfer_pack(int to, TarCompression compression, uint64_t *ret_count, Error *reterr);

/* Cleans the names. Refuses devices, and paths that lead out. */
int transfer_check_entry(FileEntry *entry, Error *reterr);

/* `change` selects and renames entries (copy.h). It gets each checked entry and returns 1 to send it, 0 to
 * skip it. NULL: all entries are sent unchanged. */
typedef int (*TransferChange)(FileEntry *entry, void *userdata, Error *reterr);
int transfer_unpack(int from, TransferChange change, void *userdata, uint64_t *ret_count, Error *reterr);
