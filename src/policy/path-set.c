#include "policy/path-set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "policy/internal.h"

#define LOOSE_MAX 8192 /* the longest path that servers accept */
#define NONE      UINT32_MAX

/* The forms of a path in which a pattern is searched. */
typedef enum PathForm {
        FORM_NORMAL = 1 << 0,
        FORM_LOOSE = 1 << 1, /* as a lenient server reads it */
        FORM_CUT = 1 << 2,   /* likewise, without the text behind a semicolon */
} PathForm;

typedef struct PathPattern {
        uint32_t rule;
        unsigned forms;
        char *text;
        const char *tail; /* the text behind the last star; NULL: no star, all of it is the head */
        size_t n_head, n_tail;
        uint32_t first, n_parts; /* in parts */
        uint32_t next, since, at; /* of a walk: the next waiting pattern, the place it waits from, the part it waits for */
} PathPattern;

/* A beginning of a part. */
typedef struct PathNode {
        uint32_t fail;  /* the longest proper suffix that is a beginning, too */
        uint32_t ended; /* the nearest node along fail, this one included, at which a part is complete; 0: none */
        uint16_t depth;
        uint16_t n_edges;
        uint32_t edges; /* the first of them */
        uint8_t byte;   /* leads to this node from `from` */
        uint32_t from, child, sibling; /* while the automaton is made; 0: none */
        bool is_part;
        uint32_t waiting, last; /* of a walk: patterns that wait for this part, longest waiting first */
} PathNode;

/* An edge by a byte to another node. The edges of a node lie together, sorted by byte, for binary search: no
 * choice of patterns makes that slow, as it could a hash table. */
typedef struct PathEdge {
        uint8_t byte;
        uint32_t to;
} PathEdge;

struct PathSet {
        PathPattern *patterns; /* the shortest head first */
        size_t n_patterns, room_patterns;
        uint32_t *parts; /* nodes */
        size_t n_parts, room_parts;
        PathNode *nodes; /* the first is the root */
        size_t n_nodes, room_nodes;
        PathEdge *edges;
        int nested;     /* the largest number of parts that are suffixes of each other */
        bool denies;    /* a rule of the list denies */
        PathHits deniers; /* the denying rules that have paths */
};

PathSet *path_set_free(PathSet *s) {
        if (!s)
                return NULL;
        for (size_t i = 0; i < s->n_patterns; i++)
                free(s->patterns[i].text);
        FREE_ALL(s->patterns, s->parts, s->nodes, s->edges, s);
        return NULL;
}

size_t path_set_size(const PathSet *s) {
        size_t size;

        if (!s)
                return 0;
        size = sizeof(*s) + s->room_patterns * sizeof(*s->patterns) + s->room_parts * sizeof(*s->parts) + s->n_nodes * (sizeof(*s->nodes) + sizeof(*s->edges));
        for (size_t i = 0; i < s->n_patterns; i++)
                size += strlen(s->patterns[i].text) + 1;
        return size;
}

static void hit(PathHits *h, size_t rule) {
        h->words[rule / 64] |= UINT64_C(1) << rule % 64;
}

/* The automaton. */

/* 0: none. */
static uint32_t edge_find(const PathSet *s, const PathNode *node, uint8_t byte) {
        const PathEdge *e = s->edges + node->edges;
        size_t low = 0, high = node->n_edges;

        while (low < high) {
                size_t middle = (low + high) / 2;

                if (e[middle].byte == byte)
                        return e[middle].to;
                if (e[middle].byte < byte)
                        low = middle + 1;
                else
                        high = middle;
        }
        return 0;
}

static uint32_t path_step(const PathSet *s, uint32_t node, uint8_t byte) {
        for (;; node = s->nodes[node].fail) {
                uint32_t to = edge_find(s, s->nodes + node, byte);

                if (to > 0 || node == 0)
                        return to;
        }
}

