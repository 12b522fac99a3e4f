/* schema.h: the longer steps of migrations.c, one file per area. Private to the store. */
#pragma once

/* The limits and the user of a sandbox, as three tables were created with. Later columns are added by ALTER TABLE. */
#define SCHEMA_LIMITS                                                                                             \
        "  memory_bytes INTEGER NOT NULL,"                                                                        \
        "  cpu_milli INTEGER NOT NULL,"                                                                           \
        "  cpu_time_usec INTEGER NOT NULL,"                                                                       \
        "  disk_bytes INTEGER NOT NULL,"                                                                          \
        "  pids INTEGER NOT NULL,"                                                                                \
        "  exec_timeout_usec INTEGER NOT NULL,"                                                                   \
        "  output_bytes INTEGER NOT NULL,"                                                                        \
        "  nofile INTEGER NOT NULL,"                                                                              \
        "  env BLOB NOT NULL,"                                                                                    \
        "  workdir TEXT,"                                                                                         \
        "  uid INTEGER NOT NULL,"                                                                                 \
        "  gid INTEGER NOT NULL,"

extern const char schema_jobs[];
extern const char schema_history[];
extern const char schema_alerts[];
extern const char schema_artifacts[];
extern const char schema_cleanup[];
extern const char schema_network[];
extern const char schema_secrets[];
extern const char schema_state[];
extern const char schema_images[];
extern const char schema_builds[];
