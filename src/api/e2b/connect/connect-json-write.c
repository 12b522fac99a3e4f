/* connect-json-write.c: writes a message as JSON text. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "api/e2b/connect/connect-json.h"

void connect_json_name(const ProtobufCFieldDescriptor *f, char ret[static CONNECT_NAME_MAX]) {
        bool upper = false;
        size_t n = 0;

        for (const char *p = f->name; *p && n < CONNECT_NAME_MAX - 1; p++) {
                if (*p == '_') {
                        upper = true;
                        continue;
                }
                ret[n++] = upper && *p >= 'a' && *p <= 'z' ? (char) (*p - 'a' + 'A') : *p;
                upper = false;
        }
        ret[n] = '\0';
}

/* protobuf-c has no maps. A map is a list of messages with a key and a value, named by the protobuf
 * compiler. */
bool connect_is_map(const ProtobufCFieldDescriptor *f) {
        const ProtobufCMessageDescriptor *d = f->descriptor;
        size_t n;

        if (f->type != PROTOBUF_C_TYPE_MESSAGE || f->label != PROTOBUF_C_LABEL_REPEATED || d->n_fields != 2)
                return false;
        n = strlen(d->short_name);
        return n > strlen("Entry") && strcmp(d->short_name + n - strlen("Entry"), "Entry") == 0 && strcmp(d->fields[0].name, "key") == 0 &&
               strcmp(d->fields[1].name, "value") == 0 && d->fields[0].type == PROTOBUF_C_TYPE_STRING;
}

bool connect_is_time(const ProtobufCMessageDescriptor *d) {
        return strcmp(d->short_name, "Timestamp") == 0 && d->n_fields == 2 && strcmp(d->fields[0].name, "seconds") == 0 &&
               strcmp(d->fields[1].name, "nanos") == 0;
}

static const void *connect_json_write_member(const ProtobufCMessage *m, unsigned offset) {
        return (const uint8_t *) m + offset;
}

static size_t connect_json_write_value_size(const ProtobufCFieldDescriptor *f) {
        switch (f->type) {
        case PROTOBUF_C_TYPE_INT64:
        case PROTOBUF_C_TYPE_SINT64:
        case PROTOBUF_C_TYPE_SFIXED64:
        case PROTOBUF_C_TYPE_UINT64:
        case PROTOBUF_C_TYPE_FIXED64:
        case PROTOBUF_C_TYPE_DOUBLE:
                return sizeof(uint64_t);
        case PROTOBUF_C_TYPE_STRING:
        case PROTOBUF_C_TYPE_MESSAGE:
                return sizeof(void *);
        case PROTOBUF_C_TYPE_BYTES:
                return sizeof(ProtobufCBinaryData);
        case PROTOBUF_C_TYPE_BOOL:
                return sizeof(protobuf_c_boolean);
        default:
                return sizeof(uint32_t);
        }
}

static bool is_default(const ProtobufCFieldDescriptor *f, const void *value) {
        static const uint8_t zero[sizeof(uint64_t)];

        if (f->type == PROTOBUF_C_TYPE_STRING)
                return (*(char *const *) value)[0] == '\0';
        if (f->type == PROTOBUF_C_TYPE_BYTES)
                return ((const ProtobufCBinaryData *) value)->len == 0;
        return f->type != PROTOBUF_C_TYPE_MESSAGE && memcmp(value, zero, connect_json_write_value_size(f)) == 0;
}

static bool is_written(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f) {
        const void *value = connect_json_write_member(m, f->offset);

        if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
                return *(const uint32_t *) connect_json_write_member(m, f->quantifier_offset) == f->id;
        if (f->label == PROTOBUF_C_LABEL_REPEATED)
                return *(const size_t *) connect_json_write_member(m, f->quantifier_offset) > 0;
        if (f->type == PROTOBUF_C_TYPE_STRING || f->type == PROTOBUF_C_TYPE_MESSAGE) {
                if (!*(void *const *) value)
                        return false;
        } else if (f->label == PROTOBUF_C_LABEL_OPTIONAL && !*(const protobuf_c_boolean *) connect_json_write_member(m, f->quantifier_offset))
                return false;
        return !is_default(f, value);
}

static void write_time(Text *t, const ProtobufCMessage *m) {
        const ProtobufCFieldDescriptor *f = m->descriptor->fields;
        char text[CONNECT_TIME_MAX];
        int r = connect_time_print(*(const int64_t *) connect_json_write_member(m, f[0].offset), *(const int32_t *) connect_json_write_member(m, f[1].offset), text);

        if (r < 0 && t->error == 0)
                t->error = r;
        else if (r >= 0)
                text_quote_string(t, text);
}

