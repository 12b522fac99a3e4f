#include "cli/basis.h"

#include <stdio.h>
#include <unistd.h>

#include "base/macro.h"

#define PLACES(...) (const char *const[]) { __VA_ARGS__, NULL }

const BasisItem basis_items[] = {
        { "bash",         "shells of commands, terminals and logins",     "bash",            PLACES("/usr/bin/bash", "/bin/bash") },
        { "python3",      "python of sandboxes, and of code contexts",    "python3",         PLACES("/usr/bin/python3", "/usr/local/bin/python3") },
        { "git",          "the git commands of SDKs",                     "git",             PLACES("/usr/bin/git", "/usr/local/bin/git") },
        { "curl",         "downloads by agents",                "curl",            PLACES("/usr/bin/curl", "/usr/local/bin/curl") },
        { "certificates", "TLS to others",                                "ca-certificates", PLACES("/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/cert.pem", "/etc/pki/tls/certs/ca-bundle.crt") },
        { "terminfo",     "terminals of the kind xterm-256color",         "ncurses-base",
          PLACES("/usr/share/terminfo/x/xterm-256color", "/usr/lib/terminfo/x/xterm-256color", "/lib/terminfo/x/xterm-256color") },
        { "tput",         "queries about terminals",                         "ncurses-bin",     PLACES("/usr/bin/tput") },
        { "ps",           "lists of processes",                           "procps",          PLACES("/usr/bin/ps", "/bin/ps") },
        { "useradd",      "users that sandboxes make",                    "passwd",          PLACES("/usr/sbin/useradd", "/usr/bin/useradd") },
};
const size_t basis_n_items = ELEMENTSOF(basis_items);

Finding basis_find(const BasisItem *item, const char *root) {
        Finding f = { 0 };

        for (const char *const *p = item->places; *p; p++) {
                char path[512];

                (void) snprintf(path, sizeof(path), "%s%s", root, *p);
                if (access(path, F_OK) < 0)
                        continue;
                f.ok = true;
                (void) snprintf(f.detail, sizeof(f.detail), "%s", *p);
                return f;
        }
        (void) snprintf(f.detail, sizeof(f.detail), "not on this host");
        (void) snprintf(f.cure, sizeof(f.cure), "apt-get install %s", item->package);
        return f;
}
