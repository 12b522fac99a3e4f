#include "build/docker-lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/text.h"
#include "build/docker-words.h"

#define HEREDOCS_MAX 64

void docker_lines_init(DockerLines *l, const char *file, const char *text) {
        if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
                text += 3;
        *l = (DockerLines) { .file = file, .p = text, .line = 1, .escape = '\\' };
}

void docker_line_done(DockerLine *line) {
        for (size_t i = 0; i < line->n_files; i++) {
                free(line->files[i].name);
                free(line->files[i].data);
        }
        free(line->files);
        free(line->word);
        free(line->rest);
        *line = (DockerLine) { 0 };
}

/* Returns the next line without its end, or false if there is none. */
static bool docker_lines_take(DockerLines *l, const char **ret, size_t *ret_size) {
        size_t n = strcspn(l->p, "\n");

        if (*l->p == '\0')
                return false;
        *ret = l->p;
        *ret_size = n > 0 && l->p[n - 1] == '\r' ? n - 1 : n;
        l->p += n + (l->p[n] == '\n');
        l->line++;
        return true;
}

static size_t skip_spaces(const char *p, size_t n) {
        size_t i = 0;

        while (i < n && isspace((unsigned char) p[i]))
                i++;
        return i;
}

static bool is_comment(const char *p, size_t n) {
        size_t i = skip_spaces(p, n);

        return i < n && p[i] == '#';
}

static bool docker_lines_is_blank(const char *p, size_t n) {
        return skip_spaces(p, n) == n;
}

static bool word_is(const char *p, size_t n, const char *word) {
        return n == strlen(word) && strncasecmp(p, word, n) == 0;
}

/* Parses a directive such as "# escape=`". Directives must precede everything else. Returns 1 if this was
 * one. */
static int take_directive(DockerLines *l, const char *p, size_t n, Error *reterr) {
        const char *end = p + n, *name, *value;
        size_t length;

        p += skip_spaces(p, n) + 1;
        p += skip_spaces(p, (size_t) (end - p));
        for (name = p; p < end && isalnum((unsigned char) *p);)
                p++;
        length = (size_t) (p - name);
        p += skip_spaces(p, (size_t) (end - p));
        if (length == 0 || p == end || *p++ != '=')
                return 0;
        value = p + skip_spaces(p, (size_t) (end - p));
        while (end > value && isspace((unsigned char) end[-1]))
                end--;
        if (word_is(name, length, "syntax") || word_is(name, length, "check"))
                return 1; /* they choose the parser, and there is only this one */
        if (!word_is(name, length, "escape"))
                return 0;
        if (end - value != 1 || (*value != '\\' && *value != '`'))
                return error_set(reterr, -EINVAL, "%s:%u: escape must be \\ or `, not '%.*s'", l->file, l->line - 1,
                                (int) MIN_OF(end - value, (ptrdiff_t) 40), value);
        l->escape = *value;
        return 1;
}

/* Whether the line continues on the next: its last character is the escape, which is not escaped itself. *n
 * becomes the length before it. */
static bool goes_on(const DockerLines *l, const char *p, size_t *n) {
        size_t i = *n;

        while (i > 0 && (p[i - 1] == ' ' || p[i - 1] == '\t'))
                i--;
        if (i == 0 || p[i - 1] != l->escape || (i > 1 && p[i - 2] == l->escape))
                return false;
        *n = i - 1;
        return true;
}

/* Appends the continuation lines of an instruction. Comments and empty lines between them are skipped. */
static void take_more(DockerLines *l, Text *t) {
        const char *p;
        bool more = true;
        size_t n;

        while (more && docker_lines_take(l, &p, &n)) {
                if (is_comment(p, n) || docker_lines_is_blank(p, n))
                        continue;
                more = goes_on(l, p, &n);
                text_put(t, p, n);
        }
}

/* Returns 1 with an instruction in t, or 0 at the end. */
static int take_instruction(DockerLines *l, Text *t, unsigned *ret_line, Error *reterr) {
        const char *p;
        size_t n;

        while (docker_lines_take(l, &p, &n)) {
                bool more;
                int r = 0;

                if (docker_lines_is_blank(p, n)) {
                        l->begun = true;
                        continue;
                }
                if (is_comment(p, n)) {
                        if (!l->begun)
                                r = take_directive(l, p, n, reterr);
                        if (r < 0)
                                return r;
                        if (r == 0)
                                l->begun = true;
                        continue;
                }
                l->begun = true;
                *ret_line = l->line - 1;
                more = goes_on(l, p, &n);
                text_put(t, p + skip_spaces(p, n), n - skip_spaces(p, n));
                if (more)
                        take_more(l, t);
                if (t->error < 0)
                        return error_set(reterr, t->error, "out of memory");
                if (!docker_lines_is_blank(t->data, t->size))
                        return 1;
                t->size = 0;
        }
        return 0;
}

