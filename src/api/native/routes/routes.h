/* routes.h: the words in which tables of routes are written, and all of them. A table per area. */
#pragma once

#include "api/native/native.h"

#define QUERIES(...) (const char *const[]) { __VA_ARGS__, NULL }
#define JSON_BODY(table)                                                                                     \
        .body = HTTP_BODY_COLLECT, .body_max = NATIVE_BODY_MAX, .shape = &native_##table##_shape
#define BYTES_BODY(function) .body = HTTP_BODY_STREAM, .data = function

/* Clients that send "{}" with every POST are welcome. */
extern const Shape native_empty_shape;

extern const ApiRoute profiles_routes[];
extern const ApiRoute agents_routes[];
extern const ApiRoute cleanup_routes[];
extern const ApiRoute metrics_routes[];
extern const ApiRoute alerts_routes[];
extern const ApiRoute audit_routes[];
extern const ApiRoute config_routes[];
extern const ApiRoute previews_routes[];
extern const ApiRoute secrets_routes[];
extern const ApiRoute network_routes[];
extern const ApiRoute build_routes[]; /* before those: their names are free */
extern const ApiRoute templates_routes[];
extern const ApiRoute state_routes[];
extern const ApiRoute volumes_routes[];
extern const ApiRoute changes_routes[];
extern const ApiRoute contexts_routes[];
