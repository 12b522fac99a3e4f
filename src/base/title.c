#include "base/title.h"

#include <string.h>
#include <sys/prctl.h>

static char *area;
static size_t area_size;

void title_init(int argc, char **argv) {
        area = argv[0];
        for (int i = 0; i < argc; i++) /* the kernel lays out the arguments one after the other */
                if (argv[i] == area + area_size)
                        area_size += strlen(argv[i]) + 1;
}

void title_set(const char *name) {
        size_t n = strlen(name);

        (void) prctl(PR_SET_NAME, name);
        if (!area || area_size <= n)
                return;
        memset(area, 0, area_size);
        memcpy(area, name, n);
}
