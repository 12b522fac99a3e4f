#include "store/database.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/macro.h"
#include "store/wal.h"
#include "store/statement.h"

#define FREE_PAGES_MAX    4096  /* 16 MiB */
#define CHECKED_PAGES_MAX 32768 /* 128 MiB */
#define LOG_BYTES (UINT64_C(16) << 20) /* as journal_size_limit: twice its size at a checkpoint, so 8 MiB of it are the reserve */
#define LOG_SHARE 16                   /* on a small disk, 1/16 of it */

/* EXCLUSIVE: only the first process gets access, and the index of the log is plain memory instead of a shared
 * file: 5 µs less per commit, of about 14, measured on the development machine. It has to be set before WAL.
 *
 * NORMAL: a commit is written to the log and not synced. The kernel has it, so it survives any death of the
 * process; a crash of the machine can lose the last commits, but only whole ones, in order (store_sync() is for
 * those that must not be lost). FULL would add an fsync to each, which takes as long as ten to a hundred
 * commits.
 *
 * A checkpoint runs every 2000 pages, about every 150 sandboxes. It takes 10 ms; with half as many, each takes
 * twice as long, and with twice as many, the mean time of a commit grows by a third. The file of the log is
 * kept, so that it does not have to grow again each time. Pages of deleted rows are reused, so the database is
 * as large as at its fullest moment, until shrink() at a later start. There is no auto_vacuum: it writes a map
 * of pages along with every page that is allocated or freed. */
static const char settings[] =
        "PRAGMA locking_mode = EXCLUSIVE;"
        "PRAGMA synchronous = NORMAL;"
        "PRAGMA wal_autocheckpoint = 2000;"
        "PRAGMA journal_size_limit = 16777216;"
        "PRAGMA cache_size = -4096;"
        "PRAGMA temp_store = MEMORY;"
        "PRAGMA trusted_schema = OFF;"
        "PRAGMA cell_size_check = ON;";

static int first_text(void *userdata, int n, char **values, char **names) {
        char **first = userdata;

        if (n > 0 && values[0] && !*first)
                *first = strdup(values[0]);
        return 0;
}

/* SQLite reports the resulting mode, and does not fail if it is another one. */
static int enter_wal(sqlite3 *db) {
        _cleanup_free_ char *mode = NULL;
        int rc = sqlite3_exec(db, "PRAGMA journal_mode = WAL", first_text, &mode, NULL);

        if (rc != SQLITE_OK)
                return sqlite_result(db, rc);
        return mode && strcmp(mode, "wal") == 0 ? 0 : -EROFS;
}

/* Checks every page, so that damage is found here, with an error message, and not in the middle of a request.
 * Takes 2 ms per MiB; a larger database is only checked as it is read. */
static int check_pages(sqlite3 *db, const char *path, Error *reterr) {
        _cleanup_free_ char *finding = NULL;
        int64_t n_pages;
        int rc, r;

        r = sqlite_get(db, "PRAGMA page_count", &n_pages);
        if (r < 0)
                return sqlite_error(reterr, r, db, path);
        if (n_pages > CHECKED_PAGES_MAX)
                return 0;
        rc = sqlite3_exec(db, "PRAGMA quick_check(1)", first_text, &finding, NULL);
        if (rc != SQLITE_OK)
                return sqlite_error(reterr, sqlite_result(db, rc), db, path);
        if (finding && strcmp(finding, "ok") == 0)
                return 0;
        return error_set(reterr, -EUCLEAN, DATABASE_DAMAGED, path, finding ? finding : "no memory");
}

/* Rewrites the file when most of it is empty. That costs as much as the remaining data, and goes through the
 * log like all other writes, so that it can be interrupted. */
static int shrink(sqlite3 *db) {
        int64_t n_free, n_pages;
        int r;

        r = sqlite_get(db, "PRAGMA freelist_count", &n_free);
        if (r >= 0)
                r = sqlite_get(db, "PRAGMA page_count", &n_pages);
        if (r < 0)
                return r;
        if (n_free < FREE_PAGES_MAX || n_free < n_pages / 2)
                return 0;
        return sqlite_result(db, sqlite3_exec(db, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL));
}

