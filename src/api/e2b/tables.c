/* tables.c: what stands behind the two ports of every sandbox that this surface answers for. */

#include "api/e2b/e2b.h"

const ApiRoute *const e2b_envd_tables[] = {
        e2b_envd_routes,
        NULL,
};

const ApiRoute *const e2b_interpreter_tables[] = {
        e2b_interpreter_routes,
        NULL,
};
