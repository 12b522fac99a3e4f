/* files.h: what the handlers of files share among themselves. */
#pragma once

#include "api/native/native.h"
#include "api/native/values.h"
#include "base/text.h"
#include "core/fileop.h"

/* files.c: a request for the worker, as a user of the sandbox, about one path. field is what the caller called it. Answers
 * and returns < 0 when it will not do. */
int file_request(ApiRequest *q, FileOperation operation, const char *field, const char *path, const NativeUser *user,
                FileRequest *ret);
int file_set_target(ApiRequest *q, const char *field, const char *path, FileRequest *g);
/* The same from the query parameters path and user. */
int file_request_query(ApiRequest *q, FileOperation operation, FileRequest *ret);

/* file-json.c: entries and errors. */
#define FILE_ANSWER_MAX ((size_t) 64 << 20)
void file_put_entry(Text *t, const FileEntry *entry, const char *below); /* below: where its path begins; NULL: at the root */
void file_put_path(Text *t, const char *name, const char *path); /* "name":"…", and "nameBase64" when it is not UTF-8 */
char *file_join(const char *directory, const char *path);                /* the caller frees */
int file_answer_text(ApiRequest *q, unsigned status, Text *t);           /* takes the text; adds the newline */
int file_answer_entry(ApiRequest *q, unsigned status, const FileEntry *entry);
int file_answer_error(ApiRequest *q, int error, const char *path);

/* The same table for the words of the archive program, which tells an errno and a path. */
typedef struct FileErrorCode {
        int error; /* positive */
        unsigned status;
        const char *code, *message;
} FileErrorCode;
const FileErrorCode *file_error_code(int error); /* never NULL */

/* The handlers whose routes are files.c's. _data takes the pieces of a streamed body, as execution/exec.h has it. */
void native_file_read(ApiRequest *q); /* GET and HEAD */
void native_file_write(ApiRequest *q);
ssize_t native_file_write_data(ApiRequest *q, const void *data, size_t size);
void native_archive_get(ApiRequest *q);
void native_archive_put(ApiRequest *q);
ssize_t native_archive_put_data(ApiRequest *q, const void *data, size_t size);
void native_file_watch(ApiRequest *q);
