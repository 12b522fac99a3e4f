/* routes-volumes.c: volumes. */

#include "api/native/routes/routes.h"

#define VOLUME "/api/volumes/{volume}"

const ApiRoute volumes_routes[] = {
        { "GET",    "/api/volumes", SCOPE_READ, .handle = native_volume_list, .queries = QUERIES("limit", "cursor") },
        { "POST",   "/api/volumes", SCOPE_USE,  .handle = native_volume_make, JSON_BODY(volume) },
        { "GET",    VOLUME,         SCOPE_READ, .handle = native_volume_get },
        { "DELETE", VOLUME,         SCOPE_USE,  .handle = native_volume_delete },
        { 0 },
};
