/* copy.h: copies chosen members of a tar archive to other names.
 *
 *      copy    a map chooses the members: pairs of "from NUL to NUL", both clean and relative. Others are left out
 *      graft   all members are placed below a path
 *      place   the only file of the archive gets that path
 *
 * Owner and mode: one for all, or those of the archive. */
#pragma once

#include "base/error.h"
#include "wire/file.h"

#define COPY_MAP_MAX (64 << 20) /* bytes */

typedef struct CopyRules {
        bool has_owner, has_mode;
        uint32_t uid, gid;
        uint32_t mode; /* of files and directories; links have none */
} CopyRules;

/* Descriptor 3 is a worker that does UNPACK at "/". */
int copy_by_map(int from, int map, const CopyRules *rules, uint64_t *ret_count, Error *reterr);
int copy_graft(int from, const char *to, bool directory, const CopyRules *rules, uint64_t *ret_count, Error *reterr);
