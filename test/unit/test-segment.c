/* The output of a sandbox's commands in its segment: in pieces of several streams and commands, at any cursor, given back, and after the death of who knew it. */
#include "world.h"

#include <dirent.h>

#include "core/execution/segment.h"
#include "core/output.h"

#define TIME UINT64_C(1700000000000000) /* of the first piece, in microseconds; a millisecond later each */

static uint64_t n_pieces, data_end;

static void segment_world(World *w, const char *name) {
        world_new(w, name);
        w->fake.segment = PROVIDER_SEGMENT_WANTED;
        n_pieces = data_end = 0;
}

static void put_record(const World *w, SegmentRecord record) {
        check_int("record", write(w->fake.segment_fds[1], &record, sizeof(record)), sizeof(record));
}

/* As a shim does it. */
static void put_piece(const World *w, uint64_t exec, ExecutionStream stream, const void *data, size_t size) {
        check_int("data", pwrite(w->fake.segment_fds[0], data, size, (off_t) data_end), (intmax_t) size);
        put_record(w, (SegmentRecord) { exec, data_end, TIME + n_pieces++ * 1000, (uint32_t) size, (uint32_t) stream });
        data_end += size;
}

static void put(const World *w, const Execution *x, ExecutionStream stream, const char *text) {
        put_piece(w, x->number, stream, text, strlen(text));
}

static void fill(const World *w, const Execution *x, size_t size, char c) {
        static char block[64 << 10];

        memset(block, c, sizeof(block));
        for (; size > 0; size -= MIN_OF(size, sizeof(block)))
                put_piece(w, x->number, STREAM_STDOUT, block, MIN_OF(size, sizeof(block)));
}

static void end_with(World *w, Execution *x, uint64_t out, uint64_t err) {
        const ProviderEnd e = { .number = x->number, .journals = { { .bytes = out }, { .bytes = err } } };

        w->fake.provider.events->exec_exited(x->sandbox, &e, w->manager);
}

static const char *text_from(const Execution *x, ExecutionStream stream, uint64_t offset) {
        _cleanup_output_ OutputReader *o = NULL;
        static char text[4096];
        ssize_t n;

        check_result("open", execution_open_output(x, stream, &o), 0);
        n = execution_read_output(x, stream, o, text, sizeof(text) - 1, offset);
        check_true("read", n >= 0);
        text[n] = '\0';
        return text;
}

static uint64_t size_of(const Execution *x, ExecutionStream stream) {
        _cleanup_output_ OutputReader *o = NULL;

        check_result("open", execution_open_output(x, stream, &o), 0);
        return execution_output_size(x, stream, o);
}

static uint64_t disk_bytes(const World *w, const Sandbox *sb, const char *suffix) {
        char path[700];
        struct stat st;

        (void) snprintf(path, sizeof(path), "%s/box/%s%s", w->state, sb->id, suffix);
        return stat(path, &st) < 0 ? UINT64_MAX : (uint64_t) st.st_blocks * 512;
}

static unsigned count_names(const World *w, bool spares) {
        char path[600];
        unsigned n = 0;
        DIR *d;

        (void) snprintf(path, sizeof(path), "%s/box", w->state);
        d = opendir(path);
        check_true("box", d != NULL);
        for (const struct dirent *e; (e = readdir(d));)
                n += e->d_name[0] != '.' && (strncmp(e->d_name, "spare-", 6) == 0) == spares;
        (void) closedir(d);
        return n;
}

static unsigned count_files(const World *w) {
        return count_names(w, /* spares= */ false);
}

static unsigned count_spares(const World *w) {
        return count_names(w, /* spares= */ true);
}

TEST(each_stream_is_whole_whoever_writes_between) {
        World w;
        Sandbox *sb;
        Execution *a, *b;

        segment_world(&w, "streams");
        sb = create_ready(&w, NULL);
        a = start(sb, "a");
        b = start(sb, "b");
        check_string("none yet", text_from(a, STREAM_STDOUT, 0), "");
        put(&w, a, STREAM_STDOUT, "one ");
        put(&w, b, STREAM_STDOUT, "other ");
        put(&w, a, STREAM_STDERR, "error ");
        put(&w, a, STREAM_STDOUT, "two ");
        put(&w, a, STREAM_STDOUT, "three");
        put(&w, b, STREAM_STDOUT, "command");
        check_string("out", text_from(a, STREAM_STDOUT, 0), "one two three");
        check_string("err", text_from(a, STREAM_STDERR, 0), "error ");
        check_string("the other's", text_from(b, STREAM_STDOUT, 0), "other command");
        check_uint("size", size_of(a, STREAM_STDOUT), 13);
        for (uint64_t i = 0; i <= 13; i++)
                check_string("a cursor", text_from(a, STREAM_STDOUT, i), &"one two three"[i]);
        check_string("beyond", text_from(a, STREAM_STDOUT, 14), "");
        end_with(&w, a, 8, 6);
        check_string("what came after the end does not count", text_from(a, STREAM_STDOUT, 0), "one two ");
        check_uint("files of all commands", count_files(&w), 2);
        world_close(&w);
}

