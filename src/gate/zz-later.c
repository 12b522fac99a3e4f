/* zz-later.c: what comes from rooms that are not here yet, each refusing. Goes with them; the last of the library, so that theirs is taken. */

#include <errno.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "gate/dns.h"
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
__attribute__((weak)) int udp_on_datagram(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        char byte;

        (void) recv(fd, &byte, sizeof(byte), MSG_DONTWAIT);
        return 0;
}
__attribute__((weak)) void udp_flow_ready(Gate *g, uint64_t token, int error, int fd) {
        (void) fd_close(fd);
}
__attribute__((weak)) void udp_policy_changed(GateSandbox *s) {
}
__attribute__((weak)) void udp_sandbox_gone(GateSandbox *s) {
}
