/* inspect.c: who the user of an image is, by its own /etc/passwd. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image/internal.h"

static int take_result(const char *text, ImageConfig *c, Error *reterr) {
        _cleanup_json_ json_t *j = json_loads(text, 0, NULL);
        const json_t *inner = json_object_get(j, "result"), *result = inner ? inner : j, *uid = json_object_get(result, "uid"),
                     *gid = json_object_get(result, "gid");
        const char *home = json_string_value(json_object_get(result, "home"));

        if (!json_is_integer(uid) || !json_is_integer(gid))
                return error_set(reterr, -EBADMSG, "the image's user cannot be told");
        c->uid = (uint32_t) json_integer_value(uid);
        c->gid = (uint32_t) json_integer_value(gid);
        free(c->home);
        c->home = home && *home ? strdup(home) : NULL;
        return 0;
}

static void image_inspect_on_inspected(const char *result, const Error *error, void *userdata) {
        ImageInspection *x = userdata;
        Error why = { 0 };

        x->call = NULL;
        if (!error && take_result(result, &x->image->config, &why) < 0)
                error = &why;
        x->done(error, x->userdata);
}

int image_inspect(Images *i, Making *k, ImageInspection *x, Error *reterr) {
        static const TreeRunEvents events = { .done = image_inspect_on_inspected };
        const ImageConfig *c = &x->image->config;
        const char *const arguments[] = { "inspect", "--user", c->user && *c->user ? c->user : "0", NULL };
        TreeRef layer = tree_ref(TREE_LAYER, x->image->layer);

        making_progress(k, "looking at it", 0, 0);
        return trees_run(i->manager, &layer, 1, arguments, /* in_fd= */ -EBADF, /* out_fd= */ -EBADF, &events, x, &x->call, reterr);
}