TEST(commands_make_no_files_after_the_first) {
        World w;
        Sandbox *sb;
        Execution *first;

        segment_world(&w, "files");
        sb = create_ready(&w, NULL);
        check_uint("before", count_files(&w), 0);
        first = start(sb, "true");
        for (unsigned i = 0; i < 20; i++)
                (void) start(sb, "true");
        check_uint("after", count_files(&w), 2);
        end_with(&w, first, 0, 0);
        check_string("silent", text_from(first, STREAM_STDOUT, 0), "");
        w.fake.segment = PROVIDER_SEGMENT_WANTED; /* another PID 1 */
        put(&w, start(sb, "echo"), STREAM_STDOUT, "more");
        check_uint("the same files", count_files(&w), 2);
        world_close(&w);
}

TEST(old_programs_get_files_of_their_own) {
        World w;
        Sandbox *sb;
        Execution *old, *new;

        segment_world(&w, "old");
        sb = create_ready(&w, NULL);
        w.fake.segment = PROVIDER_SEGMENT_NEVER;
        old = start(sb, "old");
        check_int("written", write(w.fake.last_journal, "by a file", 9), 9);
        w.fake.segment = PROVIDER_SEGMENT_WANTED;
        new = start(sb, "new");
        put(&w, new, STREAM_STDOUT, "by a segment");
        check_string("old", text_from(old, STREAM_STDOUT, 0), "by a file");
        check_string("new", text_from(new, STREAM_STDOUT, 0), "by a segment");
        world_close(&w);
        world_open(&w);
        sb = w.manager->sandboxes;
        check_string("old", text_from(manager_find_execution(sb, "e1"), STREAM_STDOUT, 0), "by a file");
        check_string("new", text_from(manager_find_execution(sb, "e2"), STREAM_STDOUT, 0), "by a segment");
        world_close(&w);
}

TEST(reading_goes_back_over_many_pieces) {
        enum { PIECES = 10000 };
        _cleanup_output_ OutputReader *o = NULL;
        World w;
        Execution *a, *b;
        Sandbox *sb;

        segment_world(&w, "back");
        sb = create_ready(&w, NULL);
        a = start(sb, "a");
        b = start(sb, "b");
        for (unsigned i = 0; i < PIECES; i++) {
                char text[16];

                (void) snprintf(text, sizeof(text), "%07u\n", i);
                put(&w, a, STREAM_STDOUT, text);
                put(&w, b, i % 2 ? STREAM_STDOUT : STREAM_STDERR, "-");
        }
        check_result("open", execution_open_output(a, STREAM_STDOUT, &o), 0);
        check_uint("size", execution_output_size(a, STREAM_STDOUT, o), PIECES * 8);
        for (unsigned i = PIECES; i-- > 0;) {
                char text[9] = "", wanted[16];

                check_int("read", execution_read_output(a, STREAM_STDOUT, o, text, 8, i * 8), 8);
                (void) snprintf(wanted, sizeof(wanted), "%07u\n", i);
                check_string("backwards", text, wanted);
                check_uint("its time", output_time(o, i * 8), TIME + i * 2000);
        }
        o = output_close(o);
        world_close(&w);
}

static unsigned n_told;

static void on_told(Execution *x, void *userdata) {
        n_told++;
}

TEST(followers_are_woken_by_the_index) {
        ExecutionWatch watch = { .changed = on_told, .follow = true }, other = { .changed = on_told, .follow = true };
        World w;
        Execution *a, *b;
        Sandbox *sb;

        segment_world(&w, "follow");
        sb = create_ready(&w, NULL);
        a = start(sb, "a");
        b = start(sb, "b");
        check_result("watch", execution_watch(a, &watch), 0);
        check_result("watch", execution_watch(b, &other), 0);
        n_told = 0;
        put(&w, a, STREAM_STDOUT, "x");
        while (n_told < 2)
                check_true("told", sd_event_run(w.event, USEC_PER_SEC * 60) > 0);
        execution_unwatch(&other);
        n_told = 0;
        put(&w, a, STREAM_STDERR, "y");
        while (n_told < 1)
                check_true("told again", sd_event_run(w.event, USEC_PER_SEC * 60) > 0);
        execution_unwatch(&watch);
        world_close(&w);
}

