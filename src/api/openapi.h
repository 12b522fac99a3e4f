/* openapi.h: docs/openapi.yaml as JSON; openapi-embed generates it during the build. */
#pragma once

#include <stddef.h>

extern const char api_openapi_json[];
extern const size_t api_openapi_json_size;
