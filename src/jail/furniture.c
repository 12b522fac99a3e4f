#include "jail/furniture.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"

#define LIST(array) { array, ELEMENTSOF(array) }

static const char *const overlays[] = {
        "usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32",
};
static const char *const overlays_for_root[] = {
        "etc/alternatives", "etc/ssl/certs", "etc/dpkg", "etc/fonts", "etc/perl", "etc/python3",
        "var/lib/dpkg",
};
const FurnitureList furniture_overlays = LIST(overlays), furniture_overlays_for_root = LIST(overlays_for_root);

static const char *const overlays_beside[] = { "var/lib/dpkg" };
const FurnitureList furniture_overlays_beside = LIST(overlays_beside);

const FurnitureDirectory furniture_directories[] = {
        { "/dev",                            0755,  FURNITURE_OURS     },
        { "/etc",                            0755,  0                  },
        { "/etc/ssl",                        0755,  0                  },
        { "/home",                           0755,  0                  },
        { "/home/user",                      0755,  FURNITURE_FOR_USER },
        { "/proc",                           0555,  FURNITURE_OURS     },
        { "/root",                           0700,  0                  },
        { "/run",                            0755,  0                  },
        { "/sys",                            0555,  FURNITURE_OURS     },
        { "/tmp",                            01777, 0                  },
        { "/var",                            0755,  0                  },
        { "/var/tmp",                        01777, 0                  },
        { FURNITURE_WORKSPACE,               0755,  FURNITURE_FOR_USER },
        { "/etc/apt",                        0755,  FURNITURE_FOR_ROOT },
        { "/etc/apt/apt.conf.d",             0755,  FURNITURE_FOR_ROOT },
        { "/etc/pam.d",                      0755,  FURNITURE_FOR_ROOT },
        { "/mnt",                            0755,  FURNITURE_FOR_ROOT },
        { "/opt",                            0755,  FURNITURE_FOR_ROOT },
        { "/run/lock",                       01777, FURNITURE_FOR_ROOT },
        { "/srv",                            0755,  FURNITURE_FOR_ROOT },
        { "/var/cache",                      0755,  FURNITURE_FOR_ROOT },
        { "/var/cache/apt",                  0755,  FURNITURE_FOR_ROOT },
        { "/var/cache/apt/archives",         0755,  FURNITURE_FOR_ROOT },
        { "/var/cache/apt/archives/partial", 0755,  FURNITURE_FOR_ROOT },
        { "/var/lib",                        0755,  FURNITURE_FOR_ROOT },
        { "/var/lib/apt",                    0755,  FURNITURE_FOR_ROOT },
        { "/var/lib/apt/lists",              0755,  FURNITURE_FOR_ROOT },
        { "/var/lib/apt/lists/partial",      0755,  FURNITURE_FOR_ROOT },
        { "/var/log",                        0755,  FURNITURE_FOR_ROOT },
        { "/var/log/apt",                    0755,  FURNITURE_FOR_ROOT },
        { "/var/mail",                       0755,  FURNITURE_FOR_ROOT },
        { "/var/spool",                      0755,  FURNITURE_FOR_ROOT },
};
const size_t furniture_n_directories = ELEMENTSOF(furniture_directories);

static const char *const copied[] = {
        "etc/bash.bashrc", "etc/ld.so.cache", "etc/services", "etc/protocols",
        "etc/maven/m2.conf", "etc/maven/logging/simplelogger.properties", /* mvn does not start without these; its settings may have passwords */
};

/* Only guest root uses these. Credentials (auth.conf) stay outside. */
static const char *const copied_for_root[] = {
        "etc/adduser.conf", "etc/apt/sources.list", "etc/apt/trusted.gpg", "etc/ca-certificates.conf",
        "etc/debconf.conf", "etc/debian_version", "etc/default/useradd", "etc/deluser.conf",
        "etc/ld.so.conf", "etc/login.defs", "etc/mke2fs.conf", "etc/timezone",
};
const FurnitureList furniture_copied = LIST(copied), furniture_copied_for_root = LIST(copied_for_root);

static const char *const links[] = {
        "etc/localtime", "etc/os-release", "etc/mtab",
};
const FurnitureList furniture_links = LIST(links);

static const char *const shown[] = {
        "etc/alternatives", "etc/ssl/certs", "etc/fonts", "etc/java-11-openjdk", "etc/java-17-openjdk",
        "etc/java-21-openjdk",
};
static const char *const shown_for_root[] = {
        "etc/apt/keyrings", "etc/apt/preferences.d", "etc/apt/sources.list.d", "etc/apt/trusted.gpg.d",
        "etc/dpkg", "etc/ld.so.conf.d", "etc/perl", "etc/python3", "etc/skel", "var/lib/dpkg",
};
const FurnitureList furniture_shown = LIST(shown), furniture_shown_for_root = LIST(shown_for_root);

static const char *const skeleton[] = { ".bash_logout", ".bashrc", ".profile" };
const FurnitureList furniture_skeleton = LIST(skeleton);

static const char *const names[] = { "etc/hosts", "etc/hostname", "etc/resolv.conf" };
const FurnitureList furniture_names = LIST(names);

