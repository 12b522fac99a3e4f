#include "archive/copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/transfer.h"
#include "base/fd.h"

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
        int r = fd_read_alloc(fd, COPY_MAP_MAX, &m->text, &m->size);

        if (r == -EFBIG || r == -ENOMEM)
                return error_set(reterr, -E2BIG, "too many files to be copied at once");
        return r < 0 ? error_set(reterr, r, "cannot read the list of what to copy: %m") : 0;
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

/* Returns the first pair with this name. There may be several: a file may be copied to several
 * destinations. */
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

typedef struct MappedCopy {
        Map map;
        const CopyRules *rules;
} MappedCopy;

static int copy_change_mapped(FileEntry *e, void *userdata, Error *reterr) {
        const MappedCopy *c = userdata;
        const ArchiveCopyPair *pair = map_find(&c->map, e->path), *target = pair && e->hard ? map_find(&c->map, e->target) : NULL;
        int r = 0;

        if (!pair)
                return 0;
        if (e->hard && !target)
                return error_set(reterr, -ENOENT, "%.200s: is a link to %.200s, which is not copied", e->path, e->target);
        if (target)
                r = rename_to(e->target, target->to, reterr);
        if (r >= 0)
                r = rename_to(e->path, pair->to, reterr);
        archive_copy_apply(e, c->rules);
        return r < 0 ? r : 1;
}

int copy_by_map(int from, int map_fd, const CopyRules *rules, uint64_t *ret_count, Error *reterr) {
        MappedCopy c = { .rules = rules };
        int r = map_read(&c.map, map_fd, reterr);

        if (r >= 0)
                r = transfer_unpack(from, copy_change_mapped, &c, ret_count, reterr);
        map_done(&c.map);
        return r;
}

/* `path` is "" for the packed directory itself. Copies of a single file are renamed to `to`, whatever the
 * file was called. */
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

typedef struct GraftCopy {
        const char *to;
        bool directory;
        const CopyRules *rules;
} GraftCopy;

static int copy_change_grafted(FileEntry *e, void *userdata, Error *reterr) {
        const GraftCopy *c = userdata;
        int r;

        if (c->directory && e->path[0] == '\0')
                return 0; /* the destination directory keeps its owner and mode, or has those of every new directory */
        r = graft_name(e->path, c->to, c->directory, reterr);
        if (r >= 0 && e->hard)
                r = graft_name(e->target, c->to, c->directory, reterr);
        archive_copy_apply(e, c->rules);
        return r < 0 ? r : 1;
}

int copy_graft(int from, const char *to, bool directory, const CopyRules *rules, uint64_t *ret_count, Error *reterr) {
        GraftCopy c = { .to = to, .directory = directory, .rules = rules };

        return transfer_unpack(from, copy_change_grafted, &c, ret_count, reterr);
}
