/* values.h: values with a syntax of their own in requests: users, modes, signals, seconds, paths.
 *
 * As fields of JSON bodies (native_field_*), and as query parameters (native_query_*: 0 if absent, 1 if
 * present, negative: answered with 400). */
#pragma once

#include "api/surface.h"
#include "core/allowance.h"

#define NATIVE_WORKDIR "/workspace" /* the default of a sandbox */
#define NATIVE_PATH_MAX 4095
#define NATIVE_ID_MAX 65534

typedef struct NativeUser {
        bool given;
        uint32_t uid, gid;
} NativeUser;

/* "root", "user", "1000", "1000:100". -EINVAL. */
int native_parse_user(const char *text, uint32_t *ret_uid, uint32_t *ret_gid);
int native_parse_mode(const char *text, uint32_t *ret);  /* octal, up to 7777 */
int native_parse_signal(const char *text);               /* "SIGTERM", "TERM", "15"; returns the number, or -EINVAL */

int native_field_time(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c); /* TimeAsked.usec, in seconds */
int native_field_user(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c);   /* NativeUser */
int native_field_mode(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c);   /* uint32_t */
int native_field_signal(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c); /* int */

int native_field_object_name(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c); /* char *: core/name.h */

int native_query_user(ApiRequest *q, const char *name, NativeUser *ret);
int native_query_mode(ApiRequest *q, const char *name, uint32_t *ret);
int native_query_seconds(ApiRequest *q, const char *name, usec_t *ret);
/* Wall clock: an ISO time, or a time ago such as "3600" or "90m". *ret is unchanged if absent. */
int native_query_time(ApiRequest *q, const char *name, usec_t *ret);

/* Returns an absolute path unchanged, others below the sandbox's workdir. It resolves nothing. The caller
 * frees. */
char *native_path(const Sandbox *sb, const char *path);

/* Applies the limits of the request's sandbox to the time. Beyond them: answers 403 and returns a negative
 * value. */
int native_time(ApiRequest *q, TimeAsked *asked);
/* Answers with an error of the core. A plain errno from the host says nothing about the client's request: a missing file
 * of ours must not look like a missing sandbox. So such errors become -EIO. */
int native_core_error(ApiRequest *q, int r, const char *text);

/* Checks that the configuration has the profile; NULL and "" are valid. Negative: has answered 400. */
int native_profile_there(ApiRequest *q, const char *name);

/* Answers 400 about one query parameter, in the format of complaints about fields. */
int native_complain(ApiRequest *q, const char *field, const char *format, ...) _printf_(3, 4);
