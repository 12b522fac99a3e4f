#include "api/e2b/envd/files-type.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"

#define DISPOSITION "inline; filename"

const char *files_type(const char *path) {
        static const struct {
                const char *ending, *type;
        } types[] = {
                { ".txt",  "text/plain; charset=utf-8"       }, { ".md",   "text/markdown; charset=utf-8"   },
                { ".html", "text/html; charset=utf-8"        }, { ".htm",  "text/html; charset=utf-8"       },
                { ".css",  "text/css; charset=utf-8"         }, { ".csv",  "text/csv; charset=utf-8"        },
                { ".js",   "text/javascript; charset=utf-8"  }, { ".mjs",  "text/javascript; charset=utf-8" },
                { ".py",   "text/x-python; charset=utf-8"    }, { ".log",  "text/plain; charset=utf-8"      },
                { ".sh",   "text/x-sh; charset=utf-8"        }, { ".json", "application/json"               },
                { ".xml",  "text/xml; charset=utf-8"         }, { ".pdf",  "application/pdf"                },
                { ".png",  "image/png"                       }, { ".jpg",  "image/jpeg"                     },
                { ".jpeg", "image/jpeg"                      }, { ".gif",  "image/gif"                      },
                { ".webp", "image/webp"                      }, { ".avif", "image/avif"                     },
                { ".svg",  "image/svg+xml"                   }, { ".wasm", "application/wasm"               },
                { ".zip",  "application/zip"                 }, { ".gz",   "application/gzip"               },
                { ".tar",  "application/x-tar"               }, { ".mp4",  "video/mp4"                      },
                { ".webm", "video/webm"                      }, { ".mp3",  "audio/mpeg"                     },
                { ".wav",  "audio/wav"                       },
        };
        const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

        for (size_t i = 0; dot && i < ELEMENTSOF(types); i++)
                if (strcasecmp(dot, types[i].ending) == 0)
                        return types[i].type;
        return "application/octet-stream";
}

static bool files_type_is_token(char c) {
        return c > ' ' && c < 0x7f && !strchr("()<>@,;:\\\"/[]?=", c);
}

/* A token is written as it is, other ASCII in quotes, anything else by RFC 5987. */
char *files_disposition(const char *name) {
        bool token = name[0] != '\0', ascii = true;
        char *text, *p;

        for (const char *c = name; *c; c++) {
                token = token && files_type_is_token(*c);
                ascii = ascii && *c >= ' ' && *c < 0x7f;
        }
        text = malloc(sizeof(DISPOSITION) + 3 * strlen(name) + sizeof("*=utf-8''"));
        if (!text)
                return NULL;
        p = text + sprintf(text, DISPOSITION "%s", token ? "=" : ascii ? "=\"" : "*=utf-8''");
        for (const char *c = name; *c; c++)
                if (!ascii && !files_type_is_token(*c))
                        p += sprintf(p, "%%%02X", (unsigned char) *c);
                else if (!ascii && strchr("*'%", *c))
                        p += sprintf(p, "%%%02X", (unsigned char) *c);
                else {
                        if (!token && ascii && (*c == '"' || *c == '\\'))
                                *p++ = '\\';
                        *p++ = *c;
                }
        if (!token && ascii)
                *p++ = '"';
        *p = '\0';
        return text;
}

/* Whether the quality is zero, as in "q=0" or "q=0.0". */
static bool files_type_is_zero(const char *parameters, size_t size) {
        const char *q = size > 0 ? memmem(parameters, size, "q=", 2) : NULL;

        if (!q)
                return false;
        q += 2;
        return *q == '0' && strspn(q, "0.") == strcspn(q, ",; \t");
}

bool files_identity_is_fine(const char *p) {
        bool refused = false, accepted = false, others_refused = false;

        while (p && *p) {
                size_t n, name;

                p += strspn(p, ", \t");
                n = strcspn(p, ",");
                name = strcspn(p, ",; \t");
                if (name == 8 && strncasecmp(p, "identity", 8) == 0) {
                        refused = refused || files_type_is_zero(p + name, n - name);
                        accepted = accepted || !files_type_is_zero(p + name, n - name);
                } else if (name == 1 && *p == '*')
                        others_refused = files_type_is_zero(p + name, n - name);
                p += n;
        }
        return !refused && (accepted || !others_refused);
}