TEST(the_oldest_output_is_given_back_and_the_rest_stays) {
        _cleanup_output_ OutputReader *held = NULL;
        World w;
        Execution *x[4];
        Sandbox *sb;
        char c;

        segment_world(&w, "room"); /* for 1 MiB */
        sb = create_ready(&w, NULL);
        for (unsigned i = 0; i < 4; i++) {
                x[i] = start(sb, "talk");
                fill(&w, x[i], 400 << 10, (char) ('a' + i));
                if (i == 1)
                        check_result("held", execution_open_output(x[1], STREAM_STDOUT, &held), 0);
                end_with(&w, x[i], 400 << 10, 0);
        }
        check_true("the oldest went", x[0]->journals_gone && x[1]->journals_gone);
        check_true("the newest are there", !x[2]->journals_gone && !x[3]->journals_gone);
        check_result("asked for", output_open(x[0], STREAM_STDOUT, &(OutputReader *) { NULL }), -ENODATA);
        check_true("one is still read", disk_bytes(&w, sb, SEGMENT_DATA) >= 1200 << 10);
        check_true("one is not", disk_bytes(&w, sb, SEGMENT_DATA) <= 1220 << 10);
        check_int("read", output_read(held, &c, 1, (400 << 10) - 1), 1);
        check_int("its own", c, 'b');
        held = output_close(held);
        check_true("now it is not either", disk_bytes(&w, sb, SEGMENT_DATA) <= 820 << 10);
        check_int("the third", text_from(x[2], STREAM_STDOUT, 0)[0], 'c');
        check_int("the fourth", text_from(x[3], STREAM_STDOUT, (400 << 10) - 100)[99], 'd');
        world_close(&w);
}

TEST(small_output_is_given_back_too) {
        World w;
        Sandbox *sb;
        Execution *x, *kept;
        static char line[1000];

        segment_world(&w, "small");
        memset(line, 'x', sizeof(line) - 1);
        sb = create_ready(&w, NULL);
        kept = start(sb, "kept"); /* it runs: the oldest, and never removed */
        put(&w, kept, STREAM_STDOUT, "kept");
        for (unsigned i = 0; i < 3000; i++) {
                x = start(sb, "talk");
                put(&w, x, STREAM_STDOUT, line);
                end_with(&w, x, sizeof(line) - 1, 0);
        }
        check_true("data", disk_bytes(&w, sb, SEGMENT_DATA) <= 1300 << 10);
        check_true("index", disk_bytes(&w, sb, SEGMENT_INDEX) <= 60 << 10);
        check_string("kept", text_from(kept, STREAM_STDOUT, 0), "kept");
        check_int("the newest", text_from(x, STREAM_STDOUT, 0)[0], 'x');
        world_close(&w);
}

/* The row may be lost with the power: holes are not shown as bytes. */
TEST(what_was_given_back_is_not_read_as_zeros) {
        World w;
        Sandbox *sb;
        Execution *x;

        segment_world(&w, "zeros");
        sb = create_ready(&w, NULL);
        x = start(sb, "talk");
        fill(&w, x, 300 << 10, 'x');
        end_with(&w, x, 300 << 10, 0);
        journal_remove(x);
        world_close(&w);
        world_open(&w);
        x = manager_find_execution(w.manager->sandboxes, "e1");
        check_true("its row does not say so", !x->journals_gone);
        check_result("gone", output_open(x, STREAM_STDOUT, &(OutputReader *) { NULL }), -ENODATA);
        world_close(&w);
}

