/* The drivers of base/shape.h that need no library, and wire/shape.h. test-json-fields.c and test-store.c have the others. */
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/shape.h"
#include "base/strv.h"
#include "wire/shape.h"

typedef enum Colour { COLOUR_RED, COLOUR_GREEN, _COLOUR_MAX } Colour;

static const char *const colour_words[_COLOUR_MAX] = { [COLOUR_RED] = "red", [COLOUR_GREEN] = "green" };
static const ShapeNames colour_names = SHAPE_WORDS(colour_words);

typedef struct Wheel {
        char *maker;
        uint32_t inches;
} Wheel;

static const ShapeField wheel_fields[] = {
        { "maker",  SHAPE_TEXT,   offsetof(Wheel, maker)                  },
        { "inches", SHAPE_UINT32, offsetof(Wheel, inches), .flags = SHAPE_POOL },
};
static const Shape wheel = SHAPE_OF(wheel, Wheel);

typedef struct Seats {
        uint8_t front, back;
        uint64_t said;
} Seats;

static const ShapeField seats_fields[] = {
        { "front", SHAPE_UINT8, offsetof(Seats, front), SHAPE_POOL },
        { "back",  SHAPE_UINT8, offsetof(Seats, back)              },
};
static const Shape seats = { "Seats", seats_fields, 2, sizeof(Seats), .said = offsetof(Seats, said), .remembers = true };

typedef struct Car {
        bool fast;
        int gears;
        uint16_t doors;
        uint64_t metres;
        double price;
        Colour colour;
        char *owner;
        const char *maker;
        char plate[8];
        Strv extras;
        Wheel *wheels;
        size_t n_wheels;
        Seats seats;
        int key; /* not described */
        uint64_t said;
} Car;

static const ShapeField car_fields[] = {
        { "fast",   SHAPE_BOOL,     offsetof(Car, fast)                                              },
        { "gears",  SHAPE_INT,      offsetof(Car, gears)                                             },
        { "doors",  SHAPE_UINT16,   offsetof(Car, doors), SHAPE_POOL                                 },
        { "metres", SHAPE_UINT64,   offsetof(Car, metres), SHAPE_ONCE                                },
        { "price",  SHAPE_DOUBLE,   offsetof(Car, price)                                             },
        { "colour", SHAPE_ENUM,     offsetof(Car, colour), .names = &colour_names                    },
        { "owner",  SHAPE_TEXT,     offsetof(Car, owner)                                             },
        { "maker",  SHAPE_BORROWED, offsetof(Car, maker)                                             },
        { "plate",  SHAPE_CHARS,    SHAPE_AT(Car, plate)                                             },
        { "extras", SHAPE_STRV,     offsetof(Car, extras)                                            },
        { "wheels", SHAPE_LIST,     offsetof(Car, wheels), .count = offsetof(Car, n_wheels), .shape = &wheel },
        { "seats",  SHAPE_OBJECT,   offsetof(Car, seats), .shape = &seats                            },
};
static const Shape car = { "Car", car_fields, ELEMENTSOF(car_fields), sizeof(Car), .said = offsetof(Car, said), .remembers = true };

static Car car_make(void) {
        Car c = { .fast = true, .gears = -1, .doors = 5, .metres = UINT64_MAX, .price = 1.5, .colour = COLOUR_GREEN, .maker = "Trabant",
                  .plate = "AB-1234", .extras = STRV_INIT(4), .seats = { .front = 2, .back = 3 }, .key = 7 };

        c.owner = strdup("Ann");
        (void) strv_push(&c.extras, "radio");
        c.wheels = calloc(2, sizeof(Wheel));
        c.n_wheels = 2;
        c.wheels[0] = (Wheel) { strdup("Round"), 15 };
        c.wheels[1].inches = 16;
        return c;
}

TEST(a_copy_has_everything_but_what_is_the_objects_own) {
        Car a = car_make(), b = { .key = 9, .metres = 3 };

        check_result("copied", shape_copy(&car, &a, &b), 0);
        check_true("no pointer is shared", a.owner != b.owner && a.wheels != b.wheels && a.extras.items != b.extras.items);
        check_string("text", b.owner, "Ann");
        check_string("text in a list", b.wheels[0].maker, "Round");
        check_true("no text", !b.wheels[1].maker);
        check_uint("number in an object", b.seats.back, 3);
        check_int("negative", b.gears, -1);
        check_uint("once", b.metres, 0);
        check_int("what is not described stays", b.key, 9);
        check_true("equal but for that", !shape_equal(&car, &a, &b, 0));
        b.metres = a.metres;
        check_true("equal", shape_equal(&car, &a, &b, 0));
        shape_done(&car, &a);
        shape_done(&car, &b);
        check_true("freed and zeroed", !b.owner && !b.wheels && b.n_wheels == 0 && !b.fast && b.key == 9);
}

