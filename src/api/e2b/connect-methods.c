/* connect-methods.c: all services there are. */

#include "api/e2b/connect.h"

extern const ConnectMethod process_methods[];

const ConnectMethod *const connect_tables[] = {
        process_methods,
        NULL,
};
