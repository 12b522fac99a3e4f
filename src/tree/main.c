/* cove-tree: works on the content of trees; tree.h has the command line and the descriptors. */
#include "tree/tree.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tree/options.h"

/* Counts the trees, whose descriptors have consecutive numbers. Called before anything else opens a
 * descriptor with such a number. */
static unsigned count_trees(void) {
        unsigned n = 0;
        struct stat st;

        while (n < TREES_MAX && fstat(TREES_FIRST + (int) n, &st) >= 0 && S_ISDIR(st.st_mode))
                n++;
        return n;
}

int main(int argc, char **argv) {
        TreeOptions options = TREE_OPTIONS_INIT;

        options.n_trees = count_trees();
        _exit(program_main(&tree_program, argc, argv, &options)); /* no output is buffered, and exit handlers of libraries are forbidden by now */
}
