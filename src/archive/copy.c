#include "archive/copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/peer.h"
#include "archive/transfer.h"

typedef struct ArchiveCopyPair {
        const char *from, *to;
} ArchiveCopyPair;

typedef struct Map {
        char *text;
        size_t size;
        ArchiveCopyPair *pairs; /* by from */
        size_t n;
} Map;

static void map_done(Map *m) {
        free(m->text);
        free(m->pairs);
}

static int map_load(Map *m, int fd, Error *reterr) {
        for (size_t room = 0;;) {
                ssize_t n;

                if (m->size == room) {
                        char *larger = room < COPY_MAP_MAX ? realloc(m->text, room = MAX_OF(room * 2, (size_t) 65536)) : NULL;

                        if (!larger)
                                return error_set(reterr, -E2BIG, "too many files to be copied at once");
                        m->text = larger;
                }
                n = read(fd, m->text + m->size, room - m->size);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return error_set(reterr, -errno, "cannot read the list of what to copy: %m");
                if (n == 0)
                        return 0;
                m->size += (size_t) n;
        }
}

static int archive_copy_compare(const void *a, const void *b) {
        return strcmp(((const ArchiveCopyPair *) a)->from, ((const ArchiveCopyPair *) b)->from);
}

static int map_read(Map *m, int fd, Error *reterr) {
        size_t strings = 0;
        const char *p;
        int r = map_load(m, fd, reterr);

        if (r < 0)
                return r;
        for (size_t i = 0; i < m->size; i++)
                strings += m->text[i] == '\0';
        if (strings % 2 != 0 || (m->size > 0 && m->text[m->size - 1] != '\0'))
                return error_set(reterr, -EBADMSG, "the list of what to copy is cut off");
        m->n = strings / 2;
        m->pairs = calloc(MAX_OF(m->n, (size_t) 1), sizeof(*m->pairs));
        if (!m->pairs)
                return error_set(reterr, -ENOMEM, "out of memory");
        p = m->text;
        for (size_t i = 0; i < m->n; i++) {
                m->pairs[i].from = p;
                p += strlen(p) + 1;
                m->pairs[i].to = p;
                p += strlen(p) + 1;
        }
        qsort(m->pairs, m->n, sizeof(*m->pairs), archive_copy_compare);
        return 0;
}

/* The first of those that have this name: a file may go to several places. */
static const ArchiveCopyPair *map_find(const Map *m, const char *from) {
        const ArchiveCopyPair key = { .from = from }, *found = m->n > 0 ? bsearch(&key, m->pairs, m->n, sizeof(*m->pairs), archive_copy_compare) : NULL;

        while (found && found > m->pairs && strcmp(found[-1].from, from) == 0)
                found--;
        return found;
}

static void archive_copy_apply(FileEntry *e, const CopyRules *rules) {
        if (rules->has_owner) {
                e->uid = rules->uid;
                e->gid = rules->gid;
        }
        if (rules->has_mode && !S_ISLNK(e->mode))
                e->mode = (e->mode & (uint32_t) S_IFMT) | rules->mode;
}

static int rename_to(char *place, const char *to, Error *reterr) {
        if (strlen(to) >= FILE_PATH_BYTES)
                return error_set(reterr, -ENAMETOOLONG, "'%.64s…' has %zu bytes", to, strlen(to));
        (void) strcpy(place, to);
        return 0;
}

static int put_mapped(TarReader *reader, const Map *map, FileMessage *m, const CopyRules *rules, Error *reterr) {
        const ArchiveCopyPair *pair;
        int r = transfer_check_entry(&m->entry, reterr);

        if (r < 0)
                return r;
        pair = map_find(map, m->entry.path);
        if (!pair)
                return 0;
        if (m->entry.hard) {
                const ArchiveCopyPair *target = map_find(map, m->entry.target);

                if (!target)
                        return error_set(reterr, -ENOENT, "%.200s: is a link to %.200s, which is not copied", m->entry.path, m->entry.target);
                r = rename_to(m->entry.target, target->to, reterr);
        }
        if (r >= 0)
                r = rename_to(m->entry.path, pair->to, reterr);
        if (r < 0)
                return r;
        archive_copy_apply(&m->entry, rules);
        return transfer_put(reader, m, reterr);
}

int copy_by_map(int from, int map_fd, const CopyRules *rules, uint64_t *ret_count, Error *reterr) {
        _cleanup_(tar_reader_freep) TarReader *reader = NULL;
        _cleanup_(map_done) Map map = { 0 };
        static FileMessage m;
        int r = map_read(&map, map_fd, reterr);

        if (r < 0)
                return r;
        r = tar_reader_new(from, &reader, reterr);
        if (r < 0)
                return r;
        for (;;) {
                m.type = FILE_PUT;
                r = tar_reader_next(reader, &m.entry, reterr);
                if (r <= 0)
                        break;
                r = put_mapped(reader, &map, &m, rules, reterr);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : transfer_commit(from, ret_count, reterr);
}

/* "" is the directory that was packed; a file has a name of its own, which does not count. */
static int graft_name(char *path, const char *to, bool directory, Error *reterr) {
        static char name[FILE_PATH_BYTES];

        if (!directory || path[0] == '\0')
                return rename_to(path, to, reterr);
        if (strlen(to) + 1 + strlen(path) >= sizeof(name))
                return error_set(reterr, -ENAMETOOLONG, "'%.64s/%.64s…' is too long", to, path);
        (void) strcpy(name, to);
        if (*to != '\0')
                (void) strcat(name, "/");
        (void) strcat(name, path);
        (void) strcpy(path, name);
        return 0;
}

int copy_graft(int from, const char *to, bool directory, const CopyRules *rules, uint64_t *ret_count, Error *reterr) {
        _cleanup_(tar_reader_freep) TarReader *reader = NULL;
        static FileMessage m;
        int r = tar_reader_new(from, &reader, reterr);

        if (r < 0)
                return r;
        for (;;) {
                m.type = FILE_PUT;
                r = tar_reader_next(reader, &m.entry, reterr);
                if (r <= 0)
                        break;
                r = transfer_check_entry(&m.entry, reterr);
                if (r < 0)
                        return r;
                if (directory && m.entry.path[0] == '\0')
                        continue; /* where it goes has an owner and a mode already, or gets those of every new directory */
                r = graft_name(m.entry.path, to, directory, reterr);
                if (r >= 0 && m.entry.hard)
                        r = graft_name(m.entry.target, to, directory, reterr);
                if (r < 0)
                        return r;
                archive_copy_apply(&m.entry, rules);
                r = transfer_put(reader, &m, reterr);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : transfer_commit(from, ret_count, reterr);
}
