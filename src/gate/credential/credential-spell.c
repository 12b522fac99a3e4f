#include "gate/credential/credential-spell.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"

#define LETTERS  64  /* of a piece */
#define AHEAD    32  /* more than the longest spelling of a letter */
#define SPAN_MAX (LETTERS * AHEAD)
#define TOKENS   12  /* of one place */
#define HELD_MAX (SPAN_MAX + AHEAD + 64 * 1024)
#define NULS_MAX 3   /* between two letters: UTF-32 */
#define LOOKS_MAX (64 * 1024) /* budget of places for finding exact beginnings; each byte adds LOOKS_BYTE */
#define LOOKS_BYTE 4

typedef enum SpellKind {
        SPELL_LETTERS,
        SPELL_DIGITS,
        SPELL_BASE64,
} SpellKind;

typedef struct SpellPiece {
        uint64_t high[16], low[16]; /* at which positions a byte stands, by each half: the intersection is exact, as twins differ in one half only */
        unsigned n;
        SpellKind kind;
        bool first;         /* of its value */
        const char *name, *to;
} SpellPiece;

struct SpellSet {
        size_t n, room;
        SpellPiece pieces[];
};

/* A piece that has begun in the stream. For each of the next AHEAD places, at[] has a bit for each number of
 * its letters that may stand before the place. */
typedef struct SpellRun SpellRun;

struct SpellRun {
        uint64_t at[AHEAD];
        uint64_t since[AHEAD]; /* the earliest place where one of them may have begun */
        uint64_t until;        /* at[] has no bits beyond this place */
        size_t state;
        SpellRun *next;        /* in the list of idle runs */
};

/* One piece in one stream. */
typedef struct SpellState {
        const SpellPiece *piece;
        bool is_active;
        size_t next; /* with the same first letter; SIZE_MAX: none */
} SpellState;

typedef struct SpellRange {
        uint64_t from, to;
        const SpellPiece *piece;
} SpellRange;

struct SpellFinder {
        bool same_length;
        SpellState *states;
        size_t n_states, room_states;
        size_t first[256]; /* states by their first letter; SIZE_MAX: none */
        bool begins[256];  /* a spelling of some first letter may begin with this byte */
        SpellRun **active, *idle;
        size_t n_active, room_active, n_runs;
        size_t nuls; /* directly before `at` */
        uint64_t looks, looked; /* the rest of the budget; the place up to which bytes have added to it */
        Text held;
        uint64_t begin, at; /* the place of the first held byte; of the first byte that was not searched */
        SpellRange *ranges;
        size_t n_ranges, room_ranges;
        const SpellPiece *open; /* the piece whose replacement was written last; NULL: the last bytes were shown */
};

/* Values. */

static uint64_t piece_bits(const SpellPiece *p, uint8_t byte) {
        return p->high[byte >> 4] & p->low[byte & 15];
}

static char base64_twin(char c) {
        return c == '+' ? '-' : c == '/' ? '_' : c;
}

static void piece_add_byte(SpellPiece *p, char c, uint64_t bit) {
        p->high[(uint8_t) c >> 4] |= bit;
        p->low[c & 15] |= bit;
}

static void piece_add_letter(SpellPiece *p, char c) {
        uint64_t bit = UINT64_C(1) << p->n++;

        piece_add_byte(p, c, bit);
        if (p->kind == SPELL_BASE64)
                piece_add_byte(p, base64_twin(c), bit);
        if (p->kind == SPELL_DIGITS && c >= 'a')
                piece_add_byte(p, (char) (c - 0x20), bit);
}

static size_t pieces_of(size_t size) {
        return (size + LETTERS - 1) / LETTERS;
}

/* Cuts the text into pieces of about the same size: a short piece would be found everywhere. */
static void set_add(SpellSet *s, SpellKind kind, const char *text, size_t size, const char *name, const char *to) {
        size_t n = pieces_of(size);

        assert(s->n + n <= s->room);

        for (size_t i = 0; i < n; i++) {
                SpellPiece *p = s->pieces + s->n++;

                *p = (SpellPiece) { .kind = kind, .first = i == 0, .name = name, .to = to };
                for (size_t k = i * size / n; k < (i + 1) * size / n; k++)
                        piece_add_letter(p, text[k]);
        }
}

