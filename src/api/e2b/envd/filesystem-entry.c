/* filesystem-entry.c: converts files of a sandbox to the entries of envd's API. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/e2b/envd/filesystem.h"
#include "base/array.h"

#define ENTRIES_FIRST 64
#define NSEC_PER_SEC  INT64_C(1000000000)

/* Clients expect that the size of a directory is never 0. In our file systems an empty directory has the
 * size 0. */
#define DIRECTORY_SIZE 4096

/* Prints a mode as Go does: one letter per property, "-" if there is none, then nine characters for the
 * permissions. */
void fs_permissions(uint32_t mode, char ret[static 16]) {
        static const char bits[] = "rwxrwxrwx";
        char *p = ret;

        if (S_ISDIR(mode))
                *p++ = 'd';
        if (S_ISLNK(mode))
                *p++ = 'L';
        if (S_ISBLK(mode) || S_ISCHR(mode))
                *p++ = 'D';
        if (S_ISFIFO(mode))
                *p++ = 'p';
        if (S_ISSOCK(mode))
                *p++ = 'S';
        if (mode & S_ISUID)
                *p++ = 'u';
        if (mode & S_ISGID)
                *p++ = 'g';
        if (S_ISCHR(mode))
                *p++ = 'c';
        if (mode & S_ISVTX)
                *p++ = 't';
        if (p == ret)
                *p++ = '-';
        for (unsigned i = 0; i < 9; i++)
                *p++ = mode & (0400u >> i) ? bits[i] : '-';
        *p = '\0';
}

/* Copies a name as UTF-8. Invalid bytes become U+FFFD. */
static char *filesystem_entry_copy_text(const char *text) {
        _cleanup_text_ Text t = TEXT_INIT(4 * FILE_PATH_BYTES);
        const char *p = text, *end = text + strlen(text);

        while (p < end) {
                bool cut;
                size_t n = utf8_prefix(p, (size_t) (end - p), &cut);

                text_put(&t, p, n);
                p += n;
                if (p < end) {
                        text_put_string(&t, "\xef\xbf\xbd");
                        p++;
                }
        }
        text_put(&t, "", 1);
        return t.error < 0 ? NULL : TAKE_PTR(t.data);
}

static char *filesystem_entry_copy_name(const char *name, uint32_t id) {
        char number[16];

        (void) snprintf(number, sizeof(number), "%u", id);
        return filesystem_entry_copy_text(name[0] != '\0' ? name : number);
}

static Filesystem__FileType filesystem_entry_type_of(uint32_t mode) {
        return S_ISREG(mode)   ? FILESYSTEM__FILE_TYPE__FILE_TYPE_FILE
               : S_ISDIR(mode) ? FILESYSTEM__FILE_TYPE__FILE_TYPE_DIRECTORY
                               : FILESYSTEM__FILE_TYPE__FILE_TYPE_UNSPECIFIED;
}

static int filesystem_entry_add_label(Filesystem__EntryInfo *i, const char *key, const char *value) {
        Filesystem__EntryInfo__MetadataEntry *m;

        if (ARRAY_EXTEND(i->metadata, i->n_metadata) < 0)
                return -ENOMEM;
        m = calloc(1, sizeof(*m));
        if (!m)
                return -ENOMEM;
        filesystem__entry_info__metadata_entry__init(m);
        i->metadata[i->n_metadata++] = m;
        m->key = strdup(key);
        m->value = strdup(value);
        return m->key && m->value ? 0 : -ENOMEM;
}

/* The guest may have written any bytes: labels that are not UTF-8 are left out. */
static int add_labels(Filesystem__EntryInfo *i, const FileEntry *e) {
        const char *key, *value;
        size_t offset = 0;
        bool cut;

        while (file_labels_next(e->labels, e->labels_size, &offset, &key, &value))
                if (utf8_prefix(key, strlen(key), &cut) == strlen(key) && utf8_prefix(value, strlen(value), &cut) == strlen(value) &&
                    filesystem_entry_add_label(i, key, value) < 0)
                        return -ENOMEM;
        return 0;
}

static char *whole_path(const FileEntry *e, const char *directory) {
        _cleanup_free_ char *path = NULL;

        if (!directory || e->path[0] == '/')
                return filesystem_entry_copy_text(e->path);
        if (e->path[0] == '\0')
                return filesystem_entry_copy_text(directory);
        if (asprintf(&path, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory, e->path) < 0) {
                path = NULL;
                return NULL;
        }
        return filesystem_entry_copy_text(path);
}

