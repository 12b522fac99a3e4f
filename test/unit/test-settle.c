/* A turn of the loop: what is written before what leaves (core/settle.h). */
#include "unit.h"

#include <string.h>

#include "core/settle.h"

typedef struct World {
        Settle settle;
        SettleWriter first, second;
        SettleDoor door, other;
        char said[64]; /* a letter for each call */
        unsigned marks; /* how often the second writer has something new to write */
        unsigned work;  /* how often the door begins new work */
} World;

static void say(World *w, char what) {
        size_t n = strlen(w->said);

        check_true("room", n + 1 < sizeof(w->said));
        w->said[n] = what;
        w->said[n + 1] = '\0';
}

static void write_first(void *userdata) {
        say(userdata, 'a');
}

static void write_second(void *userdata) {
        World *w = userdata;

        say(w, 'b');
        if (w->marks > 0) {
                w->marks--;
                settle_mark(&w->settle);
        }
}

static void open_door(void *userdata) {
        World *w = userdata;

        check_true("everything is written", !settle_held(&w->settle));
        say(w, '1');
        if (w->work > 0) {
                w->work--;
                settle_mark(&w->settle);
                settle_wait(&w->other);
        }
}

static void open_other(void *userdata) {
        World *w = userdata;

        say(w, '2');
}

static void world_open(World *w) {
        *w = (World) {
                .first = { .write = write_first, .userdata = w },
                .second = { .write = write_second, .userdata = w },
                .door = { .open = open_door, .userdata = w },
                .other = { .open = open_other, .userdata = w },
        };
        settle_add_writer(&w->settle, &w->first);
        settle_add_writer(&w->settle, &w->second);
        settle_add_door(&w->settle, &w->door);
        settle_add_door(&w->settle, &w->other);
}

TEST(nothing_to_do) {
        World w;

        world_open(&w);
        check_true("nothing", !settle_pends(&w.settle) && !settle_held(&w.settle));
        settle_end(&w.settle);
        settle_now(&w.settle);
        check_string("silence", w.said, "");
        check_true("none is none", !settle_held(NULL));
        settle_now(NULL);
}

TEST(writers_before_doors) {
        World w;

        world_open(&w);
        settle_wait(&w.door);
        settle_mark(&w.settle);
        settle_mark(&w.settle);
        settle_wait(&w.other);
        check_true("held", settle_held(&w.settle) && settle_pends(&w.settle));
        settle_end(&w.settle);
        check_string("once each, in order", w.said, "ab12");
        settle_end(&w.settle);
        check_string("and no more", w.said, "ab12");
}

TEST(a_door_in_a_hurry) {
        World w;

        world_open(&w);
        settle_mark(&w.settle);
        settle_wait(&w.door);
        settle_now(&w.settle);
        check_string("written, not opened", w.said, "ab");
        check_true("the other still waits", settle_pends(&w.settle) && !settle_held(&w.settle));
        settle_end(&w.settle);
        check_string("opened", w.said, "ab1");
}

/* An answer that is sent at once says that the message has been sent. */
TEST(a_door_that_is_first) {
        World w;

        world_open(&w);
        w.other.first = true;
        settle_mark(&w.settle);
        settle_wait(&w.door);
        settle_wait(&w.other);
        settle_now(&w.settle);
        check_string("written and sent", w.said, "ab2");
        settle_end(&w.settle);
        check_string("then the rest", w.said, "ab21");
}

TEST(a_writer_that_marks) {
        World w;

        world_open(&w);
        w.marks = 1;
        settle_mark(&w.settle);
        settle_wait(&w.door);
        settle_end(&w.settle);
        check_string("again, then the door", w.said, "abab1");
}

TEST(a_door_that_begins_work) {
        World w;

        world_open(&w);
        w.work = 1;
        settle_wait(&w.door);
        settle_end(&w.settle);
        check_string("the other opens after the new work is written", w.said, "1ab2");
}

TEST(removed) {
        World w;

        world_open(&w);
        settle_remove_writer(&w.settle, &w.first);
        settle_remove_door(&w.settle, &w.door);
        settle_mark(&w.settle);
        settle_wait(&w.other);
        settle_end(&w.settle);
        check_string("the rest", w.said, "b2");
}
