/* connect-code.c: the protocol's codes, with their names and HTTP status, and the code of an errno. */

#include <errno.h>

#include "api/e2b/connect/connect-internal.h"

static const struct {
        const char *name;
        unsigned status;
} codes[_CONNECT_CODE_MAX] = {
        [CONNECT_CANCELED]            = { "canceled",            499 },
        [CONNECT_UNKNOWN]             = { "unknown",             500 },
        [CONNECT_INVALID_ARGUMENT]    = { "invalid_argument",    400 },
        [CONNECT_DEADLINE_EXCEEDED]   = { "deadline_exceeded",   504 },
        [CONNECT_NOT_FOUND]           = { "not_found",           404 },
        [CONNECT_ALREADY_EXISTS]      = { "already_exists",      409 },
        [CONNECT_PERMISSION_DENIED]   = { "permission_denied",   403 },
        [CONNECT_RESOURCE_EXHAUSTED]  = { "resource_exhausted",  429 },
        [CONNECT_FAILED_PRECONDITION] = { "failed_precondition", 400 },
        [CONNECT_ABORTED]             = { "aborted",             409 },
        [CONNECT_OUT_OF_RANGE]        = { "out_of_range",        400 },
        [CONNECT_UNIMPLEMENTED]       = { "unimplemented",       501 },
        [CONNECT_INTERNAL]            = { "internal",            500 },
        [CONNECT_UNAVAILABLE]         = { "unavailable",         503 },
        [CONNECT_DATA_LOSS]           = { "data_loss",           500 },
        [CONNECT_UNAUTHENTICATED]     = { "unauthenticated",     401 },
};

static const struct {
        int error;
        ConnectCode code;
} errors[] = {
        { ENOENT,       CONNECT_NOT_FOUND           },
        { ESRCH,        CONNECT_NOT_FOUND           },
        { EEXIST,       CONNECT_ALREADY_EXISTS      },
        { EACCES,       CONNECT_PERMISSION_DENIED   },
        { EPERM,        CONNECT_PERMISSION_DENIED   },
        { EROFS,        CONNECT_PERMISSION_DENIED   },
        { EKEYREJECTED, CONNECT_PERMISSION_DENIED   },
        { EINVAL,       CONNECT_INVALID_ARGUMENT    },
        { ERANGE,       CONNECT_INVALID_ARGUMENT    },
        { EBADMSG,      CONNECT_INVALID_ARGUMENT    },
        { EILSEQ,       CONNECT_INVALID_ARGUMENT    },
        { ENAMETOOLONG, CONNECT_INVALID_ARGUMENT    },
        { ELOOP,        CONNECT_INVALID_ARGUMENT    },
        { ENOTDIR,      CONNECT_INVALID_ARGUMENT    },
        { EISDIR,       CONNECT_INVALID_ARGUMENT    },
        { ENOTEMPTY,    CONNECT_FAILED_PRECONDITION },
        { ENOTTY,       CONNECT_FAILED_PRECONDITION },
        { EPIPE,        CONNECT_FAILED_PRECONDITION },
        { EBUSY,        CONNECT_ABORTED             },
        { EALREADY,     CONNECT_ABORTED             },
        { ECANCELED,    CONNECT_CANCELED            },
        { ETIMEDOUT,    CONNECT_DEADLINE_EXCEEDED   },
        { E2BIG,        CONNECT_RESOURCE_EXHAUSTED  },
        { EFBIG,        CONNECT_RESOURCE_EXHAUSTED  },
        { EMSGSIZE,     CONNECT_RESOURCE_EXHAUSTED  },
        { EDQUOT,       CONNECT_RESOURCE_EXHAUSTED  },
        { EOVERFLOW,    CONNECT_RESOURCE_EXHAUSTED  },
        { ENOSPC,       CONNECT_RESOURCE_EXHAUSTED  },
        { ENOMEM,       CONNECT_RESOURCE_EXHAUSTED  },
        { EMFILE,       CONNECT_RESOURCE_EXHAUSTED  },
        { ENFILE,       CONNECT_RESOURCE_EXHAUSTED  },
        { EOPNOTSUPP,   CONNECT_UNIMPLEMENTED       },
        { ENOSYS,       CONNECT_UNIMPLEMENTED       },
        { EAGAIN,       CONNECT_UNAVAILABLE         },
        { ESTALE,       CONNECT_UNAVAILABLE         },
        { ECHILD,       CONNECT_UNAVAILABLE         },
        { ECONNREFUSED, CONNECT_UNAVAILABLE         },
        { ECONNRESET,   CONNECT_UNAVAILABLE         },
        { EKEYREVOKED,  CONNECT_UNAVAILABLE         },
        { ENODATA,      CONNECT_DATA_LOSS           },
};

const char *connect_code_name(ConnectCode code) {
        return codes[code].name;
}

unsigned connect_code_status(ConnectCode code) {
        return codes[code].status;
}

ConnectCode connect_code_from_errno(int r) {
        for (size_t i = 0; i < ELEMENTSOF(errors); i++)
                if (errors[i].error == -r)
                        return errors[i].code;
        return CONNECT_INTERNAL;
}
