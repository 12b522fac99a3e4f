/* zz-later.c: what comes from rooms that are not here yet, each refusing. Goes with them; the last of the library, so that theirs is taken. */

#include <errno.h>

#include "base/fd.h"
#include "gate/http.h"

__attribute__((weak)) int http_start(const HttpStart *start, void (*done)(HttpExchange *x, void *userdata), void *userdata, HttpExchange **ret) {
        (void) fd_close(start->fd);
        return -EOPNOTSUPP;
}
__attribute__((weak)) HttpExchange *http_free(HttpExchange *x) {
        return NULL;
}
__attribute__((weak)) void http_policy_changed(HttpExchange *x) {
}
__attribute__((weak)) int credentials_parse(json_t *list, Credentials **ret, Error *reterr) {
        return error_set(reterr, -EOPNOTSUPP, "credentials: this gate cannot do that");
}
__attribute__((weak)) Credentials *credentials_free(Credentials *c) {
        return NULL;
}
__attribute__((weak)) bool credentials_want(const Credentials *c, const char *host) {
        return false;
}
