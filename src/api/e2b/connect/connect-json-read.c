/* connect-json-read.c: reads a message from JSON text. The input is untrusted: every value is checked before
 * it is stored. */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/e2b/connect/connect-json.h"
#include "base/text.h"

#define VALUES_MAX 200000 /* per document: each value needs much more memory than its text */

static int read_message(const ProtobufCMessageDescriptor *d, json_t *j, ProtobufCMessage **ret, Error *reterr);

static void *connect_json_read_member(ProtobufCMessage *m, unsigned offset) {
        return (uint8_t *) m + offset;
}

static int not_of(const ProtobufCFieldDescriptor *f, const char *wanted, Error *reterr) {
        char name[CONNECT_NAME_MAX];

        connect_json_name(f, name);
        return error_set(reterr, -EBADMSG, "field %s: %s was expected", name, wanted);
}

/* Reads an integer, given as a number or a string. 1.5 is refused, but 1.0 and 1e3 are integers. */
static int read_signed(json_t *j, int64_t min, int64_t max, int64_t *ret) {
        const char *text = json_string_value(j);
        int64_t value;
        double real;
        char *end;

        if (json_is_integer(j))
                value = json_integer_value(j);
        else if (json_is_real(j)) {
                real = json_real_value(j);
                if (real > floor(real) || fabs(real) > 9007199254740992.0)
                        return -EBADMSG;
                value = (int64_t) real;
        } else if (text && *text && !strpbrk(text, " \t\n\r\f\v+")) {
                errno = 0;
                value = strtoll(text, &end, 10);
                if (errno != 0 || *end)
                        return -EBADMSG;
        } else
                return -EBADMSG;
        if (value < min || value > max)
                return -ERANGE;
        *ret = value;
        return 0;
}

static int read_unsigned64(json_t *j, uint64_t *ret) {
        const char *text = json_string_value(j);
        int64_t value;
        char *end;
        int r;

        if (text && *text && !strpbrk(text, " \t\n\r\f\v+-")) {
                errno = 0;
                *ret = strtoull(text, &end, 10);
                return errno != 0 || *end ? -EBADMSG : 0;
        }
        r = read_signed(j, 0, INT64_MAX, &value);
        if (r >= 0)
                *ret = (uint64_t) value;
        return r;
}

static int connect_json_read_number(const ProtobufCFieldDescriptor *f, json_t *j, void *ret, Error *reterr) {
        int64_t value = 0;
        uint64_t large = 0;

        switch (f->type) {
        case PROTOBUF_C_TYPE_INT32:
        case PROTOBUF_C_TYPE_SINT32:
        case PROTOBUF_C_TYPE_SFIXED32:
                if (read_signed(j, INT32_MIN, INT32_MAX, &value) < 0)
                        return not_of(f, "a whole number of 32 bits", reterr);
                *(int32_t *) ret = (int32_t) value;
                return 0;
        case PROTOBUF_C_TYPE_UINT32:
        case PROTOBUF_C_TYPE_FIXED32:
                if (read_signed(j, 0, UINT32_MAX, &value) < 0)
                        return not_of(f, "a whole number of 32 bits, not below 0", reterr);
                *(uint32_t *) ret = (uint32_t) value;
                return 0;
        case PROTOBUF_C_TYPE_UINT64:
        case PROTOBUF_C_TYPE_FIXED64:
                if (read_unsigned64(j, &large) < 0)
                        return not_of(f, "a whole number of 64 bits, not below 0", reterr);
                *(uint64_t *) ret = large;
                return 0;
        default:
                if (read_signed(j, INT64_MIN, INT64_MAX, &value) < 0)
                        return not_of(f, "a whole number of 64 bits", reterr);
                *(int64_t *) ret = value;
                return 0;
        }
}

static int read_enum(const ProtobufCFieldDescriptor *f, json_t *j, int32_t *ret, Error *reterr) {
        const char *name = json_string_value(j);
        const ProtobufCEnumValue *v = name ? protobuf_c_enum_descriptor_get_value_by_name(f->descriptor, name) : NULL;
        int64_t value = v ? v->value : 0;

        if (!v && (name || read_signed(j, INT32_MIN, INT32_MAX, &value) < 0))
                return not_of(f, "a known name or a number", reterr);
        *ret = (int32_t) value;
        return 0;
}

