"""netstorm: what a guest can throw at the gate, in numbers. Runs inside of a guest's namespace, as a program; prints what became of it as JSON.

    netstorm.py connections COUNT SEED    of all kinds: allowed, denied, given up at every stage
    netstorm.py questions COUNT SEED      names that are known, denied, new, and rubbish
    netstorm.py mutations COUNT SEED      valid hellos, requests and questions with some bytes changed
    netstorm.py slow COUNT                so many connections that have said half a word; until its standard input ends
    netstorm.py deaf COUNT                so many that ask for much and never read; likewise
    netstorm.py once                      one that is allowed: how long it took, in seconds
"""

import collections
import json
import random
import socket
import ssl
import struct
import sys
import threading
import time

ALLOWED, OTHER, SERVER = "198.51.100.7", "198.51.100.66", "10.64.0.2"
RAW, WEB, TLS = 7, 80, 443
SECONDS = 60
THREADS = 4


def hello(name):
    """The first bytes that a client of TLS sends."""
    context, out = ssl.create_default_context(), ssl.MemoryBIO()
    try:
        context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()


def question(name, kind=1, number=7):
    return struct.pack("!6H", number, 0x0100, 1, 0, 0, 0) + b"".join(bytes([len(p)]) + p.encode() for p in name.split(".")) + struct.pack("!BHH", 0, kind, 1)


HELLO = hello("allowed.test")
REQUEST = b"GET /hello HTTP/1.1\r\nHost: allowed.test\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def connect(address, port, rude=False):
    s = socket.socket()
    s.settimeout(SECONDS)
    if rude:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.connect((address, port))
    return s


def cut(port, data, chance, whole=False):
    """Says some of it, and goes."""
    with connect(ALLOWED, port, rude=chance.random() < 0.7) as s:
        s.sendall(data if whole else data[:chance.randrange(len(data))])
        if chance.random() < 0.3:
            time.sleep(chance.random() * 0.01)
    return "given up"


def allowed(chance):
    with connect(ALLOWED, RAW) as s:
        s.sendall(b"x" * 32)
        return "allowed" if s.recv(100) else "closed"


def denied(chance):
    with connect(OTHER, chance.choice((RAW, WEB, TLS))) as s:
        s.sendall(chance.choice((b"\1\2", REQUEST, HELLO)))
        answer = s.recv(100)
        return "denied" if not answer or b" 403 " in answer else "passed"


def much(chance):
    with connect(ALLOWED, RAW, rude=True) as s:
        s.settimeout(0.02)
        try:
            s.sendall(b"x" * (1 << 20))
        except TimeoutError:
            pass
    return "given up"


STAGES = (allowed, denied, much, lambda c: cut(RAW, b"x", c), lambda c: cut(WEB, REQUEST, c), lambda c: cut(WEB, REQUEST, c, whole=True),
          lambda c: cut(TLS, HELLO, c), lambda c: cut(TLS, HELLO, c, whole=True))
WEIGHTS = (6, 6, 1, 2, 2, 1, 2, 1)


def connections(count, chance):
    stage = chance.choices(STAGES, WEIGHTS)[0]
    try:
        return stage(chance)
    except ConnectionError:
        return "denied" if stage is denied else "reset"


def mutated(data, chance):
    data = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        where, how = chance.randrange(len(data)), chance.randrange(4)
        if how == 0:
            data[where] = chance.randrange(256)
        elif how == 1:
            del data[where:where + chance.randrange(1, 9)]
        elif how == 2:
            data[where:where] = chance.randbytes(chance.randrange(1, 9))
        else:
            data[where:where] = data[max(0, where - 40):where]
        data = data or bytearray(b"\0")
    return bytes(data)


def ask(data, seconds=SECONDS):
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.settimeout(seconds)
        s.connect((SERVER, 53))
        s.send(data)
        return s.recv(4096)


def questions(count, chance):
    kind = chance.randrange(5)
    name = ("allowed.test", "denied.test", f"new{chance.randrange(10 ** 9)}.allowed.test", "allowed.test", "x")[kind]
    data = question(name, chance.choice((1, 28, 16, 255)) if kind == 3 else 1, chance.randrange(65536))
    if kind == 4:
        with socket.socket(type=socket.SOCK_DGRAM) as s:
            s.sendto(chance.randbytes(chance.randrange(1, 600)), (SERVER, 53))
        return "rubbish"
    try:
        return f"code {ask(data)[3] & 15}"
    except TimeoutError:
        return "no answer"


def mutations(count, chance):
    kind = chance.randrange(3)
    if kind == 2:
        with socket.socket(type=socket.SOCK_DGRAM) as s:
            s.sendto(mutated(question("allowed.test"), chance), (SERVER, 53))
        return "question"
    try:
        with connect(ALLOWED, (WEB, TLS)[kind], rude=True) as s:
            s.settimeout(0.05)
            s.sendall(mutated((REQUEST, HELLO)[kind], chance))
            s.recv(1000)
    except OSError:
        pass
    return ("request", "hello")[kind]


def many(work, count, seed):
    counts, lock = collections.Counter(), threading.Lock()

    def run(number):
        chance, own = random.Random(seed * THREADS + number), collections.Counter()
        for _ in range(count // THREADS):
            own[work(count, chance)] += 1
        with lock:
            counts.update(own)
    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(counts))


def hold(count, open_one):
    held = [open_one(number) for number in range(count)]
    print(json.dumps({"held": len(held)}), flush=True)
    sys.stdin.read()


def slow(number):
    port, data = ((WEB, REQUEST), (TLS, HELLO))[number % 2]
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex((ALLOWED, port))
    s.settimeout(SECONDS)
    try:
        s.sendall(data[:20])
    except OSError:
        pass
    return s


def deaf(number):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(SECONDS)
    s.connect((ALLOWED, WEB))
    s.sendall(b"GET /bytes/20000000 HTTP/1.1\r\nHost: allowed.test\r\n\r\n")
    return s


def once():
    began = time.monotonic()
    ask(question("allowed.test"))
    allowed(random)
    with connect(ALLOWED, WEB) as s:
        s.sendall(REQUEST)
        if b" 200 " not in s.recv(1000):
            raise SystemExit("no answer")
    print(json.dumps({"seconds": time.monotonic() - began}))


def main():
    what, numbers = sys.argv[1], [int(word) for word in sys.argv[2:]]
    if what in ("connections", "questions", "mutations"):
        many(globals()[what], *numbers)
    elif what in ("slow", "deaf"):
        hold(numbers[0], globals()[what])
    else:
        once()


if __name__ == "__main__":
    main()
