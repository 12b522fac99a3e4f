#include "jail/ids.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/fd.h"

static int ids_claim(int fd, uint32_t slot) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "cove/id-range/%u", slot);

        if (bind(fd, (const struct sockaddr *) &address,
                        (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + (size_t) n)) < 0)
                return -errno;
        return 0;
}

/* A stride that visits every slot before it returns to the first: coprime to the count, whose prime factors are 2 and
 * 3. */
static uint32_t stride_of(uint32_t random) {
        return random % (ID_RANGE_COUNT / 6) * 6 + 1;
}

int id_range_claim(uid_t *ret_base, int *ret_holder, Error *reterr) {
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        uint32_t random[2];

        if (fd < 0)
                return error_set(reterr, -errno, "cannot make a socket: %m");
        if (getrandom(random, sizeof(random), 0) != (ssize_t) sizeof(random))
                return error_set(reterr, -EIO, "cannot get random bytes");

        /* The search begins anywhere and goes in strides that cannot be foreseen: neighbouring ranges reveal
         * nothing of each other, and taken ranges form no cluster that a search has to walk along. If one range
         * in ten is free, this takes ten tries. */
        for (uint32_t i = 0, slot = random[0] % ID_RANGE_COUNT; i < ID_RANGE_COUNT; i++, slot = (slot + stride_of(random[1])) % ID_RANGE_COUNT) {
                int r = ids_claim(fd, slot);

                if (r == -EADDRINUSE)
                        continue;
                if (r < 0)
                        return error_set(reterr, r, "cannot claim user id range %u: %m", slot);
                *ret_base = ID_RANGE_FIRST + slot * ID_RANGE_SIZE;
                *ret_holder = TAKE_FD(fd);
                return 0;
        }
        return error_set(reterr, -EBUSY, "no free user id range: all %u are taken; each sandbox has one, so end some", ID_RANGE_COUNT);
}