static void set_add_digits(SpellSet *s, const char *value, size_t size, const char *name) {
        char digits[2 * SPELL_HIDDEN_MAX];

        for (size_t i = 0; i < size; i++) {
                digits[2 * i] = "0123456789abcdef"[(uint8_t) value[i] >> 4];
                digits[2 * i + 1] = "0123456789abcdef"[value[i] & 15];
        }
        set_add(s, SPELL_DIGITS, digits, 2 * size, name, /* to= */ NULL);
        explicit_bzero(digits, sizeof(digits));
}

/* Encodes the value behind `before` other bytes, and adds only the letters that depend on no other byte. */
static void set_add_base64(SpellSet *s, const char *value, size_t size, size_t before, const char *name) {
        size_t first = (before * 8 + 5) / 6, last = (before + size) * 8 / 6;
        char bytes[SPELL_HIDDEN_MAX + 2] = { 0 }, letters[BASE64_SIZE(sizeof(bytes))];

        memcpy(bytes + before, value, size);
        base64_encode(bytes, before + size, letters);
        set_add(s, SPELL_BASE64, letters + first, last - first, name, /* to= */ NULL);
        explicit_bzero(bytes, sizeof(bytes));
        explicit_bzero(letters, sizeof(letters));
}

/* Allocates everything at once: a reallocation would leave copies of the value behind. */
SpellSet *spell_set_new(const char *value, size_t size, const char *name, const char *to) {
        bool hidden = size <= SPELL_HIDDEN_MAX;
        size_t room = pieces_of(size) + (hidden ? pieces_of(2 * size) + 3 * pieces_of(BASE64_SIZE(size)) : 0);
        SpellSet *s = calloc(1, sizeof(*s) + room * sizeof(*s->pieces));

        if (!s)
                return NULL;
        s->room = room;
        set_add(s, SPELL_LETTERS, value, size, name, to);
        if (hidden)
                set_add_digits(s, value, size, name);
        for (size_t i = 0; i < 3 && hidden; i++)
                set_add_base64(s, value, size, i, name);
        return s;
}

size_t spell_set_size(const SpellSet *s) {
        return sizeof(*s) + s->room * sizeof(*s->pieces);
}

SpellSet *spell_set_free(SpellSet *s) {
        if (!s)
                return NULL;
        explicit_bzero(s, spell_set_size(s));
        free(s);
        return NULL;
}

/* Spellings: what the bytes at a place may stand for. */

typedef struct SpellToken {
        uint8_t byte, size;
} SpellToken;

typedef struct SpellPlace {
        const uint8_t *data;
        size_t size;
        bool last;
        bool cut; /* a spelling that begins here may continue beyond the end */
        size_t skip; /* this many bytes stand for nothing */
        SpellToken tokens[TOKENS];
        size_t n;
} SpellPlace;

static int place_peek(SpellPlace *p, size_t i) {
        if (i < p->size)
                return p->data[i];
        p->cut |= !p->last;
        return -1;
}

static void place_add(SpellPlace *p, int byte, size_t size) {
        if (byte >= 0 && byte < 256 && p->n < TOKENS && size < AHEAD)
                p->tokens[p->n++] = (SpellToken) { (uint8_t) byte, (uint8_t) size };
}

static int place_digit(SpellPlace *p, size_t i) {
        int c = place_peek(p, i);

        return c < 0 ? -1 : hex_digit((char) c);
}

/* Two hexadecimal digits at i; the spelling ends behind them. */
static void place_add_hex(SpellPlace *p, size_t i) {
        int high = place_digit(p, i), low = high < 0 ? -1 : place_digit(p, i + 1);

        if (low >= 0)
                place_add(p, high * 16 + low, i + 2);
}

static bool place_has(SpellPlace *p, size_t i, const char *word) {
        for (; *word; word++, i++)
                if (place_peek(p, i) != (uint8_t) *word)
                        return false;
        return true;
}

/* %2F, %252F, %25252F */
static void read_percent(SpellPlace *p) {
        size_t i = 1;

        place_add_hex(p, i);
        for (int level = 0; level < 3 && place_has(p, i, "25"); level++) {
                i += 2;
                place_add_hex(p, i);
        }
}

static void read_octal(SpellPlace *p, size_t i) {
        int value = 0;

        for (size_t k = 0; k < 3; k++) {
                int digit = place_digit(p, i + k);

                if (digit < 0 || digit > 7)
                        return;
                value = value * 8 + digit;
        }
        place_add(p, value, i + 3);
}

