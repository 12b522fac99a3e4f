#include "cli/run-rules.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/path.h"
#include "cli/run-options.h"

#define FILE_SIZE_MAX (UINT64_C(1) << 50)

static int run_rules_add_path(RunOptions *o, RulesPathKind kind, const char *option, const char *value, Error *reterr) {
        _cleanup_free_ char *path = NULL;
        int r = path_normalize(value, &path);

        if (r == -ENOMEM)
                return error_set(reterr, r, "out of memory");
        if (r < 0 || strcmp(path, "/") == 0)
                return error_set(reterr, -EINVAL, "--%s: '%s' is no absolute path below / (without '..')", option, value);
        r = rules_add_path(&o->rules, kind, path);
        if (r < 0)
                return error_set(reterr, r, "--%s: there are more than %d paths, or more than %d bytes of them", option,
                                RULES_PATHS_MAX, RULES_PATHS_BYTES);
        return 0;
}

int apply_read_only_path(void *target, const char *value, Error *reterr) {
        return run_rules_add_path(target, RULES_READ_ONLY, "read-only-path", value, reterr);
}

int apply_writable_path(void *target, const char *value, Error *reterr) {
        RunOptions *o = target;

        o->rules.flags |= RULES_SEALED;
        return strcmp(value, "none") == 0 ? 0 : run_rules_add_path(o, RULES_WRITABLE, "writable-path", value, reterr);
}

int apply_deny_path(void *target, const char *value, Error *reterr) {
        return run_rules_add_path(target, RULES_DENIED, "deny-path", value, reterr);
}

int apply_max_file_size(void *target, const char *value, Error *reterr) {
        RunOptions *o = target;
        int r = parse_size(value, &o->rules.file_size_max);

        if (r < 0 || o->rules.file_size_max == 0 || o->rules.file_size_max > FILE_SIZE_MAX)
                return error_set(reterr, -EINVAL, "--max-file-size: '%s' is no size from 1 to 1024T; write a number with K, M, G or T, "
                                                  "as in 10M", value);
        return 0;
}

int apply_no_processes(void *target, const char *value, Error *reterr) {
        ((RunOptions *) target)->rules.flags |= RULES_NO_PROCESSES;
        return 0;
}
