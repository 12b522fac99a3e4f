/* finder.c: the trie consists of runs. A word that leaves the trie at some letter adds its remaining letters as one
 * run of consecutive nodes: so most nodes need no edge, only the first node of a run does. These edges are in a
 * hash table that is keyed with a secret number, because the guest chooses the words, and could choose words that
 * collide. */

#include "core/finder.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/array.h"
#include "base/macro.h"
#include "core/secret.h"

#define ROOT       0u
#define NODES_MAX  (UINT32_C(1) << 28)
#define HEADS_MIN  16
#define HEADS_RUN  4 /* per run, so that the lists are short */
#define NODE_NEXT  1u /* the next node is a child */
#define NODE_MORE  2u /* there are edges to others */
#define NODE_END   4u /* a word ends here */

typedef struct FinderNode {
        uint32_t fall;   /* the node of the longest proper suffix of this node's text that is in the trie */
        uint16_t ending; /* length of the longest word that ends here */
        uint16_t flags;
} FinderNode;

typedef struct FinderRun {
        uint32_t from;  /* the node that it leaves, at this depth */
        uint32_t first, last;
        uint32_t next;  /* in its hash list */
        uint16_t depth;
} FinderRun;

struct Finder {
        uint8_t *letters; /* the letter that leads to each node; locked */
        size_t letters_room;
        FinderNode *nodes;
        size_t n, nodes_room;
        FinderRun *runs; /* by their first nodes; entry 0 is not used */
        size_t n_runs, runs_room;
        uint32_t *heads; /* of hash lists; their number is a power of two */
        size_t n_heads;
        uint32_t root[256];
        uint64_t number;
        size_t longest;
        bool is_ready;
        uint64_t steps;
};

Finder *finder_new(void) {
        Finder *f = calloc(1, sizeof(*f));
        int r = f && getrandom(&f->number, sizeof(f->number), 0) == sizeof(f->number) ? 0 : -ENOMEM;

        if (r >= 0)
                r = ARRAY_RESERVE(f->nodes, f->nodes_room, 1);
        if (r >= 0)
                r = ARRAY_RESERVE(f->runs, f->runs_room, 1);
        if (r < 0)
                return finder_free(f);
        f->number |= 1;
        f->nodes[ROOT] = (FinderNode) { 0 };
        f->runs[0] = (FinderRun) { 0 };
        f->n = f->n_runs = 1;
        return f;
}

Finder *finder_free(Finder *f) {
        if (!f)
                return NULL;
        secret_free(f->letters, f->letters_room);
        free(f->nodes);
        free(f->runs);
        free(f->heads);
        free(f);
        return NULL;
}

bool finder_is_empty(const Finder *f) {
        return f->longest == 0;
}

size_t finder_longest(const Finder *f) {
        return f->longest;
}

uint64_t finder_steps(const Finder *f) {
        return f->steps;
}

/* The tree. */

static size_t head_of(const Finder *f, uint32_t from, uint8_t letter) {
        return (size_t) (((uint64_t) from << 8 | letter) * f->number >> 32) & (f->n_heads - 1);
}

/* The child of a node that is not the root; 0: none. */
static inline uint32_t find_child(const Finder *f, uint32_t node, uint8_t letter, uint64_t *steps) {
        unsigned flags = f->nodes[node].flags;

        if ((flags & NODE_NEXT) && f->letters[node + 1] == letter)
                return node + 1;
        if (!(flags & NODE_MORE))
                return 0;
        for (uint32_t i = f->heads[head_of(f, node, letter)]; i != 0; i = f->runs[i].next) {
                ++*steps;
                if (f->runs[i].from == node && f->letters[f->runs[i].first] == letter)
                        return f->runs[i].first;
        }
        return 0;
}

static uint32_t find_next(const Finder *f, uint32_t node, uint8_t letter, uint64_t *steps) {
        return node == ROOT ? f->root[letter] : find_child(f, node, letter, steps);
}

static void link_run(Finder *f, uint32_t i) {
        FinderRun *run = f->runs + i;
        size_t head = head_of(f, run->from, f->letters[run->first]);

        if (run->from == ROOT)
                return;
        run->next = f->heads[head];
        f->heads[head] = i;
}

/* Links all runs again, after the hash table has grown. */
static void link_runs(Finder *f) {
        memset(f->heads, 0, f->n_heads * sizeof(*f->heads));
        for (uint32_t i = 1; i < f->n_runs; i++)
                link_run(f, i);
}

static int make_heads(Finder *f) {
        size_t n = MAX_OF(2 * f->n_heads, (size_t) HEADS_MIN);
        uint32_t *heads;

        if (f->n_runs * HEADS_RUN < f->n_heads)
                return 0;
        heads = calloc(n, sizeof(*heads));
        if (!heads)
                return -ENOMEM;
        free(f->heads);
        f->heads = heads;
        f->n_heads = n;
        link_runs(f);
        return 0;
}