/* \/, \u002f, \x2f, \057, \n; behind up to four backslashes */
static void read_backslash(SpellPlace *p) {
        static const char named[] = "bfnrt", controls[] = "\b\f\n\r\t";

        for (size_t i = 1; i <= 4; i++) {
                int c = place_peek(p, i);
                const char *name = c > 0 ? strchr(named, c) : NULL;

                if (c == 'u' && place_has(p, i + 1, "00"))
                        place_add_hex(p, i + 3);
                else if (c == 'u' && place_has(p, i + 1, "{")) { /* \u{2f} */
                        int high = place_digit(p, i + 2), low = high < 0 ? -1 : place_digit(p, i + 3);

                        if (low >= 0 && place_has(p, i + 4, "}"))
                                place_add(p, high * 16 + low, i + 5);
                } else if (c == 'x')
                        place_add_hex(p, i + 1);
                else if (c >= '0' && c <= '7')
                        read_octal(p, i);
                else if (name)
                        place_add(p, controls[name - named], i + 1);
                if (c > ' ' && c < 0x7f)
                        place_add(p, c, i + 1);
                if (c != '\\')
                        return;
        }
}

static const struct {
        const char *name;
        char byte;
} entities[] = {
        { "amp", '&' },     { "lt", '<' },     { "gt", '>' },     { "quot", '"' },    { "apos", '\'' }, { "sol", '/' },    { "bsol", '\\' },
        { "plus", '+' },    { "equals", '=' }, { "percnt", '%' }, { "num", '#' },     { "dollar", '$' }, { "excl", '!' },   { "quest", '?' },
        { "ast", '*' },     { "midast", '*' }, { "lpar", '(' },   { "rpar", ')' },    { "comma", ',' }, { "period", '.' }, { "colon", ':' },
        { "semi", ';' },    { "commat", '@' }, { "lsqb", '[' },   { "lbrack", '[' },  { "rsqb", ']' },  { "rbrack", ']' }, { "lcub", '{' },
        { "lbrace", '{' },  { "rcub", '}' },   { "rbrace", '}' }, { "verbar", '|' },  { "vert", '|' },  { "Hat", '^' },    { "grave", '`' },
        { "lowbar", '_' },  { "UnderBar", '_' }, { "Tab", '\t' }, { "NewLine", '\n' }, { "AMP", '&' },  { "LT", '<' },     { "GT", '>' },
        { "QUOT", '"' },
};

/* &#47; &#x2f; with zeros before, without its semicolon */
static void read_number(SpellPlace *p, size_t i) {
        int x = place_peek(p, i), base = x == 'x' || x == 'X' ? 16 : 10, value = 0;
        size_t n = 0;

        i += base == 16;
        for (; i + n < AHEAD - 1; n++) {
                int digit = place_digit(p, i + n);

                if (digit < 0 || digit >= base)
                        break;
                value = MIN_OF(value * base + digit, 0x10000);
        }
        if (n == 0 || value >= 0x80)
                return;
        place_add(p, value, i + n);
        if (place_peek(p, i + n) == ';')
                place_add(p, value, i + n + 1);
}

static void read_entity(SpellPlace *p) {
        size_t i = 1;

        for (int level = 0; level < 3; level++) {
                if (place_peek(p, i) == '#')
                        read_number(p, i + 1);
                else
                        for (size_t k = 0; k < ELEMENTSOF(entities); k++) {
                                size_t n = strlen(entities[k].name);

                                if (place_has(p, i, entities[k].name) && place_peek(p, i + n) == ';')
                                        place_add(p, entities[k].byte, i + n + 1);
                        }
                if (!place_has(p, i, "amp;"))
                        return;
                i += 4;
        }
}

/* =2F, and a soft line break */
static void read_equals(SpellPlace *p) {
        place_add_hex(p, 1);
        if (place_has(p, 1, "\n"))
                p->skip = 2;
        else if (place_has(p, 1, "\r\n"))
                p->skip = 3;
}

static void place_read(SpellPlace *p) {
        uint8_t c = p->data[0];

        p->n = 0;
        p->skip = 0;
        p->cut = false;
        place_add(p, c, 1);
        if (c == '%')
                read_percent(p);
        else if (c == '\\')
                read_backslash(p);
        else if (c == '&')
                read_entity(p);
        else if (c == '=')
                read_equals(p);
        else if (c == '+')
                place_add(p, ' ', 1);
}

