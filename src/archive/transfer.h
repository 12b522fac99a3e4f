/* transfer.h: the two ways through cove-archive: what a worker packs becomes a tar stream, a tar stream becomes what a worker
 * unpacks. */
#pragma once

#include "archive/tar.h"

int transfer_pack(int to, TarCompression compression, uint64_t *ret_count, Error *reterr);
int transfer_unpack(int from, uint64_t *ret_count, Error *reterr);

/* The parts of it, for those who choose what goes (copy.h). check: names are clean afterwards; devices and ways out are refused. */
int transfer_check_entry(FileEntry *entry, Error *reterr);
int transfer_put(TarReader *reader, const FileMessage *message, Error *reterr); /* a checked one, with its data */
int transfer_commit(int from, uint64_t *ret_count, Error *reterr);