/* The users and groups that every Debian has (base-passwd), which packages and their scripts count on. */
const char furniture_passwd[] =
        "root:*:0:0:root:/root:/bin/bash\n"
        "daemon:*:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
        "bin:*:2:2:bin:/bin:/usr/sbin/nologin\n"
        "sys:*:3:3:sys:/dev:/usr/sbin/nologin\n"
        "sync:*:4:65534:sync:/bin:/bin/sync\n"
        "games:*:5:60:games:/usr/games:/usr/sbin/nologin\n"
        "man:*:6:12:man:/var/cache/man:/usr/sbin/nologin\n"
        "lp:*:7:7:lp:/var/spool/lpd:/usr/sbin/nologin\n"
        "mail:*:8:8:mail:/var/mail:/usr/sbin/nologin\n"
        "news:*:9:9:news:/var/spool/news:/usr/sbin/nologin\n"
        "uucp:*:10:10:uucp:/var/spool/uucp:/usr/sbin/nologin\n"
        "proxy:*:13:13:proxy:/bin:/usr/sbin/nologin\n"
        "www-data:*:33:33:www-data:/var/www:/usr/sbin/nologin\n"
        "backup:*:34:34:backup:/var/backups:/usr/sbin/nologin\n"
        "list:*:38:38:Mailing List Manager:/var/list:/usr/sbin/nologin\n"
        "irc:*:39:39:ircd:/run/ircd:/usr/sbin/nologin\n"
        "_apt:*:42:65534::/nonexistent:/usr/sbin/nologin\n"
        "nobody:*:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
const char furniture_group[] =
        "root:*:0:\ndaemon:*:1:\nbin:*:2:\nsys:*:3:\nadm:*:4:\ntty:*:5:\ndisk:*:6:\nlp:*:7:\n"
        "mail:*:8:\nnews:*:9:\nuucp:*:10:\nman:*:12:\nproxy:*:13:\nkmem:*:15:\ndialout:*:20:\n"
        "fax:*:21:\nvoice:*:22:\ncdrom:*:24:\nfloppy:*:25:\ntape:*:26:\nsudo:*:27:\naudio:*:29:\n"
        "dip:*:30:\nwww-data:*:33:\nbackup:*:34:\noperator:*:37:\nlist:*:38:\nirc:*:39:\nsrc:*:40:\n"
        "shadow:*:42:\nutmp:*:43:\nvideo:*:44:\nsasl:*:45:\nplugdev:*:46:\nstaff:*:50:\n"
        "games:*:60:\nusers:*:100:\nnogroup:*:65534:\n";
const char furniture_nsswitch[] =
        "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n"
        "networks: files\nprotocols: files\nservices: files\nethers: files\n";

/* As Debian's, plus the directories where a user other than root installs programs: pip uses its directory by default, npm
 * must be told, and then also where the settings of all users are. $EUID saves a process in bash: every command of a client
 * that wants a login shell reads this file. */
const char furniture_profile[] =
        "if [ \"${EUID:-$(id -u)}\" -eq 0 ]; then\n"
        "  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
        "else\n"
        "  PATH=${HOME:-/home/user}/.local/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games\n"
        "  export NPM_CONFIG_PREFIX=${NPM_CONFIG_PREFIX:-${HOME:-/home/user}/.local}\n"
        "fi\n"
        "export PATH NPM_CONFIG_GLOBALCONFIG=${NPM_CONFIG_GLOBALCONFIG:-/etc/npmrc}\n"
        "\n"
        "if [ -n \"${PS1-}\" ] && [ -n \"${BASH-}\" ] && [ -f /etc/bash.bashrc ]; then\n"
        "  . /etc/bash.bashrc\n"
        "fi\n"
        "for i in /etc/profile.d/*.sh; do\n"
        "  [ ! -r \"$i\" ] || . \"$i\"\n"
        "done\n"
        "unset i\n";

#define PAM_AUTH     "auth required pam_unix.so\n"
#define PAM_ACCOUNT  "account required pam_unix.so\n"
#define PAM_PASSWORD "password required pam_unix.so sha512\n"
#define PAM_SESSION  "session required pam_permit.so\n"
#define PAM_OTHER    PAM_AUTH PAM_ACCOUNT PAM_PASSWORD PAM_SESSION
#define PAM_BY_ROOT  "auth sufficient pam_rootok.so\n" PAM_OTHER

/* Root becomes anybody. All others need a password, which nobody has at first. */
const FurnitureText furniture_pam[] = {
        { "etc/pam.d/other",                         PAM_OTHER    },
        { "etc/pam.d/common-auth",                   PAM_AUTH     },
        { "etc/pam.d/common-account",                PAM_ACCOUNT  },
        { "etc/pam.d/common-password",               PAM_PASSWORD },
        { "etc/pam.d/common-session",                PAM_SESSION  },
        { "etc/pam.d/common-session-noninteractive", PAM_SESSION  },
        { "etc/pam.d/su",                            PAM_BY_ROOT  },
        { "etc/pam.d/su-l",                          PAM_BY_ROOT  },
        { "etc/pam.d/runuser",                       PAM_BY_ROOT  },
        { "etc/pam.d/runuser-l",                     PAM_BY_ROOT  },
        { "etc/pam.d/chfn",                          PAM_BY_ROOT  },
        { "etc/pam.d/chsh",                          PAM_BY_ROOT  },
};
const size_t furniture_n_pam = ELEMENTSOF(furniture_pam);

void furniture_write_passwd(char *ret, size_t size, uid_t uid, gid_t gid) {
        (void) snprintf(ret, size, "%s" FURNITURE_USER_LINE "%u:%u:user:/home/user:/bin/bash\n", furniture_passwd, uid, gid);
}

void furniture_write_group(char *ret, size_t size, gid_t gid) {
        (void) snprintf(ret, size, "%s" FURNITURE_USER_LINE "%u:\n", furniture_group, gid);
}
