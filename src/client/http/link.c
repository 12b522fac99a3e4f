#include "client/http/link.h"

#include <stdlib.h>
#include <string.h>

void *link_make(const LinkOps *ops, const Place *place, const char *sandbox, const char *execution) {
        Link *l = calloc(1, ops->size);

        if (!l)
                return NULL;
        *l = (Link) { .ops = ops, .place = place, .sandbox = strdup(sandbox) };
        if (!l->sandbox || (execution && link_begin(l, execution) < 0)) { /* the link itself owns nothing yet */
                free(l->sandbox);
                free(l);
                return NULL;
        }
        return l;
}

Link *link_free(Link *l) {
        if (!l)
                return NULL;
        l->ops->done(l);
        json_decref(l->end);
        free(l->sandbox);
        free(l->execution);
        free(l);
        return NULL;
}

int link_begin(Link *l, const char *execution) {
        l->execution = strdup(execution);
        return l->execution ? 0 : -ENOMEM;
}

int link_refuse(Link *l, const Answer *a, Error *reterr) {
        if (!l->gone)
                (void) answer_tell(a);
        l->refused = true;
        return error_set(reterr, -EREMOTEIO, "refused");
}
