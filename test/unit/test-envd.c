/* What envd's services share: lines of /etc/passwd, paths, modes as Go prints them, events. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/e2b/envd/filesystem.h"
#include "base/passwd.h"

static const char passwd[] = "root:x:0:0:root:/root:/bin/sh\n"
                             "# comment\n"
                             "broken:x:abc:0::/x:\n"
                             "short:x:5\n"
                             "user:x:1000:1001:,,,:/home/user:/bin/bash\n"
                             "user:x:7:7::/second:\n"
                             "homeless:x:8:9:::\n"
                             "last:x:4294967295:1::/:";

TEST(passwd) {
        PasswdUser u;
        char name[PASSWD_NAME_BYTES];

        check_true("user", passwd_find_name(passwd, strlen(passwd), "user", &u));
        check_uint("uid", u.uid, 1000);
        check_uint("gid", u.gid, 1001);
        check_string("home", u.home, "/home/user");
        check_true("by number", passwd_find_uid(passwd, strlen(passwd), 8, &u));
        check_string("name", u.name, "homeless");
        check_string("home", u.home, "/");
        check_true("broken", !passwd_find_name(passwd, strlen(passwd), "broken", &u));
        check_true("short", !passwd_find_name(passwd, strlen(passwd), "short", &u));
        check_true("nobody's number", !passwd_find_name(passwd, strlen(passwd), "last", &u));
        check_true("nobody", !passwd_find_name(passwd, strlen(passwd), "use", &u));
        check_true("nothing", !passwd_find_uid("", 0, 0, &u));
        check_true("group", group_find_gid("a:x:1:\nb:x:2:a,b\n", 17, 2, name));
        check_string("group", name, "b");
        check_true("no group", !group_find_gid("a:x:1:\nb:x:2:a,b\n", 17, 3, name));
}

TEST(paths) {
        static const EnvdUser user = { .name = "user", .uid = 1000, .home = "/home/user" };
        static const struct {
                const char *text, *workdir, *path;
        } rows[] = {
                { "a.txt",           NULL,    "/home/user/a.txt"   },
                { "",                NULL,    "/home/user"         },
                { "",                "/code", "/code"              },
                { NULL,              "/code", "/code"              },
                { "x",               "/code", "/home/user/x"       },
                { "~",               "/code", "/home/user"         },
                { "~/x",             NULL,    "/home/user/x"       },
                { "./a//b/../c/",    NULL,    "/home/user/a/c"     },
                { "../../../etc",    NULL,    "/etc"               },
                { "/",               NULL,    "/"                  },
                { "/..",             NULL,    "/"                  },
                { "/a/~",            NULL,    "/a/~"               },
                { "~other",          NULL,    NULL                 },
        };
        char longer[FILE_PATH_BYTES + 1];
        char *path;

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                int r = envd_path(&user, rows[i].workdir, rows[i].text, &path);

                check_result(rows[i].text ? rows[i].text : "NULL", r, rows[i].path ? 0 : -EINVAL);
                if (r < 0)
                        continue;
                check_string(rows[i].text ? rows[i].text : "NULL", path, rows[i].path);
                free(path);
        }
        memset(longer, 'x', sizeof(longer));
        longer[0] = '/';
        longer[sizeof(longer) - 1] = '\0';
        check_result("too long", envd_path(&user, NULL, longer, &path), -EINVAL);
}

TEST(permissions) {
        static const struct {
                uint32_t mode;
                const char *text;
        } rows[] = {
                { S_IFREG | 0644,           "-rw-r--r--"   }, { S_IFDIR | 0755,           "drwxr-xr-x"   },
                { S_IFLNK | 0777,           "Lrwxrwxrwx"   }, { S_IFDIR | S_ISVTX | 0777, "dtrwxrwxrwx"  },
                { S_IFREG | S_ISUID | 0755, "urwxr-xr-x"   }, { S_IFREG | S_ISGID | 0710, "grwx--x---"   },
                { S_IFCHR | 0666,           "Dcrw-rw-rw-"  }, { S_IFBLK | 0660,           "Drw-rw----"   },
                { S_IFIFO | 0600,           "prw-------"   }, { S_IFSOCK | 0,             "S---------"   },
                { S_IFDIR | S_ISUID | S_ISGID | S_ISVTX | 0, "dugt---------" },
        };
        char text[16];

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                fs_permissions(rows[i].mode, text);
                check_string("permissions", text, rows[i].text);
        }
}

TEST(entries) {
        static const uint8_t labels[] = "author\0me\0bad\0\xff\0";
        FileEntry e = {
                .path = "d/\xff", .target = "/x", .mode = S_IFLNK | 0777, .target_mode = S_IFDIR | 0700, .uid = 5, .gid = 6, .size = 9, .mtime_nsec = -1,
                .detailed = true, .group = "staff", .labels = labels, .labels_size = sizeof(labels) - 1,
        };
        Filesystem__EntryInfo *i;

        check_result("entry", fs_entry_new(&e, "/home", &i), 0);
        check_string("path", i->path, "/home/d/\xef\xbf\xbd");
        check_string("name", i->name, "\xef\xbf\xbd");
        check_string("owner", i->owner, "5");
        check_string("group", i->group, "staff");
        check_string("target", i->symlink_target, "/x");
        check_int("type", i->type, FILESYSTEM__FILE_TYPE__FILE_TYPE_DIRECTORY);
        check_uint("mode", i->mode, 0700);
        check_int("seconds", i->modified_time->seconds, -1);
        check_int("nanos", i->modified_time->nanos, 999999999);
        check_uint("labels", i->n_metadata, 1);
        check_string("key", i->metadata[0]->key, "author");
        check_string("value", i->metadata[0]->value, "me");
        filesystem__entry_info__free_unpacked(i, NULL);
}

/* Each kind, with an entry that is kept or not. */
TEST(events) {
        static const struct {
                FileEvent event;
                int n;
                Filesystem__EventType types[2];
                int with_entry; /* which has it; -1: none */
        } rows[] = {
                { { .kind = FILE_CREATED, .path = "a" },                 1, { FILESYSTEM__EVENT_TYPE__EVENT_TYPE_CREATE }, 0  },
                { { .kind = FILE_MODIFIED, .path = "a" },                1, { FILESYSTEM__EVENT_TYPE__EVENT_TYPE_WRITE }, 0   },
                { { .kind = FILE_ATTRIBUTES, .path = "a" },              1, { FILESYSTEM__EVENT_TYPE__EVENT_TYPE_CHMOD }, 0   },
                { { .kind = FILE_REMOVED, .path = "a" },                 1, { FILESYSTEM__EVENT_TYPE__EVENT_TYPE_REMOVE }, -1 },
                { { .kind = FILE_RENAMED, .path = "a" },                 1, { FILESYSTEM__EVENT_TYPE__EVENT_TYPE_RENAME }, -1 },
                { { .kind = FILE_RENAMED, .path = "a", .target = "b" },  2,
                  { FILESYSTEM__EVENT_TYPE__EVENT_TYPE_RENAME, FILESYSTEM__EVENT_TYPE__EVENT_TYPE_CREATE },                1  },
        };
        const FileEntry entry = { .path = "a", .mode = S_IFREG, .detailed = true };

        for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
                Filesystem__FilesystemEvent *events[2];
                Filesystem__EntryInfo *info;

                check_result("entry", fs_entry_new(&entry, "/", &info), 0);
                check_int("events", fs_events_new(&rows[i].event, info, events), rows[i].n);
                for (int k = 0; k < rows[i].n; k++) {
                        check_int("type", events[k]->type, rows[i].types[k]);
                        check_string("name", events[k]->name, k == 0 ? "a" : "b");
                        check_true("entry", (events[k]->entry != NULL) == (k == rows[i].with_entry));
                        filesystem__filesystem_event__free_unpacked(events[k], NULL);
                }
        }
}