/* The children of a node are kept in order. */
static uint32_t node_child(PathSet *s, uint32_t from, uint8_t byte) {
        uint32_t *at = &s->nodes[from].child, child = (uint32_t) s->n_nodes;

        while (*at > 0 && s->nodes[*at].byte < byte)
                at = &s->nodes[*at].sibling;
        if (*at > 0 && s->nodes[*at].byte == byte)
                return *at;
        s->nodes[child] = (PathNode) {
                .depth = (uint16_t) (s->nodes[from].depth + 1), .byte = byte, .from = from, .sibling = *at, .waiting = NONE
        };
        *at = child;
        s->nodes[from].n_edges++;
        s->n_nodes++;
        return child;
}

static uint32_t path_set_add_part(PathSet *s, const char *part, size_t n) {
        uint32_t node = 0;

        for (size_t i = 0; i < n; i++)
                node = node_child(s, node, (uint8_t) part[i]);
        s->nodes[node].is_part = true;
        return node;
}

static int make_edges(PathSet *s) {
        uint32_t n = 0;

        s->edges = calloc(s->n_nodes, sizeof(*s->edges));
        if (!s->edges)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_nodes; i++) {
                s->nodes[i].edges = n;
                for (uint32_t k = s->nodes[i].child; k > 0; k = s->nodes[k].sibling)
                        s->edges[n++] = (PathEdge) { s->nodes[k].byte, k };
        }
        return 0;
}

/* Sorts each node behind all shorter ones. */
static int compare_depth(const void *a, const void *b, void *userdata) {
        const PathNode *nodes = userdata;
        uint16_t x = nodes[*(const uint32_t *) a].depth, y = nodes[*(const uint32_t *) b].depth;

        return (x > y) - (x < y);
}

/* Returns the largest number of parts that are suffixes of each other. */
static int link_nodes(PathSet *s) {
        _cleanup_free_ uint32_t *order = calloc(s->n_nodes, sizeof(uint32_t));
        _cleanup_free_ int *nested = calloc(s->n_nodes, sizeof(int));
        int most = 0;

        if (!order || !nested)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_nodes; i++)
                order[i] = (uint32_t) i;
        qsort_r(order, s->n_nodes, sizeof(*order), compare_depth, s->nodes);
        for (size_t i = 1; i < s->n_nodes; i++) {
                uint32_t k = order[i];
                PathNode *n = s->nodes + k;

                n->fail = n->from == 0 ? 0 : path_step(s, s->nodes[n->from].fail, n->byte);
                n->ended = n->is_part ? k : s->nodes[n->fail].ended;
                nested[k] = nested[n->fail] + n->is_part;
                most = MAX_OF(most, nested[k]);
        }
        return most;
}

/* Patterns. */

static int path_set_add(PathSet *s, size_t rule, unsigned forms, const char *text) {
        const char *star = strchr(text, '*'), *last = strrchr(text, '*');
        PathPattern *p;

        if (ARRAY_RESERVE(s->patterns, s->room_patterns, s->n_patterns + 1) < 0)
                return -ENOMEM;
        p = s->patterns + s->n_patterns;
        *p = (PathPattern) { .rule = (uint32_t) rule, .forms = forms, .text = strdup(text) };
        if (!p->text)
                return -ENOMEM;
        s->n_patterns++;
        p->n_head = star ? (size_t) (star - text) : strlen(text);
        if (last) {
                p->tail = p->text + (last + 1 - text);
                p->n_tail = strlen(p->tail);
        }
        return 0;
}

static int path_set_add_loosely(PathSet *s, size_t rule, const char *text) {
        char loose[EGRESS_PATH_MAX + 1];
        int r = 0;

        if (egress_path_is_plain(text))
                return path_set_add(s, rule, FORM_NORMAL | FORM_LOOSE | FORM_CUT, text);
        r = path_set_add(s, rule, FORM_NORMAL, text);
        if (r >= 0 && egress_path_loosen(text, /* cut= */ false, loose, sizeof(loose)) >= 0)
                r = path_set_add(s, rule, FORM_LOOSE, loose);
        if (r >= 0 && egress_path_loosen(text, /* cut= */ true, loose, sizeof(loose)) >= 0)
                r = path_set_add(s, rule, FORM_CUT, loose);
        return r;
}

