/* file-json.c: files and errors as JSON. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/native/files/files.h"
#include "base/text.h"

static const char *type_name(uint32_t mode) {
        static const struct {
                mode_t type;
                const char *name;
        } types[] = {
                { S_IFREG, "file" }, { S_IFDIR, "directory" }, { S_IFLNK, "symlink" },
                { S_IFIFO, "fifo" }, { S_IFSOCK, "socket" },
        };

        for (size_t i = 0; i < ELEMENTSOF(types); i++)
                if ((mode & S_IFMT) == types[i].type)
                        return types[i].name;
        return "device";
}

/* A name need not be UTF-8. Then it is shown with replacements, and exactly in a second field. */
void file_put_path(Text *t, const char *name, const char *path) {
        size_t size = strlen(path);
        bool cut;

        text_format(t, "\"%s\":", name);
        text_quote(t, path, size);
        if (utf8_prefix(path, size, &cut) == size)
                return;
        text_format(t, ",\"%sBase64\":", name);
        text_quote_base64(t, path, size);
}

char *file_join(const char *directory, const char *path) {
        size_t n = strlen(directory);
        char *joined;

        while (n > 1 && directory[n - 1] == '/')
                n--;
        if (path[0] == '\0')
                return strndup(directory, n);
        if (asprintf(&joined, "%.*s%s%s", (int) n, directory, n > 0 && directory[n - 1] == '/' ? "" : "/", path) < 0)
                return NULL;
        return joined;
}

static const char *file_json_last_part(const char *path) {
        const char *slash = strrchr(path, '/');
        return slash && slash[1] ? slash + 1 : path;
}

void file_put_entry(Text *t, const FileEntry *entry, const char *below) {
        _cleanup_free_ char *path = below ? file_join(below, entry->path) : strdup(entry->path);

        if (!path) {
                t->error = -ENOMEM;
                return;
        }
        text_put_string(t, "{");
        file_put_path(t, "path", path);
        text_put_string(t, ",");
        file_put_path(t, "name", file_json_last_part(path));
        text_format(t, ",\"type\":\"%s\",\"size\":%" PRIu64 ",\"mode\":\"%04o\"", type_name(entry->mode), entry->size,
                        (unsigned) entry->mode & 07777);
        text_format(t, ",\"uid\":%" PRIu32 ",\"gid\":%" PRIu32 ",\"mtime\":", entry->uid, entry->gid);
        text_quote_time(t, entry->mtime_nsec);
        text_put_string(t, ",");
        if (S_ISLNK(entry->mode))
                file_put_path(t, "target", entry->target);
        else
                text_put_string(t, "\"target\":null");
        text_put_string(t, "}");
}

int file_answer_text(ApiRequest *q, unsigned status, Text *t) {
        text_put_string(t, "\n");
        if (t->error < 0) {
                int r = t->error;

                text_done(t);
                return api_errno(q, r, "the answer cannot be made");
        }
        q->answered = true;
        return http_answer_take(q->http, status, "application/json", TAKE_PTR(t->data), t->size);
}

int file_answer_entry(ApiRequest *q, unsigned status, const FileEntry *entry) {
        _cleanup_text_ Text t = TEXT_INIT(FILE_ANSWER_MAX);

        file_put_entry(&t, entry, /* below= */ NULL);
        return file_answer_text(q, status, &t);
}

const FileErrorCode *file_error_code(int error) {
        static const FileErrorCode codes[] = {
                { ENOENT,       404, "not_found",       "there is no such file or directory"             },
                { ENOTDIR,      409, "not_a_directory", "it, or a part of its path, is not a directory"  },
                { EISDIR,       409, "is_a_directory",  "it is a directory"                              },
                { ENOTEMPTY,    409, "not_empty",       "the directory is not empty"                     },
                { EEXIST,       409, "exists",          "it already exists"                              },
                { EACCES,       403, "permission",      "permission denied for this user"                },
                { EPERM,        403, "permission",      "permission denied for this user"                },
                { EROFS,        403, "read_only",       "the file system is read-only"                   },
                { ENOSPC,       507, "no_space",        "the disk of the sandbox is full"                },
                { EDQUOT,       507, "no_space",        "the disk of the sandbox is full"                },
                { EFBIG,        413, "too_large",       "the file would be too large"                    },
                { ENAMETOOLONG, 400, "name_too_long",   "the path, or a part of it, is too long"         },
                { ELOOP,        409, "too_many_links",  "there are too many symbolic links on the way"   },
                { EOPNOTSUPP,   409, "not_regular",     "it is not a regular file"                       },
                { ENXIO,        409, "not_regular",     "it is not a regular file"                       },
                { EXDEV,        409, "other_filesystem", "the two places are on different file systems"  },
                { EBUSY,        409, "busy",            "it is in use"                                   },
                { ETXTBSY,      409, "busy",            "it is a running program"                        },
                { EINVAL,       400, "invalid",         "this cannot be done with it"                    },
                { EPIPE,        409, "not_running",     "the sandbox has ended"                          },
                { ESTALE,       409, "not_running",     "the sandbox is not running"                     },
                { ENOMEM,       503, "unavailable",     "there is not enough memory in the sandbox"      },
                { EAGAIN,       503, "unavailable",     "the sandbox has reached its limit of processes" },
                { EMFILE,       503, "unavailable",     "too many files are open: try again later"       },
                { ENFILE,       503, "unavailable",     "too many files are open: try again later"       },
                { ENOBUFS,      503, "unavailable",     "temporarily unavailable: try again"             },
        };
        static const FileErrorCode other = { 0, 500, "internal", NULL };

        for (size_t i = 0; i < ELEMENTSOF(codes); i++)
                if (codes[i].error == error)
                        return codes + i;
        return &other;
}

int file_answer_error(ApiRequest *q, int error, const char *path) {
        const FileErrorCode *code = file_error_code(-error);

        return api_error(q, code->status, code->code, /* hint= */ NULL, "%s: %s", path,
                        code->message ? code->message : strerror(-error));
}
