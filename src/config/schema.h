/* schema.h: the keys of cove.yaml, as shapes; private to the config room.
 *
 * A key is a field: name, notation, the member that it sets, bounds, default, one line of help. Bounds are in the key's
 * unit: seconds for times (pools: milliseconds, as is usual for them), bytes for sizes. */
#pragma once

#include "config/shape.h"

#define KEY_BOOL(type, member)         SHAPE_BOOL, offsetof(type, member)
#define KEY_COUNT(type, member)        SHAPE_UINT32, offsetof(type, member)
#define KEY_UINT64(type, member)       SHAPE_UINT64, offsetof(type, member)
#define KEY_NUMBER(type, member)       SHAPE_DOUBLE, offsetof(type, member)
#define KEY_CORES(type, member)        SHAPE_UINT32, offsetof(type, member), .unit = SHAPE_CORES
#define KEY_MEGABYTES(type, member)    SHAPE_UINT64, offsetof(type, member), .unit = SHAPE_MEGABYTES
#define KEY_TIME(type, member)         SHAPE_UINT64, offsetof(type, member), .unit = SHAPE_SECONDS
#define KEY_MILLISECONDS(type, member) SHAPE_UINT64, offsetof(type, member), .unit = SHAPE_MILLISECONDS
#define KEY_SIZE(type, member)         SHAPE_UINT64, offsetof(type, member), .unit = SHAPE_SIZE
#define KEY_TEXT(type, member)         SHAPE_TEXT, offsetof(type, member)
#define KEY_PATH(type, member)         SHAPE_TEXT, offsetof(type, member), .yaml = &yaml_path
#define KEY_SECRET(type, member)       SHAPE_TEXT, offsetof(type, member), .flags = SHAPE_SECRET
#define KEY_URL(type, member)          SHAPE_TEXT, offsetof(type, member), .flags = SHAPE_SECRET, .yaml = &yaml_url
#define KEY_NAME(type, member)         SHAPE_CHARS, SHAPE_AT(type, member)
#define KEY_ENUM(type, member, words)  SHAPE_ENUM, offsetof(type, member), .names = &(words)
#define KEY_CHOICE(type, member, words) SHAPE_BOOL, offsetof(type, member), .names = &(words)
#define KEY_STRINGS(type, member)      SHAPE_STRV, offsetof(type, member)
#define KEY_ENV(type, member)          SHAPE_ENV, offsetof(type, member)
#define KEY_HEADERS(type, member)      SHAPE_STRV, offsetof(type, member), .yaml = &yaml_headers

#define POOLS_MAX   100
#define ZYGOTES_MAX 8 /* as spawner/zygote.h */

extern const Shape config_shape, profile_config_shape, pool_config_shape, zygote_config_shape, alerts_config_shape, network_config_shape;
extern const ShapeYaml profiles_yaml, pools_yaml, zygotes_yaml, daemon_yaml, policy_yaml, origins_yaml;

/* Called when everything is read: checks and defaults that depend on other keys. */
void network_finish(Reader *r, Config *c);
void network_check_proxy(Reader *r, const Config *c, const YamlNode *root);
int network_expand_packages(NetworkConfig *n);
void policy_finish(Reader *r, Profile *p);
void profiles_finish(Reader *r, Config *c, const YamlNode *root);
void pools_finish(Reader *r, Config *c, const YamlNode *root);
void alerts_finish(Reader *r, Config *c, const YamlNode *root);
int alerts_route_defaults(AlertsConfig *a, const bool told[static _SEVERITY_MAX]);
