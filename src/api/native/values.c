#include "api/native/values.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"
#include "core/name.h"

#define ID_OF_INIT 65533 /* reserved for PID 1 of the sandbox */
#define MODE_MAX   07777
#define SIGNAL_MAX 64

#define USER_WORDS   "must be 'root', 'user', a uid or 'uid:gid', with ids from 0 to 65534 (65533 is taken)"
#define MODE_WORDS   "must be octal digits such as '0644'"
#define SIGNAL_WORDS "must be a signal's name such as 'SIGTERM', or its number (1 to 64)"

static int parse_id(const char *text, uint32_t *ret) {
        uint64_t id;
        int r = parse_uint64(text, 0, NATIVE_ID_MAX, &id);

        if (r < 0 || id == ID_OF_INIT)
                return -EINVAL;
        *ret = (uint32_t) id;
        return 0;
}

int native_parse_user(const char *text, uint32_t *ret_uid, uint32_t *ret_gid) {
        static const struct {
                const char *name;
                uint32_t id;
        } names[] = { { "root", 0 }, { "user", 1000 } };
        const char *colon = strchr(text, ':');
        char first[8];
        uint32_t uid, gid;

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (strcmp(text, names[i].name) == 0) {
                        *ret_uid = *ret_gid = names[i].id;
                        return 0;
                }
        if (strcspn(text, ":") >= sizeof(first))
                return -EINVAL;
        (void) snprintf(first, sizeof(first), "%.*s", (int) strcspn(text, ":"), text);
        if (parse_id(first, &uid) < 0 || parse_id(colon ? colon + 1 : first, &gid) < 0)
                return -EINVAL;
        *ret_uid = uid;
        *ret_gid = gid;
        return 0;
}

int native_parse_mode(const char *text, uint32_t *ret) {
        size_t n = strlen(text);
        unsigned long mode;

        if (n == 0 || n > 8 || strspn(text, "01234567") != n)
                return -EINVAL;
        mode = strtoul(text, NULL, 8);
        if (mode > MODE_MAX)
                return -EINVAL;
        *ret = (uint32_t) mode;
        return 0;
}

int native_parse_signal(const char *text) {
        const char *name = strncasecmp(text, "SIG", 3) == 0 ? text + 3 : text;
        uint64_t number;

        if (parse_uint64(text, 1, SIGNAL_MAX, &number) >= 0)
                return (int) number;
        for (int i = 1; i < SIGNAL_MAX; i++) {
                const char *abbreviation = sigabbrev_np(i);

                if (abbreviation && strcasecmp(name, abbreviation) == 0)
                        return i;
        }
        return -EINVAL;
}

/* The text of a JSON string. NULL: no string, or it contains a NUL. */
static const char *plain_string(json_t *v) {
        const char *s = json_string_value(v);
        return s && strlen(s) == json_string_length(v) ? s : NULL;
}

int native_field_user(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        NativeUser *u = (NativeUser *) (void *) ((char *) target + f->offset);
        const char *s = plain_string(v);
        char number[24];

        if (json_is_integer(v)) {
                (void) snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
                s = number;
        }
        if (!s || native_parse_user(s, &u->uid, &u->gid) < 0)
                return json_complain(c, name, USER_WORDS);
        u->given = true;
        return 0;
}

int native_field_mode(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        const char *s = plain_string(v);

        if (!s || native_parse_mode(s, (uint32_t *) (void *) ((char *) target + f->offset)) < 0)
                return json_complain(c, name, MODE_WORDS);
        return 0;
}

int native_field_signal(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        const char *s = plain_string(v);
        int number = -EINVAL;

        if (s)
                number = native_parse_signal(s);
        else if (json_is_integer(v) && json_integer_value(v) >= 1 && json_integer_value(v) <= SIGNAL_MAX)
                number = (int) json_integer_value(v);
        if (number < 0)
                return json_complain(c, name, SIGNAL_WORDS);
        *(int *) (void *) ((char *) target + f->offset) = number;
        return 0;
}

int native_field_object_name(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        const char *text = plain_string(v);
        Error error = { 0 };

        if (text && object_name_check(text, (size_t) f->max, &error) < 0)
                return json_complain(c, name, "%s", error.text);
        return shape_parse(f, v, name, target, c);
}

