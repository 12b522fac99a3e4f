/* cove volume: directories that belong to no sandbox, and that several can have. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/parse.h"
#include "client/human.h"
#include "client/sandbox/inspect.h"
#include "client/sandbox/several.h"
#include "client/subverb.h"
#include "client/table.h"
#include "client/verbs.h"

typedef struct VolumeOptions {
        Common common;
        uint64_t size; /* 0: as the daemon has it */
        bool quiet;
} VolumeOptions;

APPLY_FLAG(VolumeOptions, quiet)

static int volume_apply_size(void *target, const char *value, Error *reterr) {
        return value_size("--size", value, &((VolumeOptions *) target)->size, reterr);
}

static const Option create_options[] = {
        { "size", 's', "SIZE", "what may be written into it (default 1G)", volume_apply_size },
        COMMON_OPTIONS,
};
static const Option ls_options[] = {
        { "quiet", 'q', NULL, "names only", apply_quiet },
        COMMON_OPTIONS,
};
static const Option plain_options[] = { COMMON_OPTIONS };

static const Usage create_usage = {
        .synopsis = "volume create NAME [options]",
        .about = "Makes a volume: a directory that outlives sandboxes, and that several can have at once.",
        .more = "SIZE takes K, M, G, T (powers of 1024).\n"
                "Example: cove volume create data --size 2G && cove create --volume data:/data",
        USAGE_OPTIONS(create_options),
        .operands_min = 1,
        .operands_max = 1,
        .missing = "no name given",
};

static const Usage ls_usage = {
        .synopsis = "volume ls [options]",
        .about = "Lists the volumes, how full they are, and how many sandboxes have them.",
        USAGE_OPTIONS(ls_options),
};

static const Usage inspect_usage = {
        .synopsis = "volume inspect VOLUME [options]",
        .about = "Tells all about a volume, and which sandboxes have it.",
        USAGE_OPTIONS(plain_options),
        .operands_min = 1,
        .operands_max = 1,
        .missing = "no volume given",
};

static const Usage rm_usage = {
        .synopsis = "volume rm VOLUME… [options]",
        .about = "Removes volumes and everything in them. One that a sandbox has is not removed.",
        USAGE_OPTIONS(plain_options),
        .operands_min = 1,
        .operands_max = USAGE_ANY_NUMBER,
        .missing = "no volume given",
};

/* The verbs. */

static int volume_create(const Place *place, void *options, const Operands *words) {
        const VolumeOptions *o = options;
        _cleanup_builder_ JsonBuilder body = { 0 };
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        json_put_text(&body, "name", words->items[0]);
        if (o->size > 0)
                json_put_number(&body, "sizeMB", (double) o->size / 1048576);
        url_begin(&u, "/api/volumes");
        if (client_need(place, "POST", &u, &body, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else
                puts(json_get_text_or(a.json, "name", ""));
        return 0;
}

/* All of them, however many pages that takes; NULL: it was told why not. */
static json_t *get_all(const Place *place) {
        _cleanup_free_ char *cursor = NULL;
        json_t *all = json_array();

        for (;;) {
                _cleanup_answer_ Answer a = { 0 };
                _cleanup_url_ Url u = { 0 };
                const char *more;

                url_begin(&u, "/api/volumes");
                url_query(&u, "limit", "1000");
                url_query(&u, "cursor", cursor);
                if (!all || client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0) {
                        json_decref(all);
                        return NULL;
                }
                (void) json_array_extend(all, json_object_get(a.json, "volumes"));
                more = json_get_text(a.json, "nextCursor");
                if (!more)
                        return all;
                free(cursor);
                cursor = strdup(more);
        }
}

static void volume_add_row(Table *t, const json_t *v) {
        char size[HUMAN_MAX];

        table_cell(t, json_get_text(v, "name"));
        table_cell(t, human_size((double) json_get_integer(v, "usedBytes", 0), size));
        table_cell(t, human_megabytes(json_get_number(v, "sizeMB", 0), size));
        table_cell_format(t, "%zu", json_array_size(json_object_get(v, "sandboxes")));
        table_cell(t, json_get_text(v, "tenant"));
        table_cell(t, json_get_text(v, "createdAt"));
}

static int volume_print_table(const json_t *all) {
        static const char *const heads[] = { "NAME", ">USED", ">SIZE", ">SANDBOXES", "TENANT", "MADE", NULL };
        _cleanup_table_ Table *t = table_new(heads);
        TableLook look = table_look(STDOUT_FILENO);
        const json_t *v;
        size_t i;

        json_array_foreach(all, i, v)
                if (t)
                        volume_add_row(t, v);
        if (!t || table_print(t, stdout, &look) < 0) {
                log_error("out of memory");
                return EXIT_OWN_FAILURE;
        }
        return 0;
}

static int volume_list(const Place *place, void *options, const Operands *words) {
        const VolumeOptions *o = options;
        _cleanup_json_ json_t *all = get_all(place);
        _cleanup_free_ char *text = NULL;
        const json_t *v;
        size_t i;

        if (!all)
                return EXIT_OWN_FAILURE;
        if (o->common.json) {
                text = client_json_print(all, /* pretty= */ isatty(STDOUT_FILENO));
                puts(text ? text : "[]");
        } else if (o->quiet)
                json_array_foreach(all, i, v)
                        puts(json_get_text_or(v, "name", ""));
        else
                return volume_print_table(all);
        return 0;
}

static int volume_inspect(const Place *place, void *options, const Operands *words) {
        const VolumeOptions *o = options;
        _cleanup_answer_ Answer a = { 0 };
        _cleanup_url_ Url u = { 0 };

        url_begin(&u, "/api/volumes");
        url_part(&u, words->items[0]);
        if (client_need(place, /* method= */ NULL, &u, /* body= */ NULL, &a) < 0)
                return EXIT_OWN_FAILURE;
        if (o->common.json)
                answer_print(&a);
        else
                inspect_print(a.json);
        return 0;
}

static int remove_volumes(const Place *place, void *options, const Operands *words) {
        const VolumeOptions *o = options;
        Several several = { .place = place, .method = "DELETE", .what = "/api/volumes", .root = true, .json = o->common.json };

        return several_ask(&several, words->items, words->n);
}

int verb_volume(int argc, char **argv) {
        static const Subverb subverbs[] = {
                { "create",  &create_usage,  volume_create         },
                { "ls",      &ls_usage,      volume_list           },
                { "inspect", &inspect_usage, volume_inspect        },
                { "rm",      &rm_usage,      remove_volumes },
        };
        VolumeOptions o = { 0 };

        return subverb_run("volume", "Makes, lists and removes volumes: directories that outlive sandboxes, and that several can have.", subverbs,
                        ELEMENTSOF(subverbs), argc, argv, &o);
}
