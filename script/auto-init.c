/* auto-init.c: whether -ftrivial-auto-var-init leaves a copy as the original is. Run by meson, of the compiler that it is about to use. */
#include <stdint.h>
#include <string.h>

struct item {
        char name[65], target[256];
        _Bool flag;
};
struct inner {
        uint8_t n;
        struct item items[8];
        uint8_t flags;
        uint64_t size;
};
struct outer {
        struct inner inner;
        int a;
};

__attribute__((noinline)) static int differs(const struct inner *from, const int *a) {
        struct outer o = { .inner = *from, .a = *a };

        __asm__ volatile("" : : "r"(&o) : "memory");
        return memcmp(o.inner.items, from->items, sizeof(from->items)) != 0;
}

int main(void) {
        struct inner from;
        int a = 1;

        memset(&from, 'x', sizeof(from));
        __asm__ volatile("" : : "r"(&from) : "memory");
        return differs(&from, &a);
}
