#include "jail/ids.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/fd.h"

#define CLAIM_TRIES 256u

static int ids_claim(int fd, uint32_t slot) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "cove/id-range/%u", slot);

        if (bind(fd, (const struct sockaddr *) &address,
                        (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + (size_t) n)) < 0)
                return -errno;
        return 0;
}

int id_range_claim(uid_t *ret_base, int *ret_holder, Error *reterr) {
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        uint32_t start;

        if (fd < 0)
                return error_set(reterr, -errno, "cannot make a socket: %m");
        if (getrandom(&start, sizeof(start), 0) != (ssize_t) sizeof(start))
                return error_set(reterr, -EIO, "cannot get random bytes");

        for (uint32_t i = 0; i < CLAIM_TRIES; i++) {
                uint32_t slot = (start + i) % ID_RANGE_COUNT;
                int r = ids_claim(fd, slot);

                if (r == -EADDRINUSE)
                        continue;
                if (r < 0)
                        return error_set(reterr, r, "cannot claim user id range %u: %m", slot);
                *ret_base = ID_RANGE_FIRST + slot * ID_RANGE_SIZE;
                *ret_holder = TAKE_FD(fd);
                return 0;
        }
        return error_set(reterr, -EBUSY, "no free user id range: %u of %u tried ones are taken", CLAIM_TRIES,
                        ID_RANGE_COUNT);
}
