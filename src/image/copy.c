/* copy.c: copies and frees images. */

#include <errno.h>

#include "base/shape.h"
#include "image/internal.h"

static const ShapeField image_config_fields[] = {
        { .kind = SHAPE_STRV, SHAPE_AT(ImageConfig, env) },
        { .kind = SHAPE_TEXT, SHAPE_AT(ImageConfig, workdir) },
        { .kind = SHAPE_TEXT, SHAPE_AT(ImageConfig, user) },
        { .kind = SHAPE_UINT32, SHAPE_AT(ImageConfig, uid) },
        { .kind = SHAPE_UINT32, SHAPE_AT(ImageConfig, gid) },
        { .kind = SHAPE_TEXT, SHAPE_AT(ImageConfig, home) },
        { .kind = SHAPE_STRV, SHAPE_AT(ImageConfig, entrypoint) },
        { .kind = SHAPE_STRV, SHAPE_AT(ImageConfig, cmd) },
        { .kind = SHAPE_STRV, SHAPE_AT(ImageConfig, exposed) },
        { .kind = SHAPE_STRV, SHAPE_AT(ImageConfig, labels) },
        { .kind = SHAPE_TEXT, SHAPE_AT(ImageConfig, start_command) },
        { .kind = SHAPE_TEXT, SHAPE_AT(ImageConfig, ready_command) },
};
static const Shape image_config_shape = SHAPE_OF(image_config, ImageConfig);

void image_config_done(ImageConfig *c) {
        shape_done(&image_config_shape, c);
}

int image_config_copy(const ImageConfig *from, ImageConfig *to) {
        int r = shape_copy(&image_config_shape, from, to);

        for (size_t i = 0; i < ELEMENTSOF(image_config_fields); i++)
                if (image_config_fields[i].kind == SHAPE_STRV)
                        ((Strv *) shape_at(image_config_fields + i, to))->max = IMAGE_STRINGS_MAX;
        return r;
}

void image_done(Image *image) {
        store_row_done(&image_table, image);
        *image = (Image) { 0 };
}