/* Whether the byte may stand between two letters. nuls: the number of NULs directly before it. */
static bool is_between(SpellKind kind, uint8_t c, size_t nuls) {
        switch (c) {
        case '\0':
                return nuls < NULS_MAX;
        case '\r':
        case '\n':
                return kind != SPELL_LETTERS;
        case ' ':
        case '\t':
        case ':':
                return kind == SPELL_DIGITS;
        default:
                return false;
        }
}

static size_t nuls_after(size_t nuls, uint8_t c) {
        return c == '\0' ? nuls + 1 : 0;
}

/* Whether all of these bytes together spell the piece. looks: the budget of places to look at. */
static bool piece_is(const SpellPiece *piece, const uint8_t *data, size_t size, uint64_t *looks) {
        uint64_t at[AHEAD] = { [0] = 1 };
        size_t reach = 0, nuls = 0;

        for (size_t i = 0; i < size && i <= reach && *looks > 0; nuls = nuls_after(nuls, data[i]), i++) {
                SpellPlace place = { .data = data + i, .size = size - i, .last = true };
                uint64_t now = at[i % AHEAD];

                at[i % AHEAD] = 0;
                --*looks;
                if (now == 0)
                        continue;
                place_read(&place);
                if (i > 0 && place.skip > 0) {
                        at[(i + place.skip) % AHEAD] |= now;
                        reach = MAX_OF(reach, i + place.skip);
                }
                for (size_t k = 0; k < place.n; k++) {
                        size_t end = i + place.tokens[k].size;
                        uint64_t hit = now & piece_bits(piece, place.tokens[k].byte);
                        uint64_t then = hit << 1 | (i > 0 && is_between(piece->kind, place.tokens[k].byte, nuls) ? now : 0);

                        if (hit >> (piece->n - 1) & 1 && end == size)
                                return true;
                        at[end % AHEAD] |= then;
                        if (then)
                                reach = MAX_OF(reach, end);
                }
        }
        return false;
}

/* Streams. */

SpellFinder *spell_finder_new(bool same_length) {
        SpellFinder *f = calloc(1, sizeof(*f));

        if (!f)
                return NULL;
        f->same_length = same_length;
        f->looks = LOOKS_MAX;
        f->held = (Text) TEXT_INIT(HELD_MAX);
        memset(f->first, 0xff, sizeof(f->first));
        for (const char *c = "%\\&=+"; *c; c++)
                f->begins[(uint8_t) *c] = true;
        return f;
}

SpellFinder *spell_finder_free(SpellFinder *f) {
        if (!f)
                return NULL;
        if (f->held.data)
                explicit_bzero(f->held.data, f->held.room);
        text_done(&f->held);
        for (size_t i = 0; i < f->n_active; i++)
                free(f->active[i]);
        for (SpellRun *run = f->idle, *next; run; run = next) {
                next = run->next;
                free(run);
        }
        FREE_ALL(f->states, f->active, f->ranges, f);
        return NULL;
}

size_t spell_finder_size(const SpellFinder *f) {
        return sizeof(*f) + f->held.room + f->room_states * sizeof(*f->states) + f->room_active * sizeof(SpellRun *) + f->n_runs * sizeof(SpellRun) +
               f->room_ranges * sizeof(*f->ranges);
}

/* A piece whose first letter has twins is in the list of the lowest twin. */
int spell_finder_add(SpellFinder *f, const SpellSet *s) {
        if (ARRAY_RESERVE(f->states, f->room_states, f->n_states + s->n) < 0 ||
                        ARRAY_RESERVE(f->active, f->room_active, f->n_states + s->n) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < s->n; i++) {
                const SpellPiece *p = s->pieces + i;
                size_t letter = SIZE_MAX;

                for (size_t c = 256; c-- > 0;)
                        if (piece_bits(p, (uint8_t) c) & 1) {
                                f->begins[c] = true;
                                letter = c;
                        }
                f->states[f->n_states] = (SpellState) { .piece = p, .next = f->first[letter] };
                f->first[letter] = f->n_states++;
        }
        return 0;
}

/* A reused run has no bits left in at[]. */
static SpellRun *finder_take_run(SpellFinder *f) {
        SpellRun *run = f->idle;

        if (!run) {
                run = calloc(1, sizeof(*run));
                f->n_runs += run != NULL;
                return run;
        }
        f->idle = run->next;
        return run;
}

