/* routes.h: the macros for tables of routes, and the list of all tables. */
#pragma once

#include "api/native/answer.h"

#define QUERIES(...) (const char *const[]) { __VA_ARGS__, NULL }
#define JSON_BODY(table)                                                                                     \
        .body = HTTP_BODY_COLLECT, .body_max = NATIVE_BODY_MAX, .shape = &native_##table##_shape
#define BYTES_BODY(function) .body = HTTP_BODY_STREAM, .data = function
/* The shape for api_show() of a handler's object, or for native_page_add() of each object in a list. */
#define ANSWER(table)      .answer = &native_##table##_answer
#define ANSWER_LIST(table) ANSWER(table), .answers_a_list = true

/* For clients that send "{}" with every POST. */
extern const Shape native_empty_shape;

extern const ApiRoute info_routes[], sandbox_routes[], lifecycle_routes[], execution_routes[], file_routes[];
extern const ApiRoute key_routes[], tenant_routes[], usage_routes[], profile_routes[], pool_routes[], agent_routes[], depot_routes[];
extern const ApiRoute artifact_routes[], cleanup_routes[], quarantine_routes[], diagnosis_routes[], metrics_routes[];
extern const ApiRoute alert_routes[], audit_routes[], telemetry_routes[], config_routes[], preview_routes[];
extern const ApiRoute secret_routes[], network_routes[], build_routes[], template_routes[];
extern const ApiRoute template_gc_routes[], making_routes[], snapshot_routes[], fork_routes[];
extern const ApiRoute volume_routes[], change_routes[], recording_routes[], context_routes[];
