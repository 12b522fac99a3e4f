/* files.h: shared by the handlers of files. */
#pragma once

#include "api/native/native.h"
#include "api/native/values.h"
#include "base/text.h"
#include "core/fileop.h"

/* files.c: fills in a request to the worker about one path, for a user of the sandbox. field: the name of the
 * path in the client's request. If a value is invalid, answers and returns < 0. */
int file_request(ApiRequest *q, FileOperation operation, const char *field, const char *path, const NativeUser *user,
                FileRequest *ret);
int file_set_target(ApiRequest *q, const char *field, const char *path, FileRequest *g);
/* The same, from the query parameters path and user. */
int file_request_query(ApiRequest *q, FileOperation operation, FileRequest *ret);

/* file-json.c: entries and errors. */
#define FILE_ANSWER_MAX ((size_t) 64 << 20)
/* below: the directory that its path is relative to; NULL: the root. */
void file_put_entry(Text *t, const FileEntry *entry, const char *below);
void file_put_path(Text *t, const char *name, const char *path); /* "name":"…", and "nameBase64" if it is not UTF-8 */
char *file_join(const char *directory, const char *path);                /* the caller frees */
int file_answer_text(ApiRequest *q, unsigned status, Text *t);           /* takes the text; adds the newline */
int file_answer_entry(ApiRequest *q, unsigned status, const FileEntry *entry);
int file_answer_error(ApiRequest *q, int error, const char *path);

/* The same table for errors of the archive program, which reports an errno and a path. */
typedef struct FileErrorCode {
        int error; /* positive */
        unsigned status;
        const char *code, *message;
} FileErrorCode;
const FileErrorCode *file_error_code(int error); /* never NULL */

/* Handlers; files.c has the routes. _data functions get the pieces of a streamed body, as in
 * execution/exec.h. */
void native_file_read(ApiRequest *q); /* GET and HEAD */
void native_file_write(ApiRequest *q);
ssize_t native_file_write_data(ApiRequest *q, const void *data, size_t size);
void native_archive_get(ApiRequest *q);
void native_archive_put(ApiRequest *q);
ssize_t native_archive_put_data(ApiRequest *q, const void *data, size_t size);
void native_file_watch(ApiRequest *q);
