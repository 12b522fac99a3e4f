/* cove-tree: what is in trees; tree.h has the command line and the descriptors. */
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "tree/changes.h"
#include "tree/confine.h"
#include "tree/flatten.h"
#include "tree/inspect.h"
#include "tree/options.h"
#include "tree/pack.h"
#include "tree/patch.h"
#include "tree/report.h"
#include "tree/unpack.h"

#define TREE_1 TREES_FIRST
#define TREE_2 (TREES_FIRST + 1)

static unsigned n_trees; /* that were given */

#define REST_MAX (16 * 1024 * 1024) /* padding behind an archive */

static int compare_digest(const char *what, const char *wanted, const char *is, Error *reterr) {
        if (!wanted || strcmp(wanted, is) == 0)
                return 0;
        return error_set(reterr, -EBADMSG, "the layer is another one: its %s is %s, not %s", what, is, wanted);
}

static int tree_verb_unpack(const TreeOptions *o, Error *reterr) {
        _cleanup_(stream_freep) TreeStream *stream = NULL;
        _cleanup_(layer_reader_freep) LayerReader *reader = NULL;
        const UnpackLimits limits = { .bytes = o->max_bytes, .entries = o->max_entries };
        UnpackCounts counts;
        StreamSummary summary;
        JsonWriter w;
        int r;

        r = tree_stream_new(STDIN_FILENO, &stream, reterr);
        if (r >= 0)
                r = layer_reader_new(stream, &reader, reterr);
        if (r >= 0)
                r = unpack_layer(TREE_1, reader, &limits, &counts, reterr);
        if (r >= 0)
                r = stream_finish(stream, REST_MAX, &summary, reterr);
        if (r >= 0)
                r = compare_digest("digest", o->digest, summary.digest, reterr);
        if (r >= 0)
                r = compare_digest("uncompressed digest", o->diff_id, summary.diff_id, reterr);
        if (r < 0)
                return r;
        report_begin_result(&w);
        json_write_integer(&w, "entries", (int64_t) counts.entries);
        json_write_integer(&w, "bytes", (int64_t) counts.bytes);
        json_write_integer(&w, "devicesLeftOut", (int64_t) counts.devices);
        json_write_integer(&w, "size", (int64_t) summary.size);
        json_write_string(&w, "digest", summary.digest);
        json_write_string(&w, "diffId", summary.diff_id);
        json_write_string(&w, "mediaType", compression_media_type(summary.compression));
        return report_end_result(&w, reterr);
}

static int verb_flatten(const TreeOptions *o, Error *reterr) {
        const UnpackLimits limits = { .bytes = o->max_bytes, .entries = o->max_entries };
        UnpackCounts counts;
        JsonWriter w;
        int r = flatten_disk(TREE_1, TREE_2, &limits, &counts, reterr);

        if (r < 0)
                return r;
        report_begin_result(&w);
        json_write_integer(&w, "entries", (int64_t) counts.entries);
        json_write_integer(&w, "bytes", (int64_t) counts.bytes);
        json_write_integer(&w, "devicesLeftOut", (int64_t) counts.devices);
        return report_end_result(&w, reterr);
}

/* Both trees, or a disk or an upper and what it stands on, as a layer on 1. */
static int write_layer(const DeltaWalk *walk, Compression compression, int (*each)(const DeltaWalk *w, int now, int before, Error *reterr), int before,
                Error *reterr) {
        _cleanup_(packer_freep) Packer *packer = NULL;
        DeltaWalk own = *walk;
        StreamSummary summary;
        PackCounts counts;
        JsonWriter w;
        int r = packer_new(STDOUT_FILENO, compression, &packer, reterr);

        own.function = packer_take;
        own.userdata = packer;
        if (r >= 0)
                r = each(&own, TREE_1, before, reterr);
        if (r >= 0)
                r = packer_end(packer, &counts, &summary, reterr);
        if (r < 0)
                return r;
        report_begin_result(&w);
        json_write_integer(&w, "entries", (int64_t) counts.entries);
        json_write_integer(&w, "bytes", (int64_t) counts.bytes);
        json_write_integer(&w, "leftOut", (int64_t) counts.left_out);
        json_write_integer(&w, "size", (int64_t) summary.size);
        json_write_string(&w, "digest", summary.digest);
        json_write_string(&w, "diffId", summary.diff_id);
        json_write_string(&w, "mediaType", compression_media_type(summary.compression));
        return report_end_result(&w, reterr);
}