static int database_prepare(sqlite3 *db, const char *path, const Migrations *migrations, Error *reterr) {
        int r;

        /* Before anything is read: in this locking mode the first read takes the lock. */
        r = sqlite_result(db, sqlite3_exec(db, settings, NULL, NULL, NULL));
        if (r >= 0)
                r = enter_wal(db);
        if (r < 0)
                return sqlite_error(reterr, r, db, path);
        r = check_pages(db, path, reterr);
        if (r < 0)
                return r;
        r = migrations_apply(migrations, db, path, reterr);
        if (r < 0)
                return r;
        r = shrink(db);
        if (r >= 0)
                /* After the migrations: one of them may have to rebuild a table that others refer to. */
                r = sqlite_result(db, sqlite3_exec(db, "PRAGMA foreign_keys = ON", NULL, NULL, NULL));
        return r < 0 ? sqlite_error(reterr, r, db, path) : 0;
}

static int connect_file(const char *path, const Migrations *migrations, sqlite3 **ret, Error *reterr) {
        sqlite3 *db = NULL;
        int r;

        r = sqlite_result(NULL, wal_register());
        if (r >= 0)
                r = sqlite_result(NULL, sqlite3_open_v2(path, &db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, WAL_VFS));
        if (r < 0)
                r = sqlite_error(reterr, r, db, path);
        else if (sqlite3_db_readonly(db, "main") == 1) /* SQLite's answer if open(2) fails for any reason, also for lack of descriptors */
                r = error_set(reterr, -EROFS, "'%s' cannot be opened for writing: see to its rights, its file system, and the limit of open files", path);
        else {
                (void) sqlite3_busy_timeout(db, 1000); /* an earlier daemon may be about to exit */
                (void) sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
                r = database_prepare(db, path, migrations, reterr);
        }
        if (r < 0) {
                (void) sqlite3_close(db);
                return r;
        }
        *ret = db;
        return 0;
}

static int sync_directory_of(const char *path) {
        char directory[PATH_MAX];
        const char *slash = strrchr(path, '/');
        _cleanup_close_ int fd = -EBADF;

        (void) snprintf(directory, sizeof(directory), "%.*s", slash ? (int) (slash - path) + 1 : 1, slash ? path : ".");
        fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || fsync(fd) < 0)
                return -errno;
        return 0;
}

static int remove_leftovers(const char *path) {
        static const char *const endings[] = { "", "-journal", "-wal", "-shm" };

        for (size_t i = 0; i < ELEMENTSOF(endings); i++) {
                char name[PATH_MAX];

                (void) snprintf(name, sizeof(name), "%s%s", path, endings[i]);
                if (unlink(name) < 0 && errno != ENOENT)
                        return -errno;
        }
        return 0;
}

/* The file is made under another name and renamed when it has its tables. So a file of this name that is empty
 * or incomplete is damaged, and not the result of an interrupted start, and can be refused. */
static int create_file(const char *path, const Migrations *migrations, Error *reterr) {
        char fresh[PATH_MAX];
        sqlite3 *db = NULL;
        int fd, r;

        if ((size_t) snprintf(fresh, sizeof(fresh) - 16, "%s.new", path) >= sizeof(fresh) - 16)
                return error_set(reterr, -ENAMETOOLONG, "the path of the database is too long: '%s'", path);
        r = remove_leftovers(fresh);
        if (r < 0)
                return error_set(reterr, r, "cannot remove '%s': %m", fresh);
        fd = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600); /* environments are secrets; SQLite would use 0644 */
        if (fd < 0)
                return error_set(reterr, -errno, "cannot make database '%s': %m", fresh);
        (void) fd_close(fd);

        r = connect_file(fresh, migrations, &db, reterr);
        if (r < 0)
                return r;
        if (sqlite3_close(db) != SQLITE_OK) /* moves the log into the file, synced */
                return error_set(reterr, -EIO, "cannot finish database '%s'", fresh);
        if (renameat2(AT_FDCWD, fresh, AT_FDCWD, path, RENAME_NOREPLACE) < 0)
                return error_set(reterr, -errno, "cannot name database '%s': %m", path);
        r = sync_directory_of(path);
        return r < 0 ? error_set(reterr, r, "cannot sync the directory of '%s': %m", path) : 0;
}

