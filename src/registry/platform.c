/* platform.c: platforms of images. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "registry/manifest.h"

/* Go's names for architectures, which images use, by the kernel's names. */
static const struct {
        const char *machine, *architecture, *variant;
} machines[] = {
        { "x86_64",  "amd64",   ""   },
        { "aarch64", "arm64",   "v8" },
        { "armv7l",  "arm",     "v7" },
        { "armv6l",  "arm",     "v6" },
        { "i686",    "386",     ""   },
        { "riscv64", "riscv64", ""   },
        { "ppc64le", "ppc64le", ""   },
        { "s390x",   "s390x",   ""   },
};

void platform_of_machine(Platform *ret) {
        struct utsname u;

        *ret = (Platform) { .os = "linux" };
        if (uname(&u) < 0)
                return;
        (void) snprintf(ret->architecture, sizeof(ret->architecture), "%.31s", u.machine);
        for (size_t i = 0; i < ELEMENTSOF(machines); i++)
                if (strcmp(u.machine, machines[i].machine) == 0) {
                        (void) strcpy(ret->architecture, machines[i].architecture);
                        (void) strcpy(ret->variant, machines[i].variant);
                }
}

static const char *read_part(const char *p, char *ret, size_t room) {
        size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");

        if (n == 0 || n >= room)
                return NULL;
        memcpy(ret, p, n);
        ret[n] = 0;
        return p + n;
}

int platform_parse(const char *text, Platform *ret, Error *reterr) {
        Platform p = { 0 };
        const char *rest = read_part(text, p.os, sizeof(p.os));

        rest = rest && *rest == '/' ? read_part(rest + 1, p.architecture, sizeof(p.architecture)) : NULL;
        if (rest && *rest == '/')
                rest = read_part(rest + 1, p.variant, sizeof(p.variant));
        if (!rest || *rest)
                return error_set(reterr, -EINVAL, "'%.80s' is no platform; one is OS/ARCH or OS/ARCH/VARIANT, as in linux/amd64", text);
        *ret = p;
        return 0;
}

const char *platform_print(const Platform *p, char *ret, size_t room) {
        (void) snprintf(ret, room, "%s/%s%s%s", p->os, p->architecture, p->variant[0] ? "/" : "", p->variant);
        return ret;
}

/* arm64 without a variant is v8, amd64 without one is v1. */
static const char *variant_of(const Platform *p) {
        if (p->variant[0])
                return p->variant;
        return strcmp(p->architecture, "arm64") == 0 ? "v8" : strcmp(p->architecture, "amd64") == 0 ? "v1" : "";
}

unsigned platform_match(const Platform *wanted, const Platform *have) {
        if (strcmp(wanted->os, have->os) != 0 || strcmp(wanted->architecture, have->architecture) != 0)
                return 0;
        if (strcmp(variant_of(wanted), variant_of(have)) == 0)
                return 3;
        if (!wanted->variant[0] && !(strcmp(wanted->architecture, "amd64") == 0)) /* amd64/v3 does not run on every amd64 */
                return 1;
        /* arm/v7 runs code for v6 and v5 */
        return strcmp(wanted->architecture, "arm") == 0 && have->variant[0] == 'v' && strcmp(have->variant, wanted->variant) < 0 ? 2 : 0;
}
