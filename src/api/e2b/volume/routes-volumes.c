/* routes-volumes.c: routes of volumes and their files. */

#include "api/e2b/volume/volumes.h"

#define CONTENT      "/volumecontent/{volume}"
#define BY_TOKEN     .identify = e2b_volume_identify, .refuse = e2b_volume_refuse, .served = e2b_enabled

const ApiRoute e2b_volume_routes[] = {
        { "GET",    "/volumes",          MAY_SEE,    .handle = e2b_volume_list, E2B_ROUTE },
        { "POST",   "/volumes",          MAY_MANAGE, .handle = e2b_volume_make, E2B_JSON, E2B_ROUTE },
        { "GET",    "/volumes/{volume}", MAY_MANAGE, .handle = e2b_volume_get, E2B_ROUTE }, /* returns its token */
        { "DELETE", "/volumes/{volume}", MAY_MANAGE, .handle = e2b_volume_remove, E2B_JSON, E2B_ROUTE },

        { "GET",    CONTENT "/path",     MAY_READ,   .handle = e2b_volume_stat, BY_TOKEN },
        { "PATCH",  CONTENT "/path",     MAY_WRITE,  .handle = e2b_volume_change, E2B_JSON, BY_TOKEN },
        { "DELETE", CONTENT "/path",     MAY_WRITE,  .handle = e2b_volume_delete_path, E2B_JSON, BY_TOKEN },
        { "GET",    CONTENT "/dir",      MAY_READ,   .handle = e2b_volume_dir, BY_TOKEN },
        { "POST",   CONTENT "/dir",      MAY_WRITE,  .handle = e2b_volume_mkdir, E2B_JSON, BY_TOKEN },
        { "GET",    CONTENT "/file",     MAY_READ,   .handle = e2b_volume_read, BY_TOKEN },
        { "PUT",    CONTENT "/file",     MAY_WRITE,  .body = HTTP_BODY_STREAM, .handle = e2b_volume_write, .data = e2b_volume_write_data, BY_TOKEN },
        { 0 },
};