static int finder_wake(SpellFinder *f, uint8_t letter) {
        for (size_t i = f->first[letter]; i != SIZE_MAX; i = f->states[i].next) {
                SpellRun *run;

                if (f->states[i].is_active)
                        continue;
                run = finder_take_run(f);
                if (!run)
                        return -ENOMEM;
                run->state = i;
                run->until = f->at;
                f->states[i].is_active = true;
                f->active[f->n_active++] = run;
        }
        return 0;
}

static int finder_wake_all(SpellFinder *f, uint8_t letter) {
        int r = finder_wake(f, letter);

        if (r >= 0 && letter >= 'a' && letter <= 'f')
                r = finder_wake(f, (uint8_t) (letter - 0x20));
        if (r >= 0 && letter == '_')
                r = finder_wake(f, '/');
        if (r >= 0 && letter == '-')
                r = finder_wake(f, '+');
        return r;
}

/* Finds where the match that ends here began. Each byte of the stream pays for a few looks: a sender of many
 * ends and few beginnings gets more hidden than it sent. */
static uint64_t finder_begin_of(SpellFinder *f, const SpellPiece *piece, uint64_t since, uint64_t end) {
        const uint8_t *data = (const uint8_t *) f->held.data;
        uint64_t from = MAX_OF(since, f->begin);

        if (end - from > SPAN_MAX)
                from = end - SPAN_MAX;
        f->looks = MIN_OF(f->looks + LOOKS_BYTE * (f->at - f->looked), (uint64_t) LOOKS_MAX);
        f->looked = f->at;
        for (uint64_t i = from; i < end && f->looks > 0; i++)
                if (piece_is(piece, data + (i - f->begin), (size_t) (end - i), &f->looks))
                        return i;
        return from;
}

static int finder_found(SpellFinder *f, const SpellPiece *piece, uint64_t since, uint64_t end, const char **ret_name) {
        SpellRange *before = f->n_ranges > 0 ? f->ranges + f->n_ranges - 1 : NULL;
        uint64_t from;

        *ret_name = piece->name;
        /* Usually no search is needed: the match has at least as many bytes as letters, so it begins in the
         * range before. */
        if (before && since >= before->from && before->to + piece->n > end) {
                if (since == before->from && end > before->to)
                        before->piece = piece;
                before->to = MAX_OF(before->to, end);
                return 0;
        }
        from = finder_begin_of(f, piece, since, end);
        /* The new range replaces those within it. */
        while (f->n_ranges > 0 && f->ranges[f->n_ranges - 1].from >= from)
                f->n_ranges--;
        if (f->n_ranges > 0 && f->ranges[f->n_ranges - 1].to >= end)
                return 0;
        if (ARRAY_RESERVE(f->ranges, f->room_ranges, f->n_ranges + 1) < 0)
                return -ENOMEM;
        f->ranges[f->n_ranges++] = (SpellRange) { from, end, piece };
        return 0;
}

static void run_reach(SpellRun *s, uint64_t place, uint64_t bits, uint64_t since) {
        uint64_t *at = s->at + place % AHEAD, *old = s->since + place % AHEAD;

        if (bits == 0)
                return;
        *old = *at == 0 ? since : MIN_OF(*old, since);
        *at |= bits;
        s->until = MAX_OF(s->until, place);
}

static int run_step(SpellFinder *f, SpellRun *s, const SpellPlace *place, const char **ret_name) {
        const SpellPiece *piece = f->states[s->state].piece;
        uint64_t now = s->at[f->at % AHEAD], since = s->since[f->at % AHEAD];
        uint64_t mask = piece->n < LETTERS ? (UINT64_C(1) << piece->n) - 1 : UINT64_MAX;
        int r = 0;

        s->at[f->at % AHEAD] = 0;
        if (place->skip > 0)
                run_reach(s, f->at + place->skip, now, since);
        for (size_t k = 0; k < place->n && r >= 0; k++) {
                uint8_t byte = place->tokens[k].byte;
                uint64_t hit = (now | 1) & piece_bits(piece, byte), end = f->at + place->tokens[k].size;
                uint64_t from = hit & ~UINT64_C(1) ? since : f->at;

                if (now && is_between(piece->kind, byte, f->nuls))
                        run_reach(s, end, now, since);
                if (hit >> (piece->n - 1) & 1)
                        r = finder_found(f, piece, from, end, ret_name);
                run_reach(s, end, hit << 1 & mask, from);
        }
        return r;
}

