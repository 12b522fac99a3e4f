/* transfer.h: the two ways through cove-archive: what a worker packs becomes a tar stream, a tar stream becomes what a worker
 * unpacks. */
#pragma once

#include "archive/tar.h"

int transfer_pack(int to, TarCompression compression, uint64_t *ret_count, Error *reterr);

/* Names are clean afterwards; devices and ways out are refused. */
int transfer_check_entry(FileEntry *entry, Error *reterr);

/* change, for those who choose what goes (copy.h), gets each checked entry: 1: it goes, 0: it does not. NULL: all go as they are. */
typedef int (*TransferChange)(FileEntry *entry, void *userdata, Error *reterr);
int transfer_unpack(int from, TransferChange change, void *userdata, uint64_t *ret_count, Error *reterr);