static int add_run(Finder *f, uint32_t from, size_t depth, const uint8_t *letters, size_t size) {
        uint32_t first = (uint32_t) f->n;
        int r = f->n + size > NODES_MAX ? -E2BIG : secret_reserve(&f->letters, &f->letters_room, f->n + size);

        if (r >= 0)
                r = ARRAY_RESERVE(f->nodes, f->nodes_room, f->n + size);
        if (r >= 0)
                r = ARRAY_RESERVE(f->runs, f->runs_room, f->n_runs + 1);
        if (r >= 0)
                r = make_heads(f);
        if (r < 0)
                return r;
        memcpy(f->letters + first, letters, size);
        for (size_t i = 0; i < size; i++)
                f->nodes[first + i] = (FinderNode) { .flags = i + 1 < size ? NODE_NEXT : 0 };
        f->runs[f->n_runs] = (FinderRun) { .from = from, .first = first, .last = (uint32_t) (first + size - 1), .depth = (uint16_t) depth };
        link_run(f, (uint32_t) f->n_runs++);
        f->n += size;
        if (from == ROOT)
                f->root[letters[0]] = first;
        else
                f->nodes[from].flags |= NODE_MORE;
        return 0;
}

int finder_add(Finder *f, const void *word, size_t size) {
        const uint8_t *letters = word;
        uint32_t node = ROOT, next;
        size_t depth = 0;
        int r;

        assert(size > 0 && size <= FINDER_WORD_MAX);

        while (depth < size && (next = find_next(f, node, letters[depth], &f->steps)) != ROOT) {
                node = next;
                depth++;
        }
        if (depth < size) {
                f->is_ready = false;
                r = add_run(f, node, depth, letters + depth, size - depth);
                if (r < 0)
                        return r;
                node = (uint32_t) f->n - 1;
        }
        if (f->nodes[node].flags & NODE_END)
                return 0;
        f->nodes[node].flags |= NODE_END;
        f->is_ready = false;
        f->longest = MAX_OF(f->longest, size);
        return 1;
}

/* Computes where a node falls back to, from the root downwards, since that node is always less deep. */

static void prepare_node(Finder *f, uint32_t node, uint32_t parent, size_t depth) {
        uint32_t fall = ROOT, to = ROOT;
        uint8_t letter = f->letters[node];

        if (parent != ROOT) {
                fall = parent;
                do {
                        fall = f->nodes[fall].fall;
                        to = find_next(f, fall, letter, &f->steps);
                        f->steps++;
                } while (to == ROOT && fall != ROOT);
        }
        f->nodes[node].fall = to;
        f->nodes[node].ending = f->nodes[node].flags & NODE_END ? (uint16_t) depth : f->nodes[to].ending;
}

int finder_prepare(Finder *f) {
        uint32_t begin[FINDER_WORD_MAX] = { 0 }; /* heads of lists of runs, by the depth that they leave */
        _cleanup_free_ uint32_t *by_depth = NULL, *open = NULL;
        size_t n = 0;

        if (f->is_ready)
                return 0;
        by_depth = calloc(f->n_runs, sizeof(*by_depth));
        open = calloc(f->n_runs, sizeof(*open));
        if (!by_depth || !open)
                return -ENOMEM;
        for (uint32_t i = 1; i < f->n_runs; i++) {
                by_depth[i] = begin[f->runs[i].depth];
                begin[f->runs[i].depth] = i;
        }
        for (size_t depth = 0; depth < f->longest; depth++) {
                for (uint32_t i = begin[depth]; i != 0; i = by_depth[i])
                        open[n++] = i;
                for (size_t k = 0; k < n;) {
                        const FinderRun *run = f->runs + open[k];
                        uint32_t node = run->first + (uint32_t) (depth - run->depth);

                        prepare_node(f, node, node == run->first ? run->from : node - 1, depth + 1);
                        if (node == run->last)
                                open[k] = open[--n];
                        else
                                k++;
                }
        }
        f->is_ready = true;
        return 0;
}

/* Texts. */

size_t finder_look(Finder *f, FinderState *state, const void *data, size_t size, uint16_t *ret_ends) {
        const uint8_t *letters = data;
        uint64_t steps = 0;
        uint32_t node = *state;
        size_t found = 0;

        assert(f->is_ready);

        for (size_t i = 0; i < size; i++) {
                uint8_t letter = letters[i];
                uint32_t next;

                while (node != ROOT && (next = find_child(f, node, letter, &steps)) == ROOT) {
                        node = f->nodes[node].fall;
                        steps++;
                }
                node = node == ROOT ? f->root[letter] : next;
                if (f->nodes[node].ending == 0)
                        continue;
                if (found++ == 0)
                        memset(ret_ends, 0, size * sizeof(*ret_ends));
                ret_ends[i] = f->nodes[node].ending;
        }
        f->steps += size + steps;
        *state = node;
        return found;
}

static size_t depth_of(const Finder *f, uint32_t node) {
        size_t low = 1, high = f->n_runs - 1;

        while (low < high) {
                size_t middle = (low + high + 1) / 2;

                if (f->runs[middle].first <= node)
                        low = middle;
                else
                        high = middle - 1;
        }
        return f->runs[low].depth + (node - f->runs[low].first) + 1;
}

size_t finder_pending(const Finder *f, FinderState state) {
        while (state != ROOT && !(f->nodes[state].flags & (NODE_NEXT | NODE_MORE)))
                state = f->nodes[state].fall; /* no longer word begins here */
        return state == ROOT ? 0 : depth_of(f, state);
}
