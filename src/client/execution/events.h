/* events.h: the events of a command, out of lines of JSON.
 *
 * Bytes in, of any portions; out come events. Output is the bulk of it, and is decoded straight from the line in the shape in
 * which the daemon writes it; any other line, and any other shape, goes through the JSON library.
 * Must not know: where the lines come from, what becomes of the events. */
#pragma once

#include "client/json.h"
#include "client/lines.h"

#define EVENT_LINE_MAX (16 << 20)

typedef enum EventKind {
        EVENT_STDOUT, /* the two streams: numbers 0 and 1 */
        EVENT_STDERR,
        EVENT_START,
        EVENT_EXIT,
        EVENT_OTHER, /* of a younger daemon: to be passed over */
} EventKind;

typedef struct Event {
        EventKind kind;
        const void *data; /* output */
        size_t size;
        uint64_t offset;    /* of its first byte in the stream */
        const json_t *json; /* the others */
} Event;

typedef struct EventReader {
        int (*event)(void *userdata, const Event *event); /* a negative answer ends the reading with it */
        void *userdata;
        LineReader lines;
        uint8_t *decoded;
        size_t decoded_room;
} EventReader;

void event_reader_done(EventReader *r);

/* -EBADMSG: a line is no event, or too long. */
int event_reader_feed(EventReader *r, const void *data, size_t size);

/* One line, without its newline. */
int event_reader_line(EventReader *r, const char *line, size_t size);

/* The inside of a JSON string into bytes; returns how many. ret has room for as many as there are letters. -EBADMSG. */
ssize_t event_unescape(const char *text, size_t size, uint8_t *ret);
