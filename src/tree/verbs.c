/* verbs.c: the verbs of cove-tree, and its definition as a program. */
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
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

#define REST_MAX (16 * 1024 * 1024) /* maximum of the padding behind an archive */

static int compare_digest(const char *what, const char *wanted, const char *is, Error *reterr) {
        if (!wanted || strcmp(wanted, is) == 0)
                return 0;
        return error_set(reterr, -EBADMSG, "the layer is another one: its %s is %s, not %s", what, is, wanted);
}

static void report_counts(JsonWriter *w, uint64_t entries, uint64_t bytes, const char *third, uint64_t left_out) {
        json_write_integer(w, "entries", (int64_t) entries);
        json_write_integer(w, "bytes", (int64_t) bytes);
        json_write_integer(w, third, (int64_t) left_out);
}

static void report_layer(JsonWriter *w, const StreamSummary *s) {
        json_write_integer(w, "size", (int64_t) s->size);
        json_write_string(w, "digest", s->digest);
        json_write_string(w, "diffId", s->diff_id);
        json_write_string(w, "mediaType", compression_media_type(s->compression));
}

static int tree_verb_unpack(void *options, Error *reterr) {
        const TreeOptions *o = options;
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
        report_counts(&w, counts.entries, counts.bytes, "devicesLeftOut", counts.devices);
        report_layer(&w, &summary);
        return report_end_result(&w, reterr);
}

static int verb_flatten(void *options, Error *reterr) {
        const TreeOptions *o = options;
        const UnpackLimits limits = { .bytes = o->max_bytes, .entries = o->max_entries };
        UnpackCounts counts;
        JsonWriter w;
        int r = flatten_disk(TREE_1, TREE_2, &limits, &counts, reterr);

        if (r < 0)
                return r;
        report_begin_result(&w);
        report_counts(&w, counts.entries, counts.bytes, "devicesLeftOut", counts.devices);
        return report_end_result(&w, reterr);
}

/* Writes to stdout, as a layer, the difference of two trees, or of a disk or an overlay's upper and its
 * base. */
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
        report_counts(&w, counts.entries, counts.bytes, "leftOut", counts.left_out);
        report_layer(&w, &summary);
        return report_end_result(&w, reterr);
}

static int tree_verb_pack(void *options, Error *reterr) {
        const TreeOptions *o = options;

        return write_layer(&(DeltaWalk) { .count = DELTA_EXACTLY }, o->compression, delta_trees, o->n_trees > 1 ? TREE_2 : -EBADF, reterr);
}

static int verb_export(void *options, Error *reterr) {
        const TreeOptions *o = options;

        return write_layer(&(DeltaWalk) { .count = DELTA_BY_CONTENT, .options = o }, COMPRESSION_NONE, o->upper ? delta_upper : delta_disk, TREE_2,
                        reterr);
}

static int verb_changes(void *options, Error *reterr) {
        const TreeOptions *o = options;
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

static int tree_verb_inspect(void *options, Error *reterr) {
        const TreeOptions *o = options;

        return tree_inspect(TREE_1, o->user, reterr);
}

static const ProgramVerb verbs[_TREE_VERB_MAX] = {
        [TREE_VERB_UNPACK]  = { "unpack",  tree_verb_unpack,  NULL },
        [TREE_VERB_FLATTEN] = { "flatten", verb_flatten,      NULL },
        [TREE_VERB_PACK]    = { "pack",    tree_verb_pack,    NULL },
        [TREE_VERB_CHANGES] = { "changes", verb_changes,      NULL },
        [TREE_VERB_EXPORT]  = { "export",  verb_export,       NULL },
        [TREE_VERB_INSPECT] = { "inspect", tree_verb_inspect, NULL },
};

static bool needs_two(size_t verb) {
        return verb == TREE_VERB_FLATTEN || verb == TREE_VERB_CHANGES || verb == TREE_VERB_EXPORT;
}

/* Libraries open their files here, before the confinement forbids it. */
static int tree_prepare(void *options, Error *reterr) {
        const TreeOptions *o = options;

        if (o->n_trees < (needs_two(o->words.verb) ? 2 : 1))
                return error_set(reterr, -EBADF, "descriptor %u is no directory", TREES_FIRST + o->n_trees);
        if (o->patch && patch_prepare() < 0)
                return error_set(reterr, -ENOMEM, "libgit2 cannot be used");
        (void) umask(0);
        report_init();
        layer_prepare();
        return digest_prepare() < 0 ? error_set(reterr, -EOPNOTSUPP, "there is no SHA-256 here") : 0;
}

const Program tree_program = { "cove-tree", verbs, _TREE_VERB_MAX, tree_option_table, TREE_OPTIONS, tree_prepare, tree_walls };