static int read_string(const ProtobufCFieldDescriptor *f, json_t *j, char **ret, Error *reterr) {
        const char *text = json_string_value(j);

        if (!text)
                return not_of(f, "a text", reterr);
        *ret = strdup(text); /* the parser has refused a NUL inside */
        return *ret ? 0 : -ENOMEM;
}

static int read_bytes(const ProtobufCFieldDescriptor *f, json_t *j, ProtobufCBinaryData *ret, Error *reterr) {
        _cleanup_free_ uint8_t *data = NULL;
        size_t size = json_string_length(j);
        ssize_t n;

        if (!json_is_string(j))
                return not_of(f, "a text in base64", reterr);
        if (size == 0)
                return 0;
        data = malloc(BASE64_ROOM(size));
        if (!data)
                return -ENOMEM;
        n = base64_read(json_string_value(j), size, data);
        if (n < 0)
                return not_of(f, "base64", reterr);
        ret->len = (size_t) n;
        ret->data = TAKE_PTR(data);
        return 0;
}

static int connect_json_read_value(const ProtobufCFieldDescriptor *f, json_t *j, void *ret, Error *reterr) {
        switch (f->type) {
        case PROTOBUF_C_TYPE_BOOL:
                if (!json_is_boolean(j))
                        return not_of(f, "true or false", reterr);
                *(protobuf_c_boolean *) ret = json_is_true(j);
                return 0;
        case PROTOBUF_C_TYPE_ENUM:
                return read_enum(f, j, ret, reterr);
        case PROTOBUF_C_TYPE_STRING:
                return read_string(f, j, ret, reterr);
        case PROTOBUF_C_TYPE_BYTES:
                return read_bytes(f, j, ret, reterr);
        case PROTOBUF_C_TYPE_MESSAGE:
                return read_message(f->descriptor, j, ret, reterr);
        case PROTOBUF_C_TYPE_FLOAT:
        case PROTOBUF_C_TYPE_DOUBLE:
                return -EOPNOTSUPP; /* no message here has one */
        default:
                return connect_json_read_number(f, j, ret, reterr);
        }
}

static size_t item_size(const ProtobufCFieldDescriptor *f) {
        return f->type == PROTOBUF_C_TYPE_BYTES ? sizeof(ProtobufCBinaryData) : sizeof(uint64_t);
}

/* Only lists of strings, bytes and messages: the messages here have no others. */
static int connect_json_read_list(ProtobufCMessage *m, const ProtobufCFieldDescriptor *f, json_t *j, Error *reterr) {
        size_t *n = connect_json_read_member(m, f->quantifier_offset), size = item_size(f);
        uint8_t *items;
        json_t *item;
        size_t i;

        if (f->type != PROTOBUF_C_TYPE_STRING && f->type != PROTOBUF_C_TYPE_BYTES && f->type != PROTOBUF_C_TYPE_MESSAGE)
                return -EOPNOTSUPP;
        if (!json_is_array(j))
                return not_of(f, "a list", reterr);
        if (json_array_size(j) == 0)
                return 0;
        items = calloc(json_array_size(j), size);
        if (!items)
                return -ENOMEM;
        *(void **) connect_json_read_member(m, f->offset) = items;
        json_array_foreach(j, i, item) {
                int r = connect_json_read_value(f, item, items + i * size, reterr);

                if (r < 0)
                        return r;
                (*n)++;
        }
        return 0;
}

static int connect_json_read_entry(const ProtobufCMessageDescriptor *d, const char *key, json_t *value, ProtobufCMessage **ret, Error *reterr) {
        ProtobufCMessage *entry = calloc(1, d->sizeof_message);
        int r;

        if (!entry)
                return -ENOMEM;
        protobuf_c_message_init(d, entry);
        *(char **) connect_json_read_member(entry, d->fields[0].offset) = strdup(key);
        r = *(char **) connect_json_read_member(entry, d->fields[0].offset) ? connect_json_read_value(d->fields + 1, value, connect_json_read_member(entry, d->fields[1].offset), reterr) : -ENOMEM;
        if (r < 0) {
                protobuf_c_message_free_unpacked(entry, NULL);
                return r;
        }
        *ret = entry;
        return 0;
}

