#include "core/limits.h"

#include <stdio.h>

#include "base/macro.h"

/* The value for "not set"; a 32-bit field holds its lower half. */
static int64_t limits_nothing(const ShapeField *f) {
        return f->kind == SHAPE_UINT32 ? (int64_t) LIMIT_UNSAID_32 : (int64_t) LIMIT_UNSAID;
}

void limits_unsaid(SandboxLimits *l) {
        for (size_t i = 0; i < sandbox_limits_shape.n_fields; i++)
                (void) shape_set(sandbox_limits_shape.fields + i, l, limits_nothing(sandbox_limits_shape.fields + i));
}

void limits_lay_over(SandboxLimits *base, const SandboxLimits *said) {
        for (size_t i = 0; i < sandbox_limits_shape.n_fields; i++) {
                const ShapeField *f = sandbox_limits_shape.fields + i;
                int64_t value = shape_get(f, said);

                if (value != limits_nothing(f))
                        (void) shape_set(f, base, value);
        }
}

static bool is_beyond(uint64_t wanted, uint64_t ceiling, bool may_be_none) {
        if (may_be_none && (wanted == 0 || ceiling == 0))
                return ceiling != 0 && wanted == 0;
        return wanted > ceiling;
}

static bool limits_is_beyond(const ShapeField *f, const SandboxLimits *wanted, const SandboxLimits *ceiling) {
        return is_beyond((uint64_t) shape_get(f, wanted), (uint64_t) shape_get(f, ceiling), f->flags & SHAPE_ZERO_NULL);
}

void limits_lower(SandboxLimits *l, const SandboxLimits *ceiling) {
        for (size_t i = 0; i < sandbox_limits_shape.n_fields; i++)
                if (limits_is_beyond(sandbox_limits_shape.fields + i, l, ceiling))
                        (void) shape_set(sandbox_limits_shape.fields + i, l, shape_get(sandbox_limits_shape.fields + i, ceiling));
}

void limits_raise(SandboxLimits *l, const SandboxLimits *least) {
        for (size_t i = 0; i < sandbox_limits_shape.n_fields; i++)
                if (limits_is_beyond(sandbox_limits_shape.fields + i, least, l))
                        (void) shape_set(sandbox_limits_shape.fields + i, l, shape_get(sandbox_limits_shape.fields + i, least));
}

int limits_check(const SandboxLimits *wanted, const SandboxLimits *ceiling, Error *reterr) {
        for (size_t i = 0; i < sandbox_limits_shape.n_fields; i++) {
                const ShapeField *f = sandbox_limits_shape.fields + i;
                uint64_t w = (uint64_t) shape_get(f, wanted), c = (uint64_t) shape_get(f, ceiling);
                double unit = shape_scale(f->unit);
                char text[32] = "none";

                if (!limits_is_beyond(f, wanted, ceiling))
                        continue;
                if (w > 0)
                        (void) snprintf(text, sizeof(text), "%.15g", (double) w / unit);
                return error_set(reterr, -EPERM, "limits.%s: %s is more than %.15g", f->name, text, (double) c / unit);
        }
        return 0;
}