TEST(each_member_makes_a_difference) {
        Car a = car_make(), b;

        check_result("copied", shape_copy(&car, &a, &b), 0);
        b.metres = a.metres;
#define DIFFERS(member, other)                                                             \
        do {                                                                               \
                typeof(b.member) kept = b.member;                                          \
                b.member = (other);                                                        \
                check_true(#member, !shape_equal(&car, &a, &b, 0));                        \
                b.member = kept;                                                           \
        } while (0)
        DIFFERS(fast, false);
        DIFFERS(gears, 4);
        DIFFERS(doors, 3);
        DIFFERS(metres, 1);
        DIFFERS(price, 2);
        DIFFERS(colour, COLOUR_RED);
        DIFFERS(owner, NULL);
        DIFFERS(maker, "Wartburg");
        DIFFERS(plate[0], 'X');
        DIFFERS(extras.n, 0);
        DIFFERS(n_wheels, 1);
        DIFFERS(wheels[1].inches, 1);
        DIFFERS(seats.front, 1);
        check_true("all are back", shape_equal(&car, &a, &b, 0));
        shape_done(&car, &a);
        shape_done(&car, &b);
}

TEST(a_comparison_by_flag_sees_nothing_else) {
        Car a = car_make(), b;

        check_result("copied", shape_copy(&car, &a, &b), 0);
        b.gears = 3;
        b.seats.back = 0;
        check_true("others may differ", shape_equal(&car, &a, &b, SHAPE_POOL));
        b.seats.front = 0;
        check_true("within an object", !shape_equal(&car, &a, &b, SHAPE_POOL));
        b.seats.front = a.seats.front;
        b.doors = 2;
        check_true("in it", !shape_equal(&car, &a, &b, SHAPE_POOL));
        shape_done(&car, &a);
        shape_done(&car, &b);
}

TEST(what_was_said_is_remembered) {
        Car c = { 0 };

        shape_said(&car, &c, shape_find(&car, "doors"));
        check_true("said", shape_is_said(&car, &c, shape_find(&car, "doors")));
        check_true("not said", !shape_is_said(&car, &c, shape_find(&car, "fast")));
        check_true("where nothing is remembered, nothing was said", !shape_is_said(&wheel, &c, shape_find(&wheel, "inches")));
}

TEST(numbers_that_do_not_fit_are_refused) {
        Car c = { 0 };

        check_result("a bool", shape_set(shape_find(&car, "fast"), &c, 2), -ERANGE);
        check_result("16 bits", shape_set(shape_find(&car, "doors"), &c, 65536), -ERANGE);
        check_result("negative", shape_set(shape_find(&car, "doors"), &c, -1), -ERANGE);
        check_result("an int", shape_set(shape_find(&car, "gears"), &c, INT64_C(1) << 32), -ERANGE);
        check_result("a text", shape_set(shape_find(&car, "owner"), &c, 1), -EINVAL);
        check_result("fits", shape_set(shape_find(&car, "gears"), &c, -4), 0);
        check_int("and is there", shape_get(shape_find(&car, "gears"), &c), -4);
}

/* Bytes. */

typedef struct Stop {
        char name[4];
        bool shelter;
} Stop;

static const ShapeField stop_fields[] = {
        { "name",    SHAPE_CHARS, SHAPE_AT(Stop, name)      },
        { "shelter", SHAPE_BOOL,  offsetof(Stop, shelter)   },
};
static const Shape stop = SHAPE_OF(stop, Stop);

typedef struct Line {
        int error;
        uint16_t number;
        uint64_t length;
        uint8_t n_stops;
        Stop stops[2];
        uint8_t mark[2];
        const uint8_t *view;
        size_t view_size;
} Line;

static const ShapeField line_fields[] = {
        { "error",  SHAPE_INT,    offsetof(Line, error), .min = 1, .max = 4095                                    },
        { "number", SHAPE_UINT16, offsetof(Line, number)                                                          },
        { "length", SHAPE_UINT64, offsetof(Line, length)                                                          },
        { "stops",  SHAPE_ARRAY,  SHAPE_AT(Line, stops), .count = offsetof(Line, n_stops), .shape = &stop         },
        { "mark",   SHAPE_BYTES,  SHAPE_AT(Line, mark)                                                            },
        { "view",   SHAPE_VIEW,   offsetof(Line, view), .count = offsetof(Line, view_size)                        },
};
static const Shape line = SHAPE_OF(line, Line);

static const uint8_t line_bytes[] = {
        2, 0, 0, 0, 0x34, 0x12, 8, 7, 6, 5, 4, 3, 2, 1, 1, 2, 0, 'a', 'b', 1, 0xaa, 0xbb, 3, 0, 0, 0, 'x', 'y', 'z',
};

static bool line_get(const uint8_t *data, size_t size, Line *ret) {
        WireReader r = { .p = data, .end = data + size };

        *ret = (Line) { 0 };
        wire_get_shape(&r, &line, ret);
        return wire_reader_at_end(&r);
}

TEST(bytes_are_as_the_table_says) {
        Line l = { .error = 2, .number = 0x1234, .length = UINT64_C(0x0102030405060708), .n_stops = 1, .stops = { { "ab", true } },
                   .mark = { 0xaa, 0xbb }, .view = (const uint8_t *) "xyz", .view_size = 3 },
             back;
        uint8_t buffer[64];
        WireWriter w = { .p = buffer, .end = buffer + sizeof(buffer) };

        wire_put_shape(&w, &line, &l);
        check_true("written", !w.failed);
        check_uint("so many", (uintmax_t) (w.p - buffer), sizeof(line_bytes));
        check_true("these", memcmp(buffer, line_bytes, sizeof(line_bytes)) == 0);
        check_true("read", line_get(buffer, sizeof(line_bytes), &back));
        check_true("the same", shape_equal(&line, &l, &back, 0));
}

TEST(bytes_that_nobody_writes_are_refused) {
        uint8_t bad[sizeof(line_bytes) + 1] = { 0 };
        Line l;

        memcpy(bad, line_bytes, sizeof(line_bytes));
        for (size_t n = 0; n < sizeof(line_bytes); n++)
                check_true("cut", !line_get(bad, n, &l));
        check_true("one more", !line_get(bad, sizeof(bad), &l));
#define REFUSED(place, byte)                                                                  \
        do {                                                                                  \
                bad[place] = (byte);                                                          \
                check_true(#place, !line_get(bad, sizeof(line_bytes), &l));                   \
                bad[place] = line_bytes[place];                                               \
        } while (0)
        REFUSED(0, 0);     /* below the bound */
        REFUSED(1, 0x20);  /* above it */
        REFUSED(3, 0x80);  /* negative */
        REFUSED(14, 3);    /* more than the array has */
        REFUSED(15, 4);    /* a name that does not fit */
        REFUSED(17, 0);    /* a NUL in it */
        REFUSED(19, 2);    /* no bool */
        check_true("and as it was, it is fine", line_get(bad, sizeof(line_bytes), &l));
}

TEST(an_array_beyond_its_room_is_not_sent) {
        Line l = { .error = 1, .n_stops = 3 };
        uint8_t buffer[64];
        WireWriter w = { .p = buffer, .end = buffer + sizeof(buffer) };

        wire_put_shape(&w, &line, &l);
        check_true("failed", w.failed);
}

typedef struct Lamp {
        char name[8];
        char *bulb;
} Lamp;

static const ShapeField lamp_fields[] = {
        { NULL, SHAPE_CHARS, SHAPE_AT(Lamp, name), .flags = SHAPE_KEY },
        { "bulb", SHAPE_TEXT, offsetof(Lamp, bulb) },
};
static const Shape lamp = SHAPE_OF(lamp, Lamp);

typedef struct Street {
        Lamp *lamps;
        size_t n_lamps;
} Street;

TEST(a_list_grows_and_is_freed) {
        static const ShapeField lamps = { "lamps", SHAPE_LIST, offsetof(Street, lamps), .count = offsetof(Street, n_lamps), .shape = &lamp };
        Street s = { 0 };

        for (size_t i = 0; i < 20; i++) {
                Lamp *l = shape_list_add(&lamps, &s);

                check_true("zeroed, at the end", l && l == s.lamps + i && s.n_lamps == i + 1 && !*l->name && !l->bulb);
                check_result("a text of its own", shape_text_set(&l->bulb, "warm"), 0);
        }
        check_true("the key", shape_key(&lamp) == lamp_fields && !shape_key(&wheel));
        shape_field_done(&lamps, &s);
        check_true("nothing is left", !s.lamps && s.n_lamps == 0);
}