static int fill_entry(Filesystem__EntryInfo *i, const FileEntry *e, const char *directory) {
        const bool link = S_ISLNK(e->mode);
        const char *slash;
        char permissions[16];

        fs_permissions(e->mode, permissions);
        i->path = whole_path(e, directory);
        slash = i->path ? strrchr(i->path, '/') : NULL;
        i->name = slash ? strdup(slash[1] != '\0' ? slash + 1 : slash) : NULL;
        i->permissions = strdup(permissions);
        i->owner = filesystem_entry_copy_name(e->owner, e->uid);
        i->group = filesystem_entry_copy_name(e->group, e->gid);
        i->modified_time = calloc(1, sizeof(*i->modified_time));
        if (link)
                i->symlink_target = filesystem_entry_copy_text(e->target);
        if (!i->name || !i->permissions || !i->owner || !i->group || !i->modified_time || (link && !i->symlink_target))
                return -ENOMEM;
        filesystem__timestamp__init(i->modified_time);
        i->modified_time->has_seconds = i->modified_time->has_nanos = true;
        i->modified_time->nanos = (int32_t) (((e->mtime_nsec % NSEC_PER_SEC) + NSEC_PER_SEC) % NSEC_PER_SEC);
        i->modified_time->seconds = (e->mtime_nsec - i->modified_time->nanos) / NSEC_PER_SEC;
        i->has_type = i->has_size = i->has_mode = true;
        i->type = filesystem_entry_type_of(link ? e->target_mode : e->mode);
        i->mode = (link ? e->target_mode : e->mode) & 0777;
        i->size = S_ISDIR(e->mode) && e->size == 0 ? DIRECTORY_SIZE : (int64_t) e->size;
        return add_labels(i, e);
}

int fs_entry_new(const FileEntry *e, const char *directory, Filesystem__EntryInfo **ret) {
        Filesystem__EntryInfo *i = calloc(1, sizeof(*i));

        if (!i)
                return -ENOMEM;
        filesystem__entry_info__init(i);
        if (fill_entry(i, e, directory) < 0) {
                filesystem__entry_info__free_unpacked(i, NULL);
                return -ENOMEM;
        }
        *ret = i;
        return 0;
}

void fs_entry_ahead(Filesystem__EntryInfo **at, const FileEntry *e, const char *directory) {
        if (*at)
                filesystem__entry_info__free_unpacked(*at, NULL);
        *at = NULL;
        (void) fs_entry_new(e, directory, at);
}

int fs_entry_add(FsCall *c, const FileEntry *e, const char *directory) {
        if (ARRAY_RESERVE(c->entries, c->room, c->n_entries + 1) < 0)
                return -ENOMEM;
        if (fs_entry_new(e, directory, c->entries + c->n_entries) < 0)
                return -ENOMEM;
        c->n_entries++;
        return 0;
}

static int event_new(Filesystem__EventType type, const char *name, Filesystem__EntryInfo *entry, Filesystem__FilesystemEvent **ret) {
        Filesystem__FilesystemEvent *e = calloc(1, sizeof(*e));

        if (!e)
                return -ENOMEM;
        filesystem__filesystem_event__init(e);
        e->has_type = true;
        e->type = type;
        e->name = filesystem_entry_copy_text(name[0] != '\0' ? name : ".");
        if (!e->name) {
                free(e);
                return -ENOMEM;
        }
        e->entry = entry;
        *ret = e;
        return 0;
}

int fs_events_new(const FileEvent *e, Filesystem__EntryInfo *entry, Filesystem__FilesystemEvent *ret[static 2]) {
        static const Filesystem__EventType types[_FILE_EVENT_MAX] = {
                [FILE_CREATED] = FILESYSTEM__EVENT_TYPE__EVENT_TYPE_CREATE,   [FILE_MODIFIED] = FILESYSTEM__EVENT_TYPE__EVENT_TYPE_WRITE,
                [FILE_REMOVED] = FILESYSTEM__EVENT_TYPE__EVENT_TYPE_REMOVE,   [FILE_RENAMED] = FILESYSTEM__EVENT_TYPE__EVENT_TYPE_RENAME,
                [FILE_ATTRIBUTES] = FILESYSTEM__EVENT_TYPE__EVENT_TYPE_CHMOD,
        };
        const bool moved = e->kind == FILE_RENAMED && e->target[0] != '\0';
        const bool carries = e->kind == FILE_CREATED || e->kind == FILE_MODIFIED || e->kind == FILE_ATTRIBUTES || moved;
        int r;

        if (!carries && entry) {
                filesystem__entry_info__free_unpacked(entry, NULL);
                entry = NULL;
        }
        r = event_new(types[e->kind], e->path, moved ? NULL : entry, ret);
        if (r >= 0 && moved) {
                r = event_new(FILESYSTEM__EVENT_TYPE__EVENT_TYPE_CREATE, e->target, entry, ret + 1);
                if (r < 0)
                        filesystem__filesystem_event__free_unpacked(ret[0], NULL);
        }
        if (r < 0 && entry)
                filesystem__entry_info__free_unpacked(entry, NULL);
        return r < 0 ? r : 1 + moved;
}
