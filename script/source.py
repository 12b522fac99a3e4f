"""The tree as script/lint and script/figures see it: files, rooms, includes, functions, types.

Reads C as text, with comments and strings blanked out. That suffices because the tree is uniform: a function begins in the
first column and ends with a brace there.
"""

import functools
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

LITERAL = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
PASSED_OVER = re.compile(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*|__attribute__\(\([^;{}]*?\)\)', re.M) # directives and attributes
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.M)
FUNCTION = re.compile(r'^(?!typedef\b|struct \w+ \{|enum \w+ \{|union \w+ \{)[A-Za-z_][^;{}=()]*[\s*](\w+)\((?:[^;{}]*)\)[^;{}=()]*\{[ \t]*(?:\}[ \t]*)?$', re.M)
TYPE = re.compile(r'^(?:typedef\s+)?(?:struct|enum|union)\s+(\w+)\s*\{|^typedef\s+[^;{}]*?(?:\b(\w+)|\(\*(\w+)\)\s*\([^;]*\))\s*;|^\}\s*(\w+)\s*;', re.M)


def blank(match):
    """A comment or string as spaces, so that offsets and lines stay."""
    text = match.group()
    edge = text[0] if text[0] in '"\'' else ' '
    return edge + re.sub(r'[^\n]', ' ', text[1:-1]) + edge


class Source:
    """One file of C."""

    def __init__(self, path, root=ROOT):
        self.path = path
        with open(os.path.join(root, path), 'rb') as f:
            self.bytes = f.read()
        self.text = self.bytes.decode('utf-8', 'surrogateescape')
        self.code = LITERAL.sub(blank, self.text)
        self.plain = PASSED_OVER.sub(lambda m: re.sub(r'[^\n]', ' ', m.group()), self.code)

    @functools.cache
    def code_bytes(self):
        """The code, as many bytes as the file has."""
        return LITERAL.sub(blank, self.bytes.decode('latin-1')).encode('latin-1')

    def line(self, offset):
        return self.text.count('\n', 0, offset) + 1

    def includes(self):
        """(line, header, whether it is ours)"""
        for m in INCLUDE.finditer(self.text):
            yield self.line(m.start(1) if m.group(1) else m.start(2)), m.group(1) or m.group(2), bool(m.group(1))

    def functions(self):
        """(name, first line, number of lines)"""
        for m in FUNCTION.finditer(self.plain):
            end = m.end() if m.group().rstrip().endswith('}') else self.plain.find('\n}', m.end() - 1) + 2
            first = self.line(m.start())
            yield m.group(1), first, self.line(end) - first + 1

    def types(self):
        """(name, line), each once; what is only declared does not count"""
        seen = set()
        for m in TYPE.finditer(self.plain):
            if m.group(2) and re.match(r'typedef\s+(?:struct|enum|union)\s+\w+\s+\w+\s*;', m.group()):
                continue # a forward declaration
            name = next(g for g in m.groups() if g)
            if name not in seen:
                seen.add(name)
                yield name, self.line(m.start())


def git_files(*patterns, root=ROOT):
    out = subprocess.run(['git', '-C', root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard', *patterns], check=True, capture_output=True, text=True).stdout
    return sorted({p for p in out.split('\0') if p and os.path.exists(os.path.join(root, p))})


def sources(*folders, root=ROOT):
    return [Source(p, root) for p in git_files(*(f'{d}/*.[ch]' for d in folders), root=root)]


PRIVATE = re.compile(r'(?:-|/)((?:internal|rows|store)\.h)$')


class Room:
    def __init__(self, name, line, uses, purpose):
        self.name, self.line, self.uses, self.purpose = name, line, uses, purpose
        self.used = set()

    def allows(self, room, header):
        """The entry that lets this room include the header, or None. A private header must be named itself."""
        private = PRIVATE.search(header)
        return next((u for u in self.uses if u == header or u == room and not private or private and u == '*/' + private.group(1)), None)


class Rooms:
    """src/rooms.def."""

    def __init__(self, root=ROOT):
        self.root, self.rooms, self.doors, self.complaints = root, {}, {}, []
        with open(os.path.join(root, 'src/rooms.def')) as f:
            for number, line in enumerate(f, 1):
                line = line.split('#')[0].strip()
                if line:
                    self.read(number, [c.strip() for c in line.split('|')])
        self.headers = {p[4:] for p in git_files('src/*.h', 'src/*.def', root=root)}

    def read(self, number, columns):
        if len(columns) != 3:
            self.complain(number, 'a line is "name | may include | purpose"')
        elif columns[0].startswith('<'):
            self.doors[columns[0].strip('<>')] = columns[1].split()
        else:
            name, uses = columns[0], columns[1].split()
            for u in uses:
                if not u.endswith(('.h', '.def')) and u not in self.rooms: # a header's room is looked at by the check for cycles
                    self.complain(number, f'{name} names {u}, which does not stand above it: rooms stand bottom up, so that no two can need each other')
            self.rooms[name] = Room(name, number, uses, columns[2])

    def complain(self, number, text):
        self.complaints.append((f'src/rooms.def:{number}', text))

    def of(self, path):
        """The room of a path below src/: the one with the longest name."""
        parts = path.split('/')[:-1]
        for n in range(len(parts), 0, -1):
            room = self.rooms.get('/'.join(parts[:n]))
            if room:
                return room
        return None

    def resolve(self, source, header):
        """The path below src/ of a header of ours; None: it is generated."""
        beside = os.path.normpath(os.path.join(os.path.dirname(source.path[4:]), header))
        return next((p for p in (header, beside) if p in self.headers), None)

    def door(self, header):
        """Who may include a library's header; None: everybody."""
        return next((d for h, d in self.doors.items() if header == h or h.endswith('/') and header.startswith(h)), None)

    def edges(self, files):
        """(source, line, room, other room, header) of each include that crosses a wall"""
        for s in files:
            mine = self.of(s.path[4:])
            for line, header, ours in s.includes():
                path = self.resolve(s, header) if ours else None
                theirs = self.of(path) if path else None
                if mine and theirs and theirs is not mine:
                    yield s, line, mine, theirs, path


def cycles(edges):
    """Sets of rooms that reach each other (Tarjan)."""
    graph = {}
    for _, _, a, b, _ in edges:
        graph.setdefault(a.name, set()).add(b.name)
        graph.setdefault(b.name, set())
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in graph[v]:
            if w not in index:
                visit(w)
            if w in stack:
                low[v] = min(low[v], low[w])
        if low[v] == index[v]:
            at = stack.index(v)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for v in sorted(graph):
        if v not in index:
            visit(v)
    return found
