#include "tree/patch.h"

#include <errno.h>
#include <git2.h>
#include <string.h>

#include "base/text.h"

int patch_prepare(void) {
        return git_libgit2_init() < 0 ? -ENOMEM : 0;
}

bool patch_is_text(const char *data, size_t size) {
        bool cut;

        return utf8_prefix(data, size, &cut) == size && !memchr(data, '\0', size);
}

int patch_make(const char *path, const char *before, size_t n_before, const char *now, size_t n_now, char **ret) {
        git_diff_options options = GIT_DIFF_OPTIONS_INIT;
        git_patch *patch = NULL;
        git_buf text = GIT_BUF_INIT;
        int r = 0;

        options.flags |= GIT_DIFF_FORCE_TEXT; /* the caller has checked that it is text */
        if (git_patch_from_buffers(&patch, before, n_before, path, now, n_now, path, &options) < 0 || git_patch_to_buf(&text, patch) < 0)
                r = -ENOMEM;
        else {
                *ret = strndup(text.ptr ? text.ptr : "", text.size);
                r = *ret ? 0 : -ENOMEM;
        }
        git_buf_dispose(&text);
        git_patch_free(patch);
        return r;
}
