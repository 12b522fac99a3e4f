/* copy.h: chosen members of a tar archive, put elsewhere under other names.
 *
 *      copy    a map says which go where: lines of "from NUL to NUL", both clean and relative; whatever is not in it stays behind
 *      graft   all of it goes below a path
 *      place   the one file of it becomes that path
 *
 * Owners: one for all, or as the archive has them. Modes likewise. */
#pragma once

#include "base/error.h"
#include "wire/file.h"

#define COPY_MAP_MAX (64 << 20) /* bytes */

typedef struct CopyRules {
        bool has_owner, has_mode;
        uint32_t uid, gid;
        uint32_t mode; /* of files and directories; links have none */
} CopyRules;

/* 3: a worker doing UNPACK at "/". */
int copy_by_map(int from, int map, const CopyRules *rules, uint64_t *ret_count, Error *reterr);
int copy_graft(int from, const char *to, bool directory, const CopyRules *rules, uint64_t *ret_count, Error *reterr);