static int split_word(const Text *t, DockerLine *ret) {
        size_t word = 0, begin, end = t->size;

        while (word < t->size && !isspace((unsigned char) t->data[word]))
                word++;
        begin = word + skip_spaces(t->data + word, t->size - word);
        while (end > begin && isspace((unsigned char) t->data[end - 1]))
                end--;
        ret->word = strndup(t->data, word);
        ret->rest = strndup(t->data + begin, end - begin);
        return ret->word && ret->rest ? 0 : -ENOMEM;
}

int docker_heredoc(const char *word, PlanFile *ret) {
        const char *p = word + strspn(word, "0123456789");
        _cleanup_free_ char *name = NULL;
        size_t n;

        if (strncmp(p, "<<", 2) != 0)
                return 0;
        p += 2;
        *ret = (PlanFile) { .strip = *p == '-', .expand = true };
        p += ret->strip;
        n = strlen(p);
        if (n == 0 || strchr(p, '<'))
                return 0;
        if (n > 2 && (*p == '\'' || *p == '"') && p[n - 1] == *p) {
                ret->expand = false;
                p++;
                n -= 2;
        }
        if (strcspn(p, "'\"\\ \t>|&;()$`") < n)
                return 0;
        name = strndup(p, n);
        if (!name)
                return -ENOMEM;
        ret->name = TAKE_PTR(name);
        return 1;
}

static int docker_lines_take_text(DockerLines *l, PlanFile *f, unsigned line, Error *reterr) {
        _cleanup_text_ Text t = TEXT_INIT(PLAN_TEXT_MAX + 1);
        const char *p;
        size_t n;

        while (docker_lines_take(l, &p, &n)) {
                size_t tabs = f->strip ? strspn(p, "\t") : 0;

                tabs = MIN_OF(tabs, n);
                p += tabs;
                n -= tabs;
                if (n == strlen(f->name) && memcmp(p, f->name, n) == 0) {
                        text_put(&t, "", 1);
                        if (t.error < 0)
                                return error_set(reterr, t.error, "out of memory");
                        f->data = TAKE_PTR(t.data);
                        return 0;
                }
                text_put(&t, p, n);
                text_put(&t, "\n", 1);
        }
        return error_set(reterr, -EINVAL, "%s:%u: the text of <<%.60s has no end: a line with '%.60s' and nothing else is missing", l->file, line,
                        f->name, f->name);
}

static int docker_lines_add_text(DockerLines *l, DockerLine *line, PlanFile *f, Error *reterr) {
        if (ARRAY_EXTEND(line->files, line->n_files) < 0) {
                free(f->name);
                return error_set(reterr, -ENOMEM, "out of memory");
        }
        line->files[line->n_files++] = *f;
        return docker_lines_take_text(l, line->files + line->n_files - 1, line->line, reterr);
}

static bool takes_texts(const char *word) {
        static const char *const words[] = { "RUN", "COPY", "ADD" };

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                if (strcasecmp(word, words[i]) == 0)
                        return true;
        return false;
}

static int take_texts(DockerLines *l, DockerLine *line, Error *reterr) {
        _cleanup_(strv_done) Strv words = STRV_INIT(PLAN_WORDS_MAX);
        int r;

        if (!takes_texts(line->word) || !strstr(line->rest, "<<"))
                return 0;
        r = docker_split(line->rest, l->escape, /* quotes= */ true, &words);
        for (size_t i = 0; r >= 0 && i < words.n; i++) {
                PlanFile f;

                r = docker_heredoc(words.items[i], &f);
                if (r > 0)
                        r = line->n_files < HEREDOCS_MAX ? docker_lines_add_text(l, line, &f, reterr) : -E2BIG;
        }
        if (r == -E2BIG)
                return error_set(reterr, r, "%s:%u: has too many words", l->file, line->line);
        return r;
}

int docker_lines_next(DockerLines *l, DockerLine *ret, Error *reterr) {
        _cleanup_(docker_line_done) DockerLine line = { 0 };
        _cleanup_text_ Text t = TEXT_INIT(PLAN_TEXT_MAX + 1);
        int r = take_instruction(l, &t, &line.line, reterr);

        if (r <= 0)
                return r;
        r = split_word(&t, &line);
        if (r < 0)
                return error_set(reterr, r, "out of memory");
        r = take_texts(l, &line, reterr);
        if (r < 0)
                return r;
        *ret = line;
        line = (DockerLine) { 0 };
        return 1;
}
