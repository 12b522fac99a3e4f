#include "base/tree-request.h"

#include <errno.h>
#include <string.h>

bool tree_name_is_valid(const char *name) {
        size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789");

        return n > 0 && n <= TREE_NAME_MAX && name[n] == '\0';
}

int tree_add_argument(TreeRequest *t, const char *argument) {
        size_t n = strlen(argument) + 1;

        if (n > sizeof(t->arguments) - t->arguments_size)
                return -ENOSPC;
        memcpy(t->arguments + t->arguments_size, argument, n);
        t->arguments_size = (uint16_t) (t->arguments_size + n);
        return 0;
}
