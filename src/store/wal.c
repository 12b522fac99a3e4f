#include "store/wal.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

#define GATHER_MAX ((size_t) 1 << 20) /* a turn of the loop writes some 100 KiB */
#define PIECE_MAX  (96 << 10)         /* of one call: SQLite keeps 17 bits of a size only, and takes 0 for a full disk */

/* SQLite allocates szOsFile bytes: the real file lies behind. */
struct StoreWal {
        sqlite3_file file; /* what SQLite sees */
        sqlite3_file *real;
        sqlite3_int64 limit;
        sqlite3_int64 at; /* of the first byte that is gathered */
        int n;
        char *data;
};

static StoreWal *wal_file(sqlite3_file *file) {
        return (StoreWal *) (void *) file;
}

bool wal_waits(const StoreWal *l) {
        return l && l->n > 0;
}

int wal_flush(StoreWal *l) {
        int rc = SQLITE_OK;

        if (!wal_waits(l))
                return SQLITE_OK;
        for (int done = 0; done < l->n && rc == SQLITE_OK; done += PIECE_MAX)
                rc = l->real->pMethods->xWrite(l->real, l->data + done, MIN_OF(l->n - done, PIECE_MAX), l->at + done);
        if (rc == SQLITE_OK)
                l->n = 0;
        return rc;
}

static int wal_write(sqlite3_file *file, const void *data, int n, sqlite3_int64 at) {
        StoreWal *l = wal_file(file);
        int rc = SQLITE_OK;

        if (l->n > 0 && (at != l->at + l->n || (size_t) l->n + (size_t) n > GATHER_MAX || at + n > l->limit))
                rc = wal_flush(l);
        if (rc != SQLITE_OK)
                return rc;
        if (at + n > l->limit || (size_t) n > GATHER_MAX)
                return l->real->pMethods->xWrite(l->real, data, n, at);
        if (l->n == 0)
                l->at = at;
        memcpy(l->data + l->n, data, (size_t) n);
        l->n += n;
        return SQLITE_OK;
}

static int wal_read(sqlite3_file *file, void *data, int n, sqlite3_int64 at) {
        StoreWal *l = wal_file(file);
        int rc = SQLITE_OK;

        if (l->n > 0 && at >= l->at && at + n <= l->at + l->n) {
                memcpy(data, l->data + (at - l->at), (size_t) n);
                return SQLITE_OK;
        }
        if (l->n > 0 && at < l->at + l->n && at + n > l->at)
                rc = wal_flush(l);
        return rc == SQLITE_OK ? l->real->pMethods->xRead(l->real, data, n, at) : rc;
}

static int wal_truncate(sqlite3_file *file, sqlite3_int64 size) {
        StoreWal *l = wal_file(file);
        int rc = wal_flush(l);

        return rc == SQLITE_OK ? l->real->pMethods->xTruncate(l->real, size) : rc;
}

static int wal_sync_file(sqlite3_file *file, int flags) {
        StoreWal *l = wal_file(file);
        int rc = wal_flush(l);

        return rc == SQLITE_OK ? l->real->pMethods->xSync(l->real, flags) : rc;
}

static int wal_size(sqlite3_file *file, sqlite3_int64 *ret) {
        StoreWal *l = wal_file(file);
        int rc = l->real->pMethods->xFileSize(l->real, ret);

        if (rc == SQLITE_OK && l->n > 0 && *ret < l->at + l->n)
                *ret = l->at + l->n;
        return rc;
}

static int wal_close(sqlite3_file *file) {
        StoreWal *l = wal_file(file);

        (void) wal_flush(l);
        free(l->data);
        return l->real->pMethods->xClose(l->real);
}

static int wal_lock(sqlite3_file *file, int level) {
        StoreWal *l = wal_file(file);

        return l->real->pMethods->xLock(l->real, level);
}

static int wal_unlock(sqlite3_file *file, int level) {
        StoreWal *l = wal_file(file);

        return l->real->pMethods->xUnlock(l->real, level);
}

static int wal_is_reserved(sqlite3_file *file, int *ret) {
        StoreWal *l = wal_file(file);

        return l->real->pMethods->xCheckReservedLock(l->real, ret);
}

static int wal_control(sqlite3_file *file, int what, void *data) {
        StoreWal *l = wal_file(file);

        return l->real->pMethods->xFileControl(l->real, what, data);
}

static int wal_sector_size(sqlite3_file *file) {
        StoreWal *l = wal_file(file);

        return l->real->pMethods->xSectorSize(l->real);
}

static int wal_characteristics(sqlite3_file *file) {
        StoreWal *l = wal_file(file);

        return l->real->pMethods->xDeviceCharacteristics(l->real);
}

/* Version 1: shared memory and mapping belong to the file of the database. */
static const sqlite3_io_methods wal_methods = {
        .iVersion = 1,
        .xClose = wal_close,
        .xRead = wal_read,
        .xWrite = wal_write,
        .xTruncate = wal_truncate,
        .xSync = wal_sync_file,
        .xFileSize = wal_size,
        .xLock = wal_lock,
        .xUnlock = wal_unlock,
        .xCheckReservedLock = wal_is_reserved,
        .xFileControl = wal_control,
        .xSectorSize = wal_sector_size,
        .xDeviceCharacteristics = wal_characteristics,
};

/* The database itself, and temporary files, are the real file system's alone. */
static int wal_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *ret_flags) {
        sqlite3_vfs *real = sqlite3_vfs_find("unix");
        StoreWal *l = wal_file(file);
        int rc;

        if (!(flags & SQLITE_OPEN_WAL))
                return real->xOpen(real, path, file, flags, ret_flags);
        *l = (StoreWal) { .real = (sqlite3_file *) (void *) (l + 1), .data = malloc(GATHER_MAX) };
        if (!l->data)
                return SQLITE_NOMEM;
        rc = real->xOpen(real, path, l->real, flags, ret_flags);
        if (rc == SQLITE_OK)
                l->file.pMethods = &wal_methods;
        else
                free(l->data);
        return rc;
}

/* All functions but xOpen are those of the real one, which take nothing from the structure that they are called with. */
int wal_register(void) {
        static sqlite3_vfs vfs;
        const sqlite3_vfs *real = sqlite3_vfs_find("unix");

        if (vfs.zName)
                return SQLITE_OK;
        if (!real)
                return SQLITE_ERROR;
        vfs = *real;
        vfs.pNext = NULL;
        vfs.zName = WAL_VFS;
        vfs.szOsFile = real->szOsFile + (int) sizeof(StoreWal);
        vfs.xOpen = wal_open;
        return sqlite3_vfs_register(&vfs, /* makeDflt= */ 0);
}

StoreWal *wal_of(sqlite3 *db) {
        sqlite3_file *file = NULL;

        if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK || !file || file->pMethods != &wal_methods)
                return NULL;
        return wal_file(file);
}

void wal_set_limit(StoreWal *l, uint64_t bytes) {
        if (l)
                l->limit = (sqlite3_int64) bytes;
}

int wal_sync(StoreWal *l) {
        return l ? wal_sync_file(&l->file, SQLITE_SYNC_NORMAL) : SQLITE_OK;
}
