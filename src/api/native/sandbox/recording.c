/* recording.c: the recorded input of a sandbox, also after its end. */

#include <errno.h>
#include <sys/stat.h>

#include "api/native/routes/routes.h"
#include "base/fd.h"
#include "record/record.h"

static void answer_file(ApiRequest *q, int fd, const char *type) {
        struct stat st;

        if (fd == -ENOENT)
                (void) api_error(q, 404, "not_found", "record with \"record\": true (cove create --record)", "there is no such recording of '%.100s'",
                                q->parameters[0]);
        else if (fd < 0)
                (void) api_errno(q, fd, NULL);
        else if (fstat(fd, &st) < 0) {
                (void) api_errno(q, -errno, NULL);
                (void) fd_close(fd);
        } else {
                q->answered = true;
                (void) http_answer_fd(q->http, 200, type, fd, 0, (uint64_t) st.st_size);
        }
}

static Recorder *recorder_of_api(ApiRequest *q) {
        return native_room(q, q->api->rooms.recorder, "this daemon records nothing");
}

static void native_recording(ApiRequest *q) {
        Recorder *r = recorder_of_api(q);

        if (r)
                answer_file(q, recorder_open_log(r, &q->who, q->parameters[0]), "application/x-ndjson");
}

static void native_recording_content(ApiRequest *q) {
        Recorder *r = recorder_of_api(q);

        if (r)
                answer_file(q, recorder_open_blob(r, &q->who, q->parameters[0], q->parameters[1]), "application/octet-stream");
}

/* Not {id}, because the sandbox may be gone. */
const ApiRoute recording_routes[] = {
        { "GET", "/api/sandbox/{recorded}/recording",           MAY_READ, .handle = native_recording },
        { "GET", "/api/sandbox/{recorded}/recording/{content}", MAY_READ, .handle = native_recording_content },
        { 0 },
};