static int read_map(ProtobufCMessage *m, const ProtobufCFieldDescriptor *f, json_t *j, Error *reterr) {
        const ProtobufCMessageDescriptor *d = f->descriptor;
        size_t *n = connect_json_read_member(m, f->quantifier_offset);
        ProtobufCMessage **items;
        const char *key;
        json_t *value;

        if (!json_is_object(j) || d->fields[1].type != PROTOBUF_C_TYPE_STRING)
                return not_of(f, "an object of texts", reterr);
        if (json_object_size(j) == 0)
                return 0;
        items = calloc(json_object_size(j), sizeof(*items));
        if (!items)
                return -ENOMEM;
        *(ProtobufCMessage ***) connect_json_read_member(m, f->offset) = items;
        json_object_foreach(j, key, value) {
                int r = connect_json_read_entry(d, key, value, items + *n, reterr);

                if (r < 0)
                        return r;
                (*n)++;
        }
        return 0;
}

static int read_single(ProtobufCMessage *m, const ProtobufCFieldDescriptor *f, json_t *j, Error *reterr) {
        bool oneof = f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF;
        /* The chosen member of a oneof. Else whether the field is present, for types that record it. */
        uint32_t *which = connect_json_read_member(m, f->quantifier_offset);
        int r;

        if (oneof && *which != 0)
                return not_of(f, "one thing of several", reterr);
        r = connect_json_read_value(f, j, connect_json_read_member(m, f->offset), reterr);
        if (r < 0)
                return r;
        if (oneof)
                *which = f->id;
        else if (f->label == PROTOBUF_C_LABEL_OPTIONAL && f->type != PROTOBUF_C_TYPE_STRING && f->type != PROTOBUF_C_TYPE_MESSAGE)
                *(protobuf_c_boolean *) connect_json_read_member(m, f->quantifier_offset) = true;
        return 0;
}

static int connect_json_read_field(ProtobufCMessage *m, const ProtobufCFieldDescriptor *f, json_t *object, Error *reterr) {
        char name[CONNECT_NAME_MAX];
        json_t *j;

        connect_json_name(f, name);
        j = json_object_get(object, name);
        if (!j)
                j = json_object_get(object, f->name);
        if (!j || json_is_null(j))
                return 0;
        if (connect_is_map(f))
                return read_map(m, f, j, reterr);
        return f->label == PROTOBUF_C_LABEL_REPEATED ? connect_json_read_list(m, f, j, reterr) : read_single(m, f, j, reterr);
}

static int connect_json_read_time(ProtobufCMessage *m, json_t *j, Error *reterr) {
        const ProtobufCFieldDescriptor *f = m->descriptor->fields;
        const char *text = json_string_value(j);

        if (!text || connect_time_parse(text, connect_json_read_member(m, f[0].offset), connect_json_read_member(m, f[1].offset)) < 0)
                return error_set(reterr, -EBADMSG, "a moment as RFC 3339 writes it was expected");
        for (unsigned i = 0; i < 2; i++)
                *(protobuf_c_boolean *) connect_json_read_member(m, f[i].quantifier_offset) = true;
        return 0;
}

static int connect_json_read_fields(ProtobufCMessage *m, json_t *j, Error *reterr) {
        if (connect_is_time(m->descriptor))
                return connect_json_read_time(m, j, reterr);
        if (!json_is_object(j))
                return error_set(reterr, -EBADMSG, "an object was expected (%s)", m->descriptor->name);
        for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
                int r = connect_json_read_field(m, m->descriptor->fields + i, j, reterr);

                if (r < 0)
                        return r;
        }
        return 0;
}

static int read_message(const ProtobufCMessageDescriptor *d, json_t *j, ProtobufCMessage **ret, Error *reterr) {
        ProtobufCMessage *m = calloc(1, d->sizeof_message);
        int r;

        if (!m)
                return -ENOMEM;
        protobuf_c_message_init(d, m);
        r = connect_json_read_fields(m, j, reterr);
        if (r < 0) {
                protobuf_c_message_free_unpacked(m, NULL);
                return r;
        }
        *ret = m;
        return 0;
}

int connect_json_read(const ProtobufCMessageDescriptor *d, const char *text, size_t size, ProtobufCMessage **ret, Error *reterr) {
        _cleanup_json_ json_t *document = NULL;
        json_error_t error;

        if (json_count_values(text, size) > VALUES_MAX)
                return error_set(reterr, -E2BIG, "the message has more than %d values", VALUES_MAX);
        document = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
        if (!document)
                return error_set(reterr, -EBADMSG, "not JSON: %s (at byte %d)", error.text, error.position);
        return read_message(d, document, ret, reterr);
}