static int tree_verb_pack(const TreeOptions *o, Error *reterr) {
        return write_layer(&(DeltaWalk) { .count = DELTA_EXACTLY }, o->compression, delta_trees, n_trees > 1 ? TREE_2 : -EBADF, reterr);
}

static int verb_export(const TreeOptions *o, Error *reterr) {
        return write_layer(&(DeltaWalk) { .count = DELTA_BY_CONTENT, .options = o }, COMPRESSION_NONE, o->upper ? delta_upper : delta_disk, TREE_2,
                        reterr);
}

static int verb_changes(const TreeOptions *o, Error *reterr) {
        Changes changes = { .options = o, .top = o->upper ? "" : "/" };
        const DeltaWalk walk = { .count = DELTA_BY_CONTENT, .options = o, .function = changes_take, .userdata = &changes };
        JsonWriter w;
        int r = (o->upper ? delta_upper : delta_disk)(&walk, TREE_1, TREE_2, reterr);

        if (r < 0 && !changes.cut)
                return r;
        report_begin_result(&w);
        json_write_integer(&w, "entries", (int64_t) changes.n);
        json_write_bool(&w, "truncated", changes.cut);
        return report_end_result(&w, reterr);
}

static int tree_verb_inspect(const TreeOptions *o, Error *reterr) {
        return tree_inspect(TREE_1, o->user, reterr);
}

static const struct {
        int (*function)(const TreeOptions *o, Error *reterr);
        unsigned trees; /* how many must be there */
        bool writes;    /* into the first */
} verbs[_TREE_VERB_MAX] = {
        [TREE_VERB_UNPACK]  = { tree_verb_unpack,  1, true  },
        [TREE_VERB_FLATTEN] = { verb_flatten, 2, true  },
        [TREE_VERB_PACK]    = { tree_verb_pack,    1, false },
        [TREE_VERB_CHANGES] = { verb_changes, 2, false },
        [TREE_VERB_EXPORT]  = { verb_export,  2, false },
        [TREE_VERB_INSPECT] = { tree_verb_inspect, 1, false },
};

/* Those that are given, without a gap; before anything else takes their numbers. */
static unsigned count_trees(void) {
        unsigned n = 0;
        struct stat st;

        while (n < TREES_MAX && fstat(TREES_FIRST + (int) n, &st) >= 0 && S_ISDIR(st.st_mode))
                n++;
        return n;
}

/* What libraries open, they open before it is forbidden. */
static int tree_prepare(Error *reterr) {
        int r;

        (void) signal(SIGPIPE, SIG_IGN);
        (void) umask(0);
        report_init();
        layer_prepare();
        r = digest_prepare();
        return r < 0 ? error_set(reterr, r, "there is no SHA-256 here") : 0;
}

int main(int argc, char **argv) {
        TreeOptions options;
        Error error = { 0 };
        int r;

        n_trees = count_trees();
        r = tree_prepare(&error);
        if (r >= 0)
                r = tree_options_parse(argc, argv, &options, &error);
        if (r >= 0 && n_trees < verbs[options.verb].trees)
                r = error_set(&error, -EBADF, "descriptor %u is no directory", TREES_FIRST + n_trees);
        if (r >= 0 && options.patch)
                r = patch_prepare() < 0 ? error_set(&error, -ENOMEM, "libgit2 cannot be used") : 0;
        if (r >= 0)
                r = tree_confine(n_trees, verbs[options.verb].writes, &error);
        if (r >= 0)
                r = verbs[options.verb].function(&options, &error);
        if (r < 0)
                report_failure(&error);
        _exit(r < 0); /* nothing waits to be written, and what a library does on leaving is forbidden by now */
}
