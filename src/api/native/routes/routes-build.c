/* routes-build.c: templates that are built here. */

#include "api/native/routes/routes.h"
#include "api/native/template/templates.h"

const ApiRoute build_routes[] = {
        { "POST", "/api/templates/build",   SCOPE_USE,  .handle = native_template_build, BYTES_BODY(native_spool_data),
          .queries = QUERIES("name", "file", "target", "recipe", "arg", "noCache", "network") },
        { "GET",  "/api/templates/recipes", SCOPE_READ, .handle = native_recipe_list },
        { 0 },
};
