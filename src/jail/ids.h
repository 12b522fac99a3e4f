/* ids.h: user id ranges that no two live sandboxes share.
 *
 * A range is 65,536 ids wide. Its lock is a file in a directory of root: /run/cove-ids/N, where N is the range's first
 * id / 65,536. Who holds the lock (flock) holds the range: a lock belongs to an open file, so PID 1 inherits it from its
 * maker, and the kernel releases it when the last holder dies, however it dies. No other user can reach the files, and
 * in a sandbox PID 1 alone has the open file: whoever has it can unlock it. All that make sandboxes on this machine meet
 * there: the spawners of all daemons, and `cove run` as root.
 *
 * A table of one process remembers which ranges it has found taken, so that it does not ask for them again. It is only a
 * hint: the lock decides. So it need not survive the process.
 *
 * Must not know: what the ids are used for. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/error.h"

#define ID_RANGE_SIZE  65536u
#define ID_RANGE_FIRST UINT32_C(0x40000000) /* above what distributions give to people and to /etc/subuid */
#define ID_RANGE_COUNT UINT32_C(12288)      /* unless told otherwise: up to 0x70000000 */
#define ID_RANGE_MOST  UINT32_C(49151)      /* up to 0xffff0000: the last id of the next one is (uid_t) -1, which is no id */

#define ID_RANGE_DIRECTORY "/run/cove-ids"

typedef struct IdRange {
        uid_t base;
        int lock_fd;
        int name_fd; /* shows the range as taken to earlier versions of cove (ids-name.h); -EBADF: it does not */
} IdRange;
#define ID_RANGE_EMPTY { .lock_fd = -EBADF, .name_fd = -EBADF }

typedef uint64_t IdSet[ID_RANGE_MOST / 64 + 1]; /* by number, from the first range */

typedef struct IdRanges {
        const char *directory;
        int directory_fd; /* -EBADF: not opened yet */
        uint32_t n, n_fit, n_free;
        IdSet unfit; /* beyond n, or ids in it are somebody's (ids-users.c) */
        IdSet taken; /* when last seen, by a sandbox; or unfit */
        IdSet ignored; /* names that other users have bound, and no sandbox */
        usec_t rest; /* all are taken: do not look at all of them again before this time */
} IdRanges;

/* n: how many; 0: ID_RANGE_COUNT. directory NULL: the usual one. */
void id_ranges_init(IdRanges *t, const char *directory, uint32_t n);
/* Opens the directory, and leaves out ranges with ids of users. id_range_claim() does so if it has not been done; a
 * process that is about to lose sight of the directory does so before. */
int id_ranges_open(IdRanges *t, Error *reterr);
void id_ranges_done(IdRanges *t);

/* Claims a random free range, in constant time on average. -EUSERS: all are taken. */
int id_range_claim(IdRanges *t, IdRange *ret, Error *reterr);
/* The same, for a caller that will not report the end of the holder. NULL: no table knows more than the locks do. */
int id_range_claim_apart(const IdRanges *t, IdRange *ret, Error *reterr);
void id_range_release(IdRange *range);

/* The holder of the range has died: it may be claimed again at once. base 0: no range. */
void id_ranges_ended(IdRanges *t, uid_t base);

/* Whether id belongs to a range. */
bool id_range_has(uid_t id);
