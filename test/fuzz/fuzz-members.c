/* An archive of images, as cove-registry reads it: names are clean, sizes hold, what came is what the tee got. The first byte says whether it is a tar. */
#include "fuzz.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "registry/member.h"

#define BYTES_MAX (4 << 20)

static int tee(void *userdata, const void *data, size_t size) {
        *(size_t *) userdata += size;
        return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_close_ int fd = memfd_create("members", MFD_CLOEXEC);
        _cleanup_(members_freep) Members *m = NULL;
        static char block[65536];
        size_t seen = 0, left = BYTES_MAX;
        Error error = { 0 };
        Member member;
        int k;

        if (size < 1)
                return 0;
        MUST(fd >= 0 && fd_write_all(fd, data + 1, size - 1) >= 0 && lseek(fd, 0, SEEK_SET) == 0);
        k = members_new(fd, data[0] & 1, tee, &seen, &m, &error);
        while (k >= 0 && left > 0 && (k = members_next(m, &member, &error)) > 0) {
                ssize_t n = 0;

                if (member.type != MEMBER_OTHER && !(data[0] & 1)) {
                        MUST(member.name[0] != '/' && !strstr(member.name, "/../") && strncmp(member.name, "../", 3) != 0 && strcmp(member.name, "..") != 0);
                        MUST(member.type != MEMBER_LINK || (member.target[0] != '/' && strncmp(member.target, "../", 3) != 0));
                }
                while (left > 0 && (n = members_data(m, block, sizeof(block), &error)) > 0)
                        left -= (size_t) n < left ? (size_t) n : left;
                if (n < 0)
                        k = (int) n;
        }
        MUST(seen <= size - 1);
        MUST(k >= 0 || error.text[0] != '\0');
        return 0;
}
