/* connect-methods.c: the list of all services. */

#include "api/e2b/connect/connect.h"

extern const ConnectMethod filesystem_methods[], process_methods[];

const ConnectMethod *const connect_tables[] = {
        filesystem_methods,
        process_methods,
        NULL,
};
