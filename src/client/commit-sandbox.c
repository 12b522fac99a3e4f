#include "client/commit-sandbox.h"

#include "base/log.h"
#include "client/verbs.h"

int commit_sandbox(CommitVerb *v, const Place *place, const Operands *words) {
        log_error("'%s' is no transaction", words->items[0]);
        return EXIT_OWN_FAILURE;
}
