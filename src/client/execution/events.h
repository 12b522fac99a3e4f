/* events.h: parses the events of a command from lines of JSON.
 *
 * Input is bytes in portions of any size; output is events. Output events are the bulk, and are decoded
 * directly from the line if it has the form in which the daemon writes it. All other lines go through the
 * JSON library.
 * Must not know: where the lines come from, what happens with the events. */
#pragma once

#include "client/json.h"
#include "client/lines.h"

#define EVENT_LINE_MAX (16 << 20)

typedef enum EventKind {
        EVENT_STDOUT, /* the values of the two streams are their numbers, 0 and 1 */
        EVENT_STDERR,
        EVENT_START,
        EVENT_EXIT,
        EVENT_OTHER, /* from a newer daemon: to be ignored */
} EventKind;

typedef struct Event {
        EventKind kind;
        const void *data; /* of output events */
        size_t size;
        uint64_t offset;    /* position of its first byte in the stream */
        const json_t *json; /* of other events */
} Event;

typedef struct EventReader {
        int (*event)(void *userdata, const Event *event); /* a negative result ends the reading, and is returned */
        void *userdata;
        LineReader lines;
        uint8_t *decoded;
        size_t decoded_room;
} EventReader;

void event_reader_done(EventReader *r);

/* -EBADMSG: a line is not an event, or too long. */
int event_reader_feed(EventReader *r, const void *data, size_t size);

/* Handles one line, without its newline. */
int event_reader_line(EventReader *r, const char *line, size_t size);

/* Decodes the inside of a JSON string to bytes; returns their number. ret has room for `size` bytes.
 * -EBADMSG. */
ssize_t event_unescape(const char *text, size_t size, uint8_t *ret);
