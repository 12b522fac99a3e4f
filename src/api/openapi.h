/* openapi.h: docs/openapi.yaml as JSON, made by openapi-embed when the daemon is built. */
#pragma once

#include <stddef.h>

extern const char api_openapi_json[];
extern const size_t api_openapi_json_size;
