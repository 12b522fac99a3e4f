/* clientrc.h: the host's settings of pip, npm and apt, for clients inside a sandbox on the host's template.
 *
 * Package sources and certificate authorities go inside. Passwords and proxies stay outside: clients inside connect to the gate, which uses the
 * host's proxy (docs/policy.md).
 * Must not know: how the texts are put in place (hostetc.c, sharedetc.c), who compares them later (tree/delta-disk.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define CLIENTRC_BYTES 8192 /* of a text */

/* pip: the host's lines without passwords and proxies, and permission to install beside the distribution's packages (PEP 668), since a sandbox is
 * not a shared system. */
#define CLIENTRC_PIP "etc/pip.conf"
void clientrc_read_pip(int root, char ret[static CLIENTRC_BYTES]);
void clientrc_filter_pip(char *ret, size_t size, const char *host);

/* npm: the host's lines about registries and authorities, and the host's authorities. The place of the settings for all users depends on the package
 * of npm; inside, they are at the first of these places. */
#define CLIENTRC_NPM        "etc/npmrc"
#define CLIENTRC_NPM_PLACES 3
extern const char *const clientrc_npm_places[CLIENTRC_NPM_PLACES];
void clientrc_read_npm(int root, char ret[static CLIENTRC_BYTES]);
void clientrc_filter_npm(char *ret, size_t size, const char *host);

/* The other places come with /usr. Whether the one below the sandbox's root has a password; ret: its text without. */
bool clientrc_npm_without_password(int root, const char *path, char ret[static CLIENTRC_BYTES]);

/* apt's sources, a file or several in a directory: "https://user:password@host/" becomes "https://host/"; a
 * line with a password in another spelling becomes a comment. The directory is not shown as it is: an operator may add a password while a sandbox
 * lives. */
#define CLIENTRC_APT "etc/apt/sources.list"
bool clientrc_is_apt(const char *path);
int clientrc_copy_apt(int from, int to);
void clientrc_strip_passwords(char *text);