static int finder_step(SpellFinder *f, const SpellPlace *place, const char **ret_name) {
        size_t kept = 0;
        int r = 0;

        for (size_t k = 0; k < place->n && r >= 0; k++)
                r = finder_wake_all(f, place->tokens[k].byte);
        for (size_t i = 0; i < f->n_active && r >= 0; i++)
                r = run_step(f, f->active[i], place, ret_name);
        f->at++;
        f->nuls = nuls_after(f->nuls, place->data[0]);
        for (size_t i = 0; i < f->n_active; i++) {
                SpellRun *run = f->active[i];

                if (run->until >= f->at && run->until > 0)
                        f->active[kept++] = run;
                else {
                        f->states[run->state].is_active = false;
                        run->next = f->idle;
                        f->idle = run;
                }
        }
        f->n_active = kept;
        return r;
}

/* Returns the first place whose bytes are not decided yet. */
static uint64_t finder_sure(const SpellFinder *f) {
        uint64_t sure = f->at;

        for (size_t i = 0; i < f->n_active; i++) {
                const SpellRun *s = f->active[i];

                for (uint64_t place = f->at; place <= s->until; place++)
                        if (s->at[place % AHEAD])
                                sure = MIN_OF(sure, s->since[place % AHEAD]);
        }
        if (f->at - f->begin > SPAN_MAX) /* no piece is longer */
                sure = MAX_OF(sure, f->at - SPAN_MAX);
        return MAX_OF(sure, f->begin);
}

static void finder_put_range(SpellFinder *f, const SpellRange *range, uint64_t from, uint64_t to, Text *out) {
        const SpellPiece *p = range->piece;
        bool goes_on = f->open && f->open->to == p->to && (!p->first || from > range->from);
        char *stars;

        if (!f->same_length && p->to && (p->first || goes_on)) {
                if (!goes_on)
                        text_put_string(out, p->to);
        } else {
                stars = text_extend(out, (size_t) (to - from));
                if (stars)
                        memset(stars, '*', (size_t) (to - from));
        }
        f->open = p;
}

static void finder_put(SpellFinder *f, uint64_t end, Text *out) {
        uint64_t at = f->begin;
        size_t n = 0;

        for (; n < f->n_ranges && f->ranges[n].from < end; n++) {
                const SpellRange *r = f->ranges + n;

                if (r->from > at) {
                        text_put(out, f->held.data + (at - f->begin), (size_t) (r->from - at));
                        f->open = NULL;
                        at = r->from;
                }
                if (r->to > at)
                        finder_put_range(f, r, at, MIN_OF(r->to, end), out);
                at = MAX_OF(at, MIN_OF(r->to, end));
                if (r->to > end)
                        break; /* the rest of it comes later */
        }
        if (end > at) {
                text_put(out, f->held.data + (at - f->begin), (size_t) (end - at));
                f->open = NULL;
        }
        if (n > 0)
                memmove(f->ranges, f->ranges + n, (f->n_ranges - n) * sizeof(*f->ranges));
        f->n_ranges -= n;
        text_consume(&f->held, (size_t) (end - f->begin));
        f->begin = end;
}

static int finder_walk(SpellFinder *f, bool last, const char **ret_name) {
        const uint8_t *data = (const uint8_t *) f->held.data;
        uint64_t end = f->begin + f->held.size;
        SpellPlace place = { .last = last };

        while (f->at < end) {
                int r;

                place.data = data + (f->at - f->begin);
                place.size = (size_t) (end - f->at);
                if (f->n_active == 0 && !f->begins[place.data[0]]) {
                        f->at++;
                        continue;
                }
                place_read(&place);
                if (place.cut)
                        return 0;
                r = finder_step(f, &place, ret_name);
                if (r < 0)
                        return r;
        }
        return 0;
}

int spell_finder_feed(SpellFinder *f, const void *data, size_t size, bool last, Text *out, const char **ret_name) {
        int r;

        if (size > 0)
                text_put(&f->held, data, size);
        r = f->held.error < 0 ? f->held.error : finder_walk(f, last, ret_name);
        if (r < 0) {
                f->held.error = r; /* some pieces have not searched these bytes: no later call may show them */
                return r;
        }
        if (f->held.size > 0)
                finder_put(f, last ? f->begin + f->held.size : finder_sure(f), out);
        return out->error;
}
