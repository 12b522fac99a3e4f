#include "cli/run-rules.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/path.h"
#include "cli/run-options.h"

#define FILE_SIZE_MAX (UINT64_C(1) << 50)

OPTION_KIND(run_rules_path) {
        Rules *rules = &((RunOptions *) target)->rules;
        _cleanup_free_ char *path = NULL;
        int r;

        if (o->min == RULES_WRITABLE)
                rules->flags |= RULES_SEALED;
        if (o->min == RULES_WRITABLE && strcmp(value, "none") == 0)
                return 0;
        r = path_normalize(value, &path);
        if (r == -ENOMEM)
                return error_set(reterr, r, "out of memory");
        if (r < 0 || strcmp(path, "/") == 0)
                return error_set(reterr, -EINVAL, "--%s: '%s' is no absolute path below / (without '..')",
                                o->name, value);
        r = rules_add_path(rules, (RulesPathKind) o->min, path);
        if (r < 0)
                return error_set(reterr, r, "--%s: there are more than %d paths, or more than %d bytes of them", o->name,
                                RULES_PATHS_MAX, RULES_PATHS_BYTES);
        return 0;
}

OPTION_KIND(run_rules_file_size) {
        uint64_t *max = &((RunOptions *) target)->rules.file_size_max;
        int r = parse_size(value, max);

        if (r < 0 || *max == 0 || *max > FILE_SIZE_MAX)
                return error_set(reterr, -EINVAL, "--max-file-size: '%s' is no size from 1 to 1024T; write a number with K, M, G or T, "
                                                  "as in 10M", value);
        return 0;
}

OPTION_KIND(run_rules_no_processes) {
        ((RunOptions *) target)->rules.flags |= RULES_NO_PROCESSES;
        return 0;
}
