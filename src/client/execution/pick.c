#include "client/execution/pick.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

bool execution_is_interpreter(const json_t *execution) {
        return strncmp(json_get_text_or(execution, "tag", ""), "context:", strlen("context:")) == 0;
}

static bool is_running(const json_t *execution) {
        return !execution_is_interpreter(execution) && strcmp(json_get_text_or(execution, "status", ""), "exited") != 0;
}

static void tell_several(const char *sandbox, const json_t *list) {
        char ids[512] = "";
        const json_t *execution;
        size_t i, n = 0;

        json_array_foreach(list, i, execution)
                if (is_running(execution) && n < sizeof(ids))
                        n += (size_t) snprintf(ids + n, sizeof(ids) - n, "%s%s", n > 0 ? ", " : "",
                                        json_get_text_or(execution, "id", "?"));
        log_error("several commands run in sandbox '%s': say which of %s", sandbox, ids);
}

static int pick(const char *sandbox, const json_t *list, PickAllow allow, const json_t **ret) {
        const json_t *execution, *running = NULL, *last = NULL;
        size_t i, n_running = 0;

        json_array_foreach(list, i, execution) {
                last = execution_is_interpreter(execution) ? last : execution;
                if (is_running(execution)) {
                        running = execution;
                        n_running++;
                }
        }
        if (n_running > 1) {
                tell_several(sandbox, list);
                return -ENOTUNIQ;
        }
        *ret = running ? running : allow == PICK_ENDED_TOO ? last : NULL;
        if (!*ret)
                return log_failure(-ESRCH, "no command %s in sandbox '%s'",
                                allow == PICK_RUNNING ? "runs" : "has run", sandbox);
        return 0;
}

int pick_execution(const Place *p, const char *sandbox, const char *given, PickAllow allow, Answer *ret,
                const json_t **ret_execution) {
        const json_t *found;
        int r = client_need_path(p, /* body= */ NULL, ret,
                        given ? "/api/sandbox/%s/exec/%s" : "/api/sandbox/%s/exec", sandbox, given);

        if (r < 0)
                return r;
        found = ret->json;
        if (!given)
                r = pick(sandbox, ret->json, allow, &found);
        if (r >= 0 && !json_get_text(found, "id")) {
                log_error("the daemon's answer is no execution");
                r = -EBADMSG;
        }
        if (r < 0)
                answer_done(ret);
        else
                *ret_execution = found;
        return r;
}