TEST(a_restarted_daemon_reads_on_and_uses_no_number_twice) {
        World w;
        Sandbox *sb;
        Execution *x;

        segment_world(&w, "restart");
        sb = create_ready(&w, NULL);
        x = start(sb, "a");
        put(&w, x, STREAM_STDOUT, "before ");
        for (int i = 0; i < 2; i++)
                w.fake.segment_fds[i] = fcntl(w.fake.segment_fds[i], F_DUPFD_CLOEXEC, 100);
        int fds[2] = { w.fake.segment_fds[0], w.fake.segment_fds[1] };
        w.fake.segment_fds[0] = w.fake.segment_fds[1] = -EBADF;
        world_close(&w);
        world_open(&w);
        memcpy(w.fake.segment_fds, fds, sizeof(fds));
        w.fake.segment = PROVIDER_SEGMENT_KEPT;
        sb = w.manager->sandboxes;
        put(&w, manager_find_execution(sb, "e1"), STREAM_STDOUT, "after");
        check_string("read", text_from(manager_find_execution(sb, "e1"), STREAM_STDOUT, 0), "before after");
        put_piece(&w, 7, STREAM_STDOUT, "of another store", 16);
        world_close(&w);
        world_open(&w);
        w.fake.segment = PROVIDER_SEGMENT_KEPT;
        sb = w.manager->sandboxes;
        w.fake.provider.events->up(&w.fake.provider, w.manager);
        w.fake.provider.events->listed(sb->id, w.manager);
        w.fake.provider.events->listed(NULL, w.manager);
        w.fake.provider.events->adopted(sb, NULL, w.manager);
        x = start(sb, "next");
        check_string("its number", x->id, "e8");
        check_string("nothing is there", text_from(x, STREAM_STDOUT, 0), "");
        world_close(&w);
}

/* A crash of the machine may keep the index and lose data: what is written there next is not shown as the output of before. */
TEST(records_of_lost_bytes_show_nothing) {
        World w;
        Sandbox *sb;
        Execution *x;

        segment_world(&w, "crash");
        sb = create_ready(&w, NULL);
        x = start(sb, "a");
        put(&w, x, STREAM_STDOUT, "kept");
        put(&w, x, STREAM_STDOUT, "lost");
        put(&w, x, STREAM_STDERR, "all lost");
        end_with(&w, x, 8, 8);
        check_int("crash", ftruncate(w.fake.segment_fds[0], 6), 0);
        world_close(&w);
        world_open(&w);
        x = manager_find_execution(w.manager->sandboxes, "e1");
        check_string("what is left", text_from(x, STREAM_STDOUT, 0), "kept");
        check_uint("of stdout", size_of(x, STREAM_STDOUT), 4);
        check_result("nothing", output_open(x, STREAM_STDERR, &(OutputReader *) { NULL }), -ENODATA);
        world_close(&w);
}

TEST(an_index_is_not_trusted) {
        static const SegmentRecord bad[] = {
                { 1, 0, TIME, UINT32_MAX, STREAM_STDOUT },
                { 1, 0, TIME, 3, _STREAM_MAX },
                { 99, 0, TIME, 3, STREAM_STDOUT },
                { 0, 0, 0, 0, 0 },
                { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT32_MAX, UINT32_MAX },
        };
        World w;
        Sandbox *sb;
        Execution *x;

        segment_world(&w, "hostile");
        sb = create_ready(&w, NULL);
        x = start(sb, "a");
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                put_record(&w, bad[i]);
        put(&w, x, STREAM_STDOUT, "text");
        check_int("half a record", write(w.fake.segment_fds[1], bad, 5), 5);
        check_string("read", text_from(x, STREAM_STDOUT, 0), "text");
        end_with(&w, x, 1000, 1000); /* more than there is */
        check_uint("no more than there is", size_of(x, STREAM_STDOUT), 4);
        x = start(sb, "b");
        check_int("the rest of it", ftruncate(w.fake.segment_fds[1], (ELEMENTSOF(bad) + 1) * sizeof(*bad)), 0);
        put_record(&w, (SegmentRecord) { x->number, UINT64_C(1) << 62, TIME, 10, STREAM_STDOUT });
        check_string("beyond the data", text_from(x, STREAM_STDOUT, 0), "");
        world_close(&w);
}

/* Read byte by byte, such an index takes minutes. */
TEST(holes_of_an_index_are_passed_over) {
        World w;
        Sandbox *sb;
        Execution *x;

        segment_world(&w, "holes");
        sb = create_ready(&w, NULL);
        x = start(sb, "a");
        fill(&w, x, 100 << 10, 'x');
        check_int("sparse", ftruncate(w.fake.segment_fds[1], INT64_C(4) << 40), 0);
        put(&w, x, STREAM_STDOUT, "text");
        check_string("behind the hole", text_from(x, STREAM_STDOUT, 100 << 10), "text");
        check_int("sparse", ftruncate(w.fake.segment_fds[1], INT64_C(8) << 40), 0);
        check_string("before the end", text_from(x, STREAM_STDOUT, 100 << 10), "text");
        end_with(&w, x, (100 << 10) + 4, 0);
        journal_remove(x);
        check_true("given back", disk_bytes(&w, sb, SEGMENT_DATA) <= 20 << 10);
        x = start(sb, "b");
        put(&w, x, STREAM_STDOUT, "next");
        check_string("the next one", text_from(x, STREAM_STDOUT, 0), "next");
        world_close(&w);
}

