/* routes-volumes.c: volumes, and what is in them. */

#include "api/e2b/volume/volumes.h"

#define CONTENT      "/volumecontent/{volume}"
#define BY_TOKEN     .open = true, .refuse = e2b_volume_refuse, .served = e2b_enabled

const ApiRoute e2b_volume_routes[] = {
        { "GET",    "/volumes",          SCOPE_READ, .handle = e2b_volume_list, E2B_ROUTE },
        { "POST",   "/volumes",          SCOPE_USE,  .handle = e2b_volume_make, E2B_JSON, E2B_ROUTE },
        { "GET",    "/volumes/{volume}", SCOPE_USE,  .handle = e2b_volume_get, E2B_ROUTE }, /* its token comes with it */
        { "DELETE", "/volumes/{volume}", SCOPE_USE,  .handle = e2b_volume_remove, E2B_JSON, E2B_ROUTE },

        { "GET",    CONTENT "/path",     SCOPE_READ, .handle = e2b_volume_stat, BY_TOKEN },
        { "PATCH",  CONTENT "/path",     SCOPE_READ, .handle = e2b_volume_change, E2B_JSON, BY_TOKEN },
        { "DELETE", CONTENT "/path",     SCOPE_READ, .handle = e2b_volume_delete_path, E2B_JSON, BY_TOKEN },
        { "GET",    CONTENT "/dir",      SCOPE_READ, .handle = e2b_volume_dir, BY_TOKEN },
        { "POST",   CONTENT "/dir",      SCOPE_READ, .handle = e2b_volume_mkdir, E2B_JSON, BY_TOKEN },
        { "GET",    CONTENT "/file",     SCOPE_READ, .handle = e2b_volume_read, BY_TOKEN },
        { "PUT",    CONTENT "/file",     SCOPE_READ, .body = HTTP_BODY_STREAM, .handle = e2b_volume_write, .data = e2b_volume_write_data, BY_TOKEN },
        { 0 },
};