static int add_rules(PathSet *s, const EgressRule *rules, size_t n) {
        for (size_t i = 0; i < n; i++) {
                if (rules[i].paths && rules[i].action == EGRESS_DENY) {
                        s->denies = true;
                        hit(&s->deniers, i);
                }
                for (char **p = rules[i].paths; p && *p; p++) {
                        int r = rules[i].action == EGRESS_DENY ? path_set_add_loosely(s, i, *p) : path_set_add(s, i, FORM_NORMAL, *p);

                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

static int compare_heads(const void *a, const void *b) {
        const PathPattern *x = a, *y = b;

        return (x->n_head > y->n_head) - (x->n_head < y->n_head);
}

/* Adds the parts between the first star and the last one. */
static int path_set_add_parts(PathSet *s, PathPattern *p) {
        const char *at = p->text + p->n_head;

        p->first = (uint32_t) s->n_parts;
        while (p->tail && (at += strspn(at, "*")) < p->tail) {
                size_t n = strcspn(at, "*");

                if (ARRAY_RESERVE(s->parts, s->room_parts, s->n_parts + 1) < 0)
                        return -ENOMEM;
                s->parts[s->n_parts++] = path_set_add_part(s, at, n);
                p->n_parts++;
                at += n;
        }
        return 0;
}

static int make_automaton(PathSet *s) {
        size_t bytes = 1;
        PathNode *nodes;

        for (size_t i = 0; i < s->n_patterns; i++)
                bytes += strlen(s->patterns[i].text) - s->patterns[i].n_head - s->patterns[i].n_tail;
        s->nodes = calloc(bytes, sizeof(*s->nodes));
        if (!s->nodes)
                return -ENOMEM;
        s->nodes[s->n_nodes++] = (PathNode) { .waiting = NONE };
        for (size_t i = 0; i < s->n_patterns; i++)
                if (path_set_add_parts(s, s->patterns + i) < 0)
                        return -ENOMEM;
        nodes = realloc(s->nodes, s->n_nodes * sizeof(*nodes)); /* patterns with a common beginning need fewer */
        if (nodes)
                s->nodes = nodes;
        return make_edges(s) < 0 ? -ENOMEM : link_nodes(s);
}

static size_t count_patterns(const EgressRule *rules, size_t n, size_t *ret_bytes) {
        size_t patterns = 0;

        *ret_bytes = 0;
        for (size_t i = 0; i < n; i++)
                for (char **p = rules[i].paths; p && *p; p++) {
                        patterns++;
                        *ret_bytes += strlen(*p);
                }
        return patterns;
}

int path_set_check(const EgressRule *rules, size_t n, const PathSet *s, Error *reterr) {
        size_t bytes, patterns = count_patterns(rules, n, &bytes);

        if (patterns > PATH_PATTERNS_MAX)
                return error_set(reterr, -E2BIG, "has %zu paths in its rules, may have %d: join them by \"*\"", patterns, PATH_PATTERNS_MAX);
        if (bytes > PATH_BYTES_MAX)
                return error_set(reterr, -E2BIG, "has %zu bytes of paths in its rules, may have %d: join them by \"*\"", bytes, PATH_BYTES_MAX);
        if (s && s->nested > PATH_NESTED_MAX)
                return error_set(reterr, -E2BIG, "has paths in its rules of which %d have parts that end in each other, may have %d: join them by \"*\"",
                                s->nested, PATH_NESTED_MAX);
        return 0;
}

int path_set_new(const EgressRule *rules, size_t n, PathSet **ret) {
        size_t bytes;
        PathSet *s;
        int r;

        *ret = NULL;
        if (count_patterns(rules, n, &bytes) == 0)
                return 0;
        s = calloc(1, sizeof(*s));
        r = s ? add_rules(s, rules, n) : -ENOMEM;
        if (r >= 0) {
                qsort(s->patterns, s->n_patterns, sizeof(*s->patterns), compare_heads);
                r = make_automaton(s);
        }
        if (r < 0) {
                path_set_free(s);
                return r;
        }
        s->nested = r;
        *ret = s;
        return 0;
}

/* A walk. */

typedef struct PathWalk {
        PathSet *set;
        const char *path;
        size_t size;
        size_t n_waiting;
        PathHits *hits;
} PathWalk;

/* A pattern that waits longer stands in front: it may match a part that begins where those behind it may
 * not. */
static void wait_for_part(PathWalk *w, uint32_t index, size_t since) {
        PathPattern *p = w->set->patterns + index;
        PathNode *node = w->set->nodes + w->set->parts[p->first + p->at];

        p->since = (uint32_t) since;
        p->next = NONE;
        if (node->waiting == NONE)
                node->waiting = index;
        else
                w->set->patterns[node->last].next = index;
        node->last = index;
        w->n_waiting++;
}

/* From `at` on any bytes may come, up to the next part or the tail. */
static void go_on(PathWalk *w, uint32_t index, size_t at) {
        PathPattern *p = w->set->patterns + index;

        if (at + p->n_tail > w->size)
                return;
        if (p->at == p->n_parts)
                hit(w->hits, p->rule);
        else
                wait_for_part(w, index, at);
}

static void begin(PathWalk *w, uint32_t index, unsigned form) {
        PathPattern *p = w->set->patterns + index;

        if (!(p->forms & form) || path_hits_has(w->hits, p->rule) || p->n_head + p->n_tail > w->size || memcmp(p->text, w->path, p->n_head) != 0)
                return;
        if (!p->tail) {
                if (p->n_head == w->size)
                        hit(w->hits, p->rule);
        } else if (memcmp(p->tail, w->path + w->size - p->n_tail, p->n_tail) == 0) {
                p->at = 0;
                go_on(w, index, p->n_head);
        }
}

/* A part ends before `end`: the patterns that have waited since its beginning, or longer, match it. */
static void on_part(PathWalk *w, PathNode *node, size_t end) {
        PathPattern *patterns = w->set->patterns;

        while (node->waiting != NONE && patterns[node->waiting].since + node->depth <= end) {
                uint32_t index = node->waiting;

                node->waiting = patterns[index].next;
                w->n_waiting--;
                patterns[index].at++;
                if (!path_hits_has(w->hits, patterns[index].rule))
                        go_on(w, index, end);
        }
}

static void walk(PathWalk *w, unsigned form) {
        PathSet *s = w->set;
        uint32_t node = 0, begun = 0;

        for (size_t i = 0; i <= w->size; i++) {
                while (begun < s->n_patterns && s->patterns[begun].n_head <= i)
                        begin(w, begun++, form);
                if (i == w->size || (w->n_waiting == 0 && begun == s->n_patterns))
                        break;
                node = path_step(s, node, (uint8_t) w->path[i]);
                for (uint32_t k = s->nodes[node].ended; k > 0; k = s->nodes[s->nodes[k].fail].ended)
                        on_part(w, s->nodes + k, i + 1);
        }
        for (size_t i = 0; w->n_waiting > 0 && i < s->n_parts; i++)
                s->nodes[s->parts[i]].waiting = NONE;
}

static void find_form(const PathSet *s, const char *path, unsigned form, PathHits *hits) {
        walk(&(PathWalk) { .set = (PathSet *) s, .path = path, .size = strlen(path), .hits = hits }, form);
}

void path_set_find(const PathSet *s, const char *path, PathHits *ret) {
        static const PathForm loose_forms[] = { FORM_LOOSE, FORM_CUT };
        char loose[LOOSE_MAX];

        *ret = (PathHits) { 0 };
        if (!s)
                return;
        if (!s->denies || egress_path_is_plain(path)) {
                find_form(s, path, FORM_NORMAL | FORM_LOOSE | FORM_CUT, ret);
                return;
        }
        find_form(s, path, FORM_NORMAL, ret);
        for (size_t i = 0; i < ELEMENTSOF(loose_forms); i++) {
                if (egress_path_loosen(path, loose_forms[i] == FORM_CUT, loose, sizeof(loose)) >= 0)
                        find_form(s, loose, loose_forms[i], ret);
                else /* too long and odd to compare: all denying rules with paths match */
                        for (size_t k = 0; k < ELEMENTSOF(ret->words); k++)
                                ret->words[k] |= s->deniers.words[k];
        }
}
