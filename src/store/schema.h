/* schema.h: the later steps of the schema, a file per area. Private to the store. */
#pragma once

extern const char schema_core[];
extern const char schema_jobs[];
extern const char schema_history[];
extern const char schema_alerts[];
extern const char schema_artifacts[];
extern const char schema_cleanup[];
extern const char schema_previews[];
extern const char schema_network[];
extern const char schema_secrets[];
extern const char schema_policies[];
extern const char schema_state[];
extern const char schema_volumes[];
extern const char schema_sudo[];
extern const char schema_images[];
extern const char schema_dialect[];
extern const char schema_builds[];