/* In each block that is read at once is a record, so that none is passed over. */
TEST(an_index_of_any_size_is_read_in_parts) {
        const uint64_t size = UINT64_C(300) << 20, block = 64 << 10;
        SegmentRecord record = { 1, 0, TIME, 4, STREAM_STDOUT };
        OutputReader *o;
        World w;
        Execution *x;
        int fd;

        segment_world(&w, "large");
        x = start(create_ready(&w, NULL), "a");
        check_int("data", pwrite(w.fake.segment_fds[0], "text", 4, 0), 4);
        fd = w.fake.segment_fds[1];
        check_int("not for appending", fcntl(fd, F_SETFL, 0), 0);
        for (uint64_t at = 0; at < size; at += block)
                check_int("record", pwrite(fd, &record, sizeof(record), (off_t) at), sizeof(record));
        check_int("part", (intmax_t) size_of(x, STREAM_STDOUT), 4 * (256 << 20) / (64 << 10));
        check_int("all", (intmax_t) size_of(x, STREAM_STDOUT), (intmax_t) (4 * size / block));
        world_close(&w);
        world_open(&w);
        x = manager_find_execution(w.manager->sandboxes, "e1");
        check_result("its row does not say how much", output_open(x, STREAM_STDOUT, &o), -EAGAIN);
        check_int("in the second part", (intmax_t) size_of(x, STREAM_STDOUT), (intmax_t) (4 * size / block));
        world_close(&w);
}

TEST(what_is_read_survives_its_sandbox_and_its_files_are_used_again) {
        _cleanup_output_ OutputReader *o = NULL;
        char id[SANDBOX_ID_LENGTH + 1], data[16] = "";
        World w;
        Sandbox *sb;
        Execution *x;

        segment_world(&w, "recycle");
        w.manager->config.recycle = true;
        for (int i = 0; i < 2; i++) {
                sb = create_ready(&w, NULL);
                x = start(sb, "a");
                put(&w, x, STREAM_STDOUT, "secret");
                if (i == 0)
                        check_result("open", execution_open_output(x, STREAM_STDOUT, &o), 0);
                memcpy(id, sb->id, sizeof(id));
                for (int k = 0; k < 2; k++)
                        w.fake.segment_fds[k] = fd_close(w.fake.segment_fds[k]);
                w.fake.segment = PROVIDER_SEGMENT_WANTED;
                data_end = 0;
                sandbox_end(sb, SANDBOX_TERMINATED, /* delete= */ true, "enough");
                w.fake.provider.events->destroyed(id, NULL, w.manager);
                check_uint("none is left", count_files(&w), 0);
        }
        check_int("read", output_read(o, data, sizeof(data), 0), 6);
        check_string("its own", data, "secret");
        sb = create_ready(&w, NULL);
        x = start(sb, "b");
        put(&w, x, STREAM_STDOUT, "mine");
        check_string("nothing of another", text_from(x, STREAM_STDOUT, 0), "mine");
        o = output_close(o);
        world_close(&w);
}

TEST(room_that_was_reserved_goes_with_its_sandbox) {
        char id[SANDBOX_ID_LENGTH + 1];
        unsigned n;
        World w;
        Sandbox *sb;

        segment_world(&w, "reserved");
        w.manager->config.recycle = true;
        sb = create_ready(&w, NULL);
        (void) start(sb, "a");
        check_int("reserved", fallocate(w.fake.segment_fds[0], FALLOC_FL_KEEP_SIZE, 0, 8 << 20), 0);
        for (int k = 0; k < 2; k++)
                w.fake.segment_fds[k] = fd_close(w.fake.segment_fds[k]);
        n = count_spares(&w);
        memcpy(id, sb->id, sizeof(id));
        sandbox_end(sb, SANDBOX_TERMINATED, /* delete= */ true, "enough");
        w.fake.provider.events->destroyed(id, NULL, w.manager);
        check_uint("the index is a spare, the data is not", count_spares(&w), n + 1);
        world_close(&w);
}