/* No process has a lock on the log; closing another descriptor of it would release such a lock. */
static int database_open_log(const char *path, int flags) {
        char log[PATH_MAX];
        int fd;

        if ((size_t) snprintf(log, sizeof(log), "%s-wal", path) >= sizeof(log))
                return -ENAMETOOLONG;
        fd = open(log, flags | O_CLOEXEC | O_NOFOLLOW);
        return fd < 0 ? -errno : fd;
}

/* Such a file system writes to new blocks, also where a file has some already. */
static bool database_copies_on_write(int fd) {
        static const uint32_t types[] = { 0x9123683e /* btrfs */, 0xca451a4e /* bcachefs */, 0x2fc12fc1 /* ZFS */ };
        struct statfs s;

        if (fstatfs(fd, &s) < 0)
                return true;
        for (size_t i = 0; i < ELEMENTSOF(types); i++)
                if ((uint32_t) s.f_type == types[i])
                        return true;
        return false;
}

int database_reserve(const char *path, uint64_t *ret_sure) {
        _cleanup_close_ int fd = database_open_log(path, O_WRONLY);
        struct statvfs v;
        uint64_t bytes;

        *ret_sure = 0;
        if (fd < 0 || fstatvfs(fd, &v) < 0)
                return fd < 0 ? fd : -errno;
        bytes = MIN_OF(LOG_BYTES, (uint64_t) v.f_blocks * v.f_frsize / LOG_SHARE);
        if (bytes > 0 && fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t) bytes) < 0)
                return -errno;
        *ret_sure = database_copies_on_write(fd) ? 0 : bytes;
        return 0;
}

/* Overwrites the log with zeroes, so that it cannot be taken for the log of another file. Its contents are in
 * the database by now. The blocks stay allocated. */
static void database_clear_log(const char *path) {
        static const char zeroes[65536];
        _cleanup_close_ int fd = database_open_log(path, O_WRONLY);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return;
        for (off_t at = 0; at < st.st_size; at += (off_t) sizeof(zeroes))
                if (pwrite(fd, zeroes, (size_t) MIN_OF((off_t) sizeof(zeroes), st.st_size - at), at) < 0)
                        return;
}

void database_close(const char *path, sqlite3 *db) {
        int keep = 1;
        bool empty = db && sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_RESTART, NULL, NULL) == SQLITE_OK &&
                     sqlite3_exec(db, "PRAGMA journal_size_limit = -1", NULL, NULL, NULL) == SQLITE_OK && /* otherwise the log would be truncated */
                     sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &keep) == SQLITE_OK;

        if (sqlite3_close(db) == SQLITE_OK && empty)
                database_clear_log(path);
}

/* Refuses a log without its database, which has been moved or lost: a new file of this name would take it for
 * its own log. A log of zeroes belongs to no database. */
static int refuse_lone_log(const char *path, Error *reterr) {
        char log[PATH_MAX];
        _cleanup_close_ int fd = database_open_log(path, O_RDONLY);
        uint32_t magic = 0;

        if (fd < 0 || read(fd, &magic, sizeof(magic)) < 0 || magic == 0)
                return 0;
        (void) snprintf(log, sizeof(log), "%s-wal", path);
        return error_set(reterr, -EUCLEAN,
                        "'%s' is missing, but its log '%s' is there: put the database back, or move the log away to begin "
                        "with nothing",
                        path, log);
}

int database_open(const char *path, const Migrations *migrations, sqlite3 **ret, Error *reterr) {
        struct stat st;
        int r;

        if (stat(path, &st) < 0) {
                if (errno != ENOENT)
                        return error_set(reterr, -errno, "cannot open database '%s': %m", path);
                r = refuse_lone_log(path, reterr);
                if (r >= 0)
                        r = create_file(path, migrations, reterr);
                if (r < 0)
                        return r;
        } else if (st.st_size == 0)
                return error_set(reterr, -EUCLEAN, DATABASE_DAMAGED, path, "it is empty");

        return connect_file(path, migrations, ret, reterr);
}
