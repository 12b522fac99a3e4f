#include "kinds.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "base/fd.h"

static int64_t field(const char *text, const char *name) {
        const char *line = strstr(text, name);
        long kib;

        return line && sscanf(line + strlen(name), " %ld", &kib) == 1 ? (int64_t) kib * 1024 : 0;
}

int kinds_read(MemoryKinds *ret) {
        char text[8192];
        ssize_t n = file_read(AT_FDCWD, "/proc/meminfo", text, sizeof(text));

        if (n < 0)
                return (int) n;
        *ret = (MemoryKinds) {
                .available = field(text, "MemAvailable:"),
                .anonymous = field(text, "AnonPages:"),
                .shared = field(text, "Shmem:"),
                .slab = field(text, "SUnreclaim:"),
                .page_tables = field(text, "PageTables:"),
                .stacks = field(text, "KernelStack:"),
                .percpu = field(text, "Percpu:"),
        };
        return 0;
}

MemoryKinds kinds_growth(const MemoryKinds *before, const MemoryKinds *now) {
        return (MemoryKinds) {
                .available = before->available - now->available,
                .anonymous = now->anonymous - before->anonymous,
                .shared = now->shared - before->shared,
                .slab = now->slab - before->slab,
                .page_tables = now->page_tables - before->page_tables,
                .stacks = now->stacks - before->stacks,
                .percpu = now->percpu - before->percpu,
        };
}

int64_t kinds_sum(const MemoryKinds *k) {
        return k->anonymous + k->shared + k->slab + k->page_tables + k->stacks + k->percpu;
}
