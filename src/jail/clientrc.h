/* clientrc.h: what the host's pip, npm and apt are set to, for those inside a sandbox on the host's template.
 *
 * Where packages come from and whom to trust there goes inside. Passwords stay outside, as do proxies: the gate connects directly (policy.md).
 * Must not know: how the texts get there (hostetc.c, sharedetc.c), who compares them later (tree/delta-disk.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define CLIENTRC_BYTES 8192 /* of a text */

/* pip: the host's lines, less those, and that the distribution's packages may have others beside them (PEP 668): a sandbox is nobody's machine. */
#define CLIENTRC_PIP "etc/pip.conf"
void clientrc_read_pip(int root, char ret[static CLIENTRC_BYTES]);
void clientrc_filter_pip(char *ret, size_t size, const char *host);

/* npm: of the host's only the lines that clients inside have a use for, and the host's authorities. Where the settings for all users are depends on who has
 * made npm; inside, they are at the first of these places. */
#define CLIENTRC_NPM        "etc/npmrc"
#define CLIENTRC_NPM_PLACES 3
extern const char *const clientrc_npm_places[CLIENTRC_NPM_PLACES];
void clientrc_read_npm(int root, char ret[static CLIENTRC_BYTES]);
void clientrc_filter_npm(char *ret, size_t size, const char *host);

/* In the sandbox's root directory: the others of them, which come with /usr, less passwords. ret_path: the last that was looked at. */
int clientrc_hide_npm(int root, const char **ret_path);

/* apt's sources, one file or several in a directory: "https://user:password@host/" becomes "https://host/". */
#define CLIENTRC_APT "etc/apt/sources.list"
bool clientrc_is_apt(const char *path);
int clientrc_copy_apt(int from, int to);
bool clientrc_apt_has_password(const char *directory); /* also where one of its files cannot be read */
void clientrc_strip_passwords(char *text);
