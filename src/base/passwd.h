/* passwd.h: lines of /etc/passwd and /etc/group, as text. Pure; the text is untrusted. Knows libc only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PASSWD_FILE_MAX   ((size_t) 1 << 20)
#define PASSWD_NAME_BYTES 64
#define PASSWD_HOME_BYTES 1024

typedef struct PasswdUser {
        char name[PASSWD_NAME_BYTES];
        uint32_t uid, gid;
        char home[PASSWD_HOME_BYTES]; /* "/" if the line has none */
} PasswdUser;

/* Finds the first line with that name or number. Skips lines that are malformed or too long. False: not found. */
bool passwd_find_name(const char *text, size_t size, const char *name, PasswdUser *ret);
bool passwd_find_uid(const char *text, size_t size, uint32_t uid, PasswdUser *ret);
bool group_find_gid(const char *text, size_t size, uint32_t gid, char ret_name[static PASSWD_NAME_BYTES]);
bool group_find_name(const char *text, size_t size, const char *name, uint32_t *ret);
