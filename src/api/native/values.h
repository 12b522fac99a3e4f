/* values.h: what callers write that has a form of its own: users, modes, signals, seconds, paths.
 *
 * As fields of JSON bodies (native_field_*) and as query parameters (native_query_*: 0 absent, 1 there, negative: answered
 * with 400). */
#pragma once

#include "api/surface.h"
#include "core/allowance.h"

#define NATIVE_WORKDIR "/workspace" /* of a sandbox that names none */
#define NATIVE_PATH_MAX 4095
#define NATIVE_ID_MAX 65534

typedef struct NativeUser {
        bool given;
        uint32_t uid, gid;
} NativeUser;

/* "root", "user", "1000", "1000:100". -EINVAL. */
int native_parse_user(const char *text, uint32_t *ret_uid, uint32_t *ret_gid);
int native_parse_mode(const char *text, uint32_t *ret);  /* octal, up to 7777 */
int native_parse_signal(const char *text);               /* "SIGTERM", "TERM", "15"; the number, or -EINVAL */

int native_field_time(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c); /* TimeAsked.usec, in seconds */
int native_field_user(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c);   /* NativeUser */
int native_field_mode(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c);   /* uint32_t */
int native_field_signal(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c); /* int */

int native_field_object_name(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c); /* char *: core/name.h */

int native_query_user(ApiRequest *q, const char *name, NativeUser *ret);
int native_query_mode(ApiRequest *q, const char *name, uint32_t *ret);
int native_query_seconds(ApiRequest *q, const char *name, usec_t *ret);
int native_query_time(ApiRequest *q, const char *name, usec_t *ret); /* wall clock: an ISO time, or how long ago: "3600", "90m"; untouched when absent */

/* As it is when absolute, else below the sandbox's workdir; no part of it is looked at. The caller frees. */
char *native_path(const Sandbox *sb, const char *path);

/* The core could not do it. What errno it has from the host says nothing about what the caller named: an absent file of ours
 * must not look like an absent sandbox. */
/* By what the request's sandbox allows, the time becomes what it is; beyond it, has answered (403) and is negative. */
int native_time(ApiRequest *q, TimeAsked *asked);
int native_core_error(ApiRequest *q, int r, const char *text);

/* Whether the configuration has the profile; NULL and "" are none. Has answered (400) when it is negative. */
int native_profile_there(ApiRequest *q, const char *name);

/* 400 about one query parameter, in the form that complaints about fields have. */
int native_complain(ApiRequest *q, const char *field, const char *format, ...) _printf_(3, 4);