static void write_enum(Text *t, const ProtobufCFieldDescriptor *f, int32_t value) {
        const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(f->descriptor, value);

        if (v)
                text_quote_string(t, v->name);
        else
                text_format(t, "%" PRIi32, value);
}

static void write_value(Text *t, const ProtobufCFieldDescriptor *f, const void *value) {
        const ProtobufCBinaryData *data = value;

        switch (f->type) {
        case PROTOBUF_C_TYPE_INT32:
        case PROTOBUF_C_TYPE_SINT32:
        case PROTOBUF_C_TYPE_SFIXED32:
                text_format(t, "%" PRIi32, *(const int32_t *) value);
                break;
        case PROTOBUF_C_TYPE_UINT32:
        case PROTOBUF_C_TYPE_FIXED32:
                text_format(t, "%" PRIu32, *(const uint32_t *) value);
                break;
        case PROTOBUF_C_TYPE_INT64:
        case PROTOBUF_C_TYPE_SINT64:
        case PROTOBUF_C_TYPE_SFIXED64:
                text_format(t, "\"%" PRIi64 "\"", *(const int64_t *) value);
                break;
        case PROTOBUF_C_TYPE_UINT64:
        case PROTOBUF_C_TYPE_FIXED64:
                text_format(t, "\"%" PRIu64 "\"", *(const uint64_t *) value);
                break;
        case PROTOBUF_C_TYPE_BOOL:
                text_put_string(t, *(const protobuf_c_boolean *) value ? "true" : "false");
                break;
        case PROTOBUF_C_TYPE_ENUM:
                write_enum(t, f, *(const int32_t *) value);
                break;
        case PROTOBUF_C_TYPE_STRING:
                text_quote_string(t, *(char *const *) value);
                break;
        case PROTOBUF_C_TYPE_BYTES:
                text_quote_base64(t, data->data, data->len);
                break;
        case PROTOBUF_C_TYPE_MESSAGE:
                (void) connect_json_write(t, *(ProtobufCMessage *const *) value);
                break;
        default:
                t->error = t->error < 0 ? t->error : -EOPNOTSUPP; /* floating point: no message here has it */
        }
}

static void write_entry(Text *t, const ProtobufCMessage *entry) {
        const ProtobufCFieldDescriptor *f = entry->descriptor->fields;
        const char *key = *(char *const *) connect_json_write_member(entry, f[0].offset);
        const void *value = connect_json_write_member(entry, f[1].offset);

        text_quote_string(t, key ? key : "");
        text_put_string(t, ":");
        if (f[1].type == PROTOBUF_C_TYPE_STRING && !*(char *const *) value)
                text_put_string(t, "\"\"");
        else
                write_value(t, f + 1, value);
}

static void connect_json_write_list(Text *t, const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f) {
        const void *items = *(void *const *) connect_json_write_member(m, f->offset);
        size_t n = *(const size_t *) connect_json_write_member(m, f->quantifier_offset), size = connect_json_write_value_size(f);
        bool map = connect_is_map(f);

        text_put_string(t, map ? "{" : "[");
        for (size_t i = 0; i < n; i++) {
                if (i > 0)
                        text_put_string(t, ",");
                if (map)
                        write_entry(t, ((ProtobufCMessage *const *) items)[i]);
                else
                        write_value(t, f, (const uint8_t *) items + i * size);
        }
        text_put_string(t, map ? "}" : "]");
}

int connect_json_write(Text *t, const ProtobufCMessage *m) {
        const ProtobufCMessageDescriptor *d = m->descriptor;
        char name[CONNECT_NAME_MAX];
        bool first = true;

        if (connect_is_time(d)) {
                write_time(t, m);
                return t->error;
        }
        text_put_string(t, "{");
        for (unsigned i = 0; i < d->n_fields; i++) {
                const ProtobufCFieldDescriptor *f = d->fields + i;

                if (!is_written(m, f))
                        continue;
                connect_json_name(f, name);
                text_format(t, "%s\"%s\":", first ? "" : ",", name);
                first = false;
                if (f->label == PROTOBUF_C_LABEL_REPEATED)
                        connect_json_write_list(t, m, f);
                else
                        write_value(t, f, connect_json_write_member(m, f->offset));
        }
        text_put_string(t, "}");
        return t->error;
}