int native_complain(ApiRequest *q, const char *field, const char *format, ...) {
        _cleanup_(json_complaints_done) JsonComplaints c = { 0 };
        _cleanup_free_ char *message = NULL;
        va_list ap;
        int n;

        va_start(ap, format);
        n = vasprintf(&message, format, ap);
        va_end(ap);
        if (n < 0) {
                message = NULL;
                (void) api_errno(q, -ENOMEM, NULL);
                return -ENOMEM;
        }
        if (json_complain(&c, field, "%s", message) < 0)
                (void) api_errno(q, -ENOMEM, NULL);
        else
                (void) api_complaints(q, &c);
        return -EINVAL;
}

int native_profile_there(ApiRequest *q, const char *name) {
        Error error = { 0 };

        if (!name || !*name || profile_find(q->manager->settings, name))
                return 0;
        (void) profile_unknown(q->manager->settings, name, &error);
        return native_complain(q, "profile", "%s", error.text);
}

int native_core_error(ApiRequest *q, int r, const char *text) {
        static const int gone[] = { -EPIPE, -ECONNRESET, -ECONNREFUSED, -ENOTCONN, -ESRCH };
        static const int ours[] = { -ENOENT, -EACCES, -EPERM, -ENOTDIR, -EISDIR, -EEXIST, -EINVAL, -EBADF, -EBADMSG };

        for (size_t i = 0; i < ELEMENTSOF(gone); i++)
                if (r == gone[i])
                        return api_error(q, 503, "unavailable", NULL, "%s",
                                        text && text[0] ? text : "the sandbox cannot be reached");
        for (size_t i = 0; i < ELEMENTSOF(ours); i++)
                if (r == ours[i])
                        return api_errno(q, -EIO, text);
        return api_errno(q, r, text);
}

int native_time(ApiRequest *q, TimeAsked *asked) {
        Error error = { 0 };
        int r = sandbox_execution_time(q->sandbox, &q->who, asked, &asked->usec, &error);

        if (r == -EPERM)
                (void) api_error(q, 403, "beyond_profile", NULL, "timeoutSeconds: %s", error.text);
        else if (r < 0)
                (void) native_core_error(q, r, error.text);
        return r;
}

int native_field_time(const ShapeField *f, json_t *v, const char *name, void *target, JsonComplaints *c) {
        TimeAsked *time = (TimeAsked *) (void *) ((char *) target + f->offset - offsetof(TimeAsked, usec));

        time->said = true;
        return shape_parse(f, v, name, target, c);
}

int native_query_user(ApiRequest *q, const char *name, NativeUser *ret) {
        const char *s = http_query(q->http, name);

        if (!s)
                return 0;
        if (native_parse_user(s, &ret->uid, &ret->gid) < 0)
                return native_complain(q, name, USER_WORDS);
        ret->given = true;
        return 1;
}

int native_query_mode(ApiRequest *q, const char *name, uint32_t *ret) {
        const char *s = http_query(q->http, name);

        if (!s)
                return 0;
        if (native_parse_mode(s, ret) < 0)
                return native_complain(q, name, MODE_WORDS);
        return 1;
}

int native_query_seconds(ApiRequest *q, const char *name, usec_t *ret) {
        const char *s = http_query(q->http, name);

        if (!s)
                return 0;
        if (s[strspn(s, "0123456789.")] != '\0' || parse_duration(s, ret) < 0)
                return native_complain(q, name, "must be a number of seconds");
        return 1;
}

char *native_path(const Sandbox *sb, const char *path) {
        const char *workdir = sb->spec.workdir && sb->spec.workdir[0] ? sb->spec.workdir : NATIVE_WORKDIR;
        char *joined;

        if (path[0] == '/')
                return strdup(path);
        if (asprintf(&joined, "%s%s%s", workdir, workdir[strlen(workdir) - 1] == '/' ? "" : "/", path) < 0)
                return NULL;
        return joined;
}

int native_query_time(ApiRequest *q, const char *name, usec_t *ret) {
        const char *text = http_query(q->http, name), *end;
        usec_t ago, now = clock_wall_usec();
        struct tm tm = { 0 };

        if (!text)
                return 0;
        if (parse_duration(text, &ago) >= 0) {
                *ret = ago < now ? now - ago : 0;
                return 1;
        }
        end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
        if (end) {
                double fraction = *end == '.' ? strtod(end, (char **) &end) : 0;

                if (strcmp(end, "Z") == 0 && timegm(&tm) >= 0) {
                        *ret = (usec_t) timegm(&tm) * USEC_PER_SEC + (usec_t) (fraction * (double) USEC_PER_SEC);
                        return 1;
                }
        }
        return native_complain(q, name, "'%.60s' must be how long ago, such as 90m or a number of seconds, or a time such as "
                        "2026-01-31T12:00:00Z", text);
}
