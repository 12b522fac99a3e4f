#include "registry/member.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_SIZE (256 * 1024)

struct Members {
        struct archive *archive;
        int fd;
        MembersTee tee;
        void *userdata;
        int error; /* of the tee or of read(2) */
        char block[BLOCK_SIZE];
};

static int member_fail(Members *m, Error *reterr) {
        const char *text = archive_error_string(m->archive);

        if (m->error < 0)
                return reterr && reterr->code == m->error ? m->error : error_set(reterr, m->error, "the archive cannot be read: %m");
        return error_set(reterr, -EBADMSG, "what came is no tar archive, or is damaged or cut off: %.200s", text ? text : "no reason given");
}

static ssize_t member_read_some(Members *m) {
        ssize_t n;

        do
                n = read(m->fd, m->block, sizeof(m->block));
        while (n < 0 && errno == EINTR);
        if (n < 0)
                m->error = -errno;
        else if (n > 0 && m->tee)
                m->error = m->tee(m->userdata, m->block, (size_t) n);
        return m->error < 0 ? -1 : n;
}

static la_ssize_t member_on_read(struct archive *a, void *userdata, const void **ret) {
        Members *m = userdata;
        ssize_t n = member_read_some(m);

        if (n < 0)
                archive_set_error(a, -m->error, "%s", strerror(-m->error));
        *ret = m->block;
        return n;
}

int members_new(int fd, bool raw, MembersTee tee, void *userdata, Members **ret, Error *reterr) {
        _cleanup_(members_freep) Members *m = calloc(1, sizeof(*m));

        (void) setlocale(LC_CTYPE, "C.UTF-8"); /* in this locale libarchive leaves UTF-8 unchanged */
        if (!m || !(m->archive = archive_read_new()))
                return error_set(reterr, -ENOMEM, "out of memory");
        m->fd = fd;
        m->tee = tee;
        m->userdata = userdata;
        /* Not all filters of libarchive: some run other programs. */
        if (archive_read_support_filter_gzip(m->archive) < ARCHIVE_WARN || archive_read_support_filter_zstd(m->archive) < ARCHIVE_WARN ||
            archive_read_support_filter_xz(m->archive) < ARCHIVE_WARN || archive_read_support_filter_bzip2(m->archive) < ARCHIVE_WARN ||
            (raw ? archive_read_support_format_raw(m->archive) : archive_read_support_format_tar(m->archive)) < ARCHIVE_WARN ||
            archive_read_open(m->archive, m, NULL, member_on_read, NULL) != ARCHIVE_OK)
                return member_fail(m, reterr);
        *ret = TAKE_PTR(m);
        return 0;
}

Members *members_free(Members *m) {
        if (!m)
                return NULL;
        (void) archive_read_free(m->archive);
        free(m);
        return NULL;
}

void members_freep(Members **m) {
        *m = members_free(*m);
}

int member_clean_name(const char *directory, const char *name, char ret[static MEMBER_NAME_MAX + 1]) {
        size_t size = 0, room = MEMBER_NAME_MAX;

        if (name[0] != '/' && directory[0]) {
                size = strlen(directory);
                memcpy(ret, directory, size);
        }
        for (const char *p = name; *p;) {
                size_t n = strcspn(p, "/");

                if (n == 2 && memcmp(p, "..", 2) == 0) {
                        if (size == 0)
                                return -EINVAL;
                        while (size > 0 && ret[--size] != '/')
                                ;
                } else if (n > 0 && !(n == 1 && *p == '.')) {
                        if (n + 1 > room - size)
                                return -EINVAL;
                        if (size > 0)
                                ret[size++] = '/';
                        memcpy(ret + size, p, n);
                        size += n;
                }
                p += n;
                p += strspn(p, "/");
        }
        ret[size] = 0;
        return 0;
}

static void read_target(struct archive_entry *e, Member *ret) {
        const char *hard = archive_entry_hardlink(e), *soft = archive_entry_symlink(e);
        char directory[MEMBER_NAME_MAX + 1];
        char *slash;

        (void) strcpy(directory, ret->name);
        slash = strrchr(directory, '/');
        directory[slash ? slash - directory : 0] = 0;
        if (!hard && !soft)
                return;
        ret->type = MEMBER_LINK;
        if (member_clean_name(hard ? "" : directory, hard ? hard : soft, ret->target) < 0)
                ret->type = MEMBER_OTHER;
}

int members_next(Members *m, Member *ret, Error *reterr) {
        struct archive_entry *e;
        const char *name;
        int r = archive_read_next_header(m->archive, &e);

        if (r == ARCHIVE_EOF)
                return m->error < 0 ? member_fail(m, reterr) : 0;
        if (r < ARCHIVE_WARN)
                return member_fail(m, reterr);
        *ret = (Member) { .type = MEMBER_OTHER };
        name = archive_entry_pathname(e);
        if (!name || member_clean_name("", name, ret->name) < 0)
                return 1;
        if (archive_entry_filetype(e) == S_IFREG)
                ret->type = MEMBER_FILE;
        else if (archive_entry_filetype(e) == S_IFDIR)
                ret->type = MEMBER_DIRECTORY;
        read_target(e, ret);
        ret->size = ret->type == MEMBER_FILE && archive_entry_size(e) > 0 ? (uint64_t) archive_entry_size(e) : 0;
        return 1;
}

ssize_t members_data(Members *m, void *buffer, size_t size, Error *reterr) {
        la_ssize_t n = archive_read_data(m->archive, buffer, size);

        return n < 0 ? member_fail(m, reterr) : n;
}

MemberCompression members_compression(const Members *m) {
        static const struct {
                int code;
                MemberCompression compression;
        } table[] = {
                { ARCHIVE_FILTER_NONE, COMPRESSION_NONE },
                { ARCHIVE_FILTER_GZIP, COMPRESSION_GZIP },
                { ARCHIVE_FILTER_ZSTD, COMPRESSION_ZSTD },
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++)
                if (archive_filter_code(m->archive, 0) == table[i].code && archive_filter_count(m->archive) <= 2)
                        return table[i].compression;
        return COMPRESSION_OTHER; /* also: compressed twice */
}

int members_drain(Members *m, Error *reterr) {
        ssize_t n;

        do
                n = member_read_some(m);
        while (n > 0);
        return n < 0 ? member_fail(m, reterr) : 0;
}

void members_set_tee(Members *m, MembersTee tee) {
        m->tee = tee;
}
