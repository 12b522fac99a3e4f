#!/usr/bin/python3
"""dnsserver: a name server for tests that says what it is told to, and remembers what it was asked.

    names = DnsServer(udp_socket, tcp_listener)         sockets are bound already; wildcard ones answer from the address that was asked
    names.set("allowed.test", "93.184.216.34", "2001:db8:1::1", ttl=60)
    names.set("rebind.test", ["93.184.216.34"], ["10.0.0.5"], ttl=1)        lists: one answer after the other, the last one stays
    names.set("alias.test", cname="allowed.test")       a chain in one answer
    names.set("slow.test", "93.184.216.34", delay=1.0)
    names.set("odd.test", rcode=REFUSED | SERVFAIL | NXDOMAIN)
    names.set("big.test", *many, truncate=True)         nothing but "truncated" by UDP, all of it by TCP
    names.set("bad.test", garbage=b"…")                 these bytes after the right id (or a function of the question)
    names.set("mute.test", silent=True)                 heard, and not answered
    names.silent = True                                 nothing is
    names.seen                                          [("udp", "allowed.test", A), …]; what is only sent again counts once

Names it does not know do not exist. `python3 dnsserver.py` checks it by itself, with dig where there is one. Standard library only.
"""

import errno
import ipaddress
import shutil
import socket
import struct
import subprocess
import threading
import time

A, CNAME, TXT, AAAA, HTTPS, ANY = 1, 5, 16, 28, 65, 255
NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED = range(6)
RESPONSE, AUTHORITATIVE, TRUNCATED, DESIRED, AVAILABLE = 0x8000, 0x0400, 0x0200, 0x0100, 0x0080


def encode_name(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.rstrip(".").split(".") if label) + b"\0"


def decode_name(data, at):
    """The name, and where it ends. Follows pointers."""
    labels, end, jumps = [], None, 0
    while True:
        length = data[at]
        if length >= 0xc0:
            end = end or at + 2
            at, jumps = struct.unpack_from(">H", data, at)[0] & 0x3fff, jumps + 1
            if jumps > 20:
                raise ValueError("pointers in a circle")
            continue
        at += 1
        if length == 0:
            return ".".join(labels), end or at
        labels.append(data[at:at + length].decode("latin-1"))
        at += length


def question(name, kind, number=1, edns=None):
    extra = b"\0" + struct.pack(">HHIH", 41, edns, 0, 0) if edns else b""
    return struct.pack(">6H", number, DESIRED, 1, 0, 0, 1 if extra else 0) + encode_name(name) + struct.pack(">HH", kind, 1) + extra


def addresses_of(answer):
    """(rcode, truncated, [(name, address, ttl)]) of an answer's bytes."""
    _, flags, n_questions, n_answers, _, _ = struct.unpack_from(">6H", answer)
    at, found = 12, []
    for _ in range(n_questions):
        at = decode_name(answer, at)[1] + 4
    for _ in range(n_answers):
        name, at = decode_name(answer, at)
        kind, _, ttl, size = struct.unpack_from(">HHIH", answer, at)
        data, at = answer[at + 10:at + 10 + size], at + 10 + size
        if kind in (A, AAAA):
            found.append((name, str(ipaddress.ip_address(data)), ttl))
    return flags & 0xf, bool(flags & TRUNCATED), found


class Record:
    def __init__(self, answers, ttl, cname, delay, rcode, truncate, garbage, silent):
        self.answers, self.ttl, self.cname, self.delay = answers, ttl, cname, delay
        self.rcode, self.truncate, self.garbage, self.silent = rcode, truncate, garbage, silent

    def next(self):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class DnsServer:
    def __init__(self, udp, tcp=None):
        self.udp, self.tcp, self.records, self.seen, self.heard = udp, tcp, {}, [], set()
        self.silent, self.ended, self.lock = False, False, threading.Lock()
        if udp.family == socket.AF_INET6:
            udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
        udp.settimeout(0.2)
        self.threads = [threading.Thread(target=self._serve_udp, daemon=True)]
        if tcp:
            tcp.settimeout(0.2)
            self.threads.append(threading.Thread(target=self._serve_tcp, daemon=True))
        for thread in self.threads:
            thread.start()

    def set(self, name, *answers, ttl=60, cname=None, delay=0, rcode=NOERROR, truncate=False, garbage=None, silent=False):
        if not answers or isinstance(answers[0], str):
            answers = (list(answers),)
        with self.lock:
            self.records[name.lower()] = Record([list(a) for a in answers], ttl, cname, delay, rcode, truncate, garbage, silent)

    def reset(self):
        with self.lock:
            self.records.clear()
            self.seen.clear()
            self.silent = False

    def asked(self, name=None):
        with self.lock:
            return [entry for entry in self.seen if name is None or entry[1] == name]

    def close(self):
        self.ended = True
        for thread in self.threads:
            thread.join(5)
        self.udp.close()
        if self.tcp:
            self.tcp.close()

    # bytes

    def _records_of(self, name, kind, record):
        """Of the answer section, and the TTL of all of it."""
        out, at = [], name
        seen = set()
        while record.cname and at not in seen:
            seen.add(at)
            out.append(encode_name(at) + struct.pack(">HHIH", CNAME, 1, record.ttl, len(encode_name(record.cname))) + encode_name(record.cname))
            at, record = record.cname, self.records.get(record.cname, record)
        for text in record.next():
            address = ipaddress.ip_address(text)
            if kind == (A if address.version == 4 else AAAA):
                out.append(encode_name(at) + struct.pack(">HHIH", kind, 1, record.ttl, len(address.packed)) + address.packed)
        return out

    def answer(self, data, protocol):
        """The bytes of the answer, how long to wait, or None."""
        number, flags, n, *_ = struct.unpack_from(">6H", data)
        name, at = decode_name(data, 12)
        kind = struct.unpack_from(">H", data, at)[0]
        with self.lock:
            # Who gets no answer for a while says the same again, under the same number.
            question = (protocol, name.lower(), kind)
            if (number, *question) not in self.heard:
                self.heard.add((number, *question))
                self.seen.append(question)
            record = self.records.get(name.lower())
            if self.silent or (record and record.silent):
                return None, 0
            head = data[12:at + 4]
            if record is None:
                return self._message(number, flags, NXDOMAIN, head, []), 0
            if record.garbage is not None:
                rest = record.garbage(data) if callable(record.garbage) else struct.pack(">H", number) + record.garbage
                return rest, record.delay
            if record.truncate and protocol == "udp":
                return self._message(number, flags | TRUNCATED, NOERROR, head, []), record.delay
            records = self._records_of(name, kind, record) if record.rcode == NOERROR else []
            return self._message(number, flags, record.rcode, head, records), record.delay

    @staticmethod
    def _message(number, flags, rcode, head, records):
        flags = RESPONSE | AVAILABLE | (flags & (DESIRED | TRUNCATED)) | rcode
        return struct.pack(">6H", number, flags, 1, len(records), 0, 0) + head + b"".join(records)

    # sockets

    def _serve_udp(self):
        while not self.ended:
            try:
                data, ancillary, _, peer = self.udp.recvmsg(65536, 256)
            except TimeoutError:
                continue
            except OSError:
                if self.ended:
                    return
                continue
            info = [entry for entry in ancillary if entry[:2] == (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO)]
            threading.Thread(target=self._answer_udp, args=(data, info, peer), daemon=True).start()

    def _answer_udp(self, data, info, peer):
        try:
            answer, delay = self.answer(data, "udp")
            if answer is not None:
                time.sleep(delay)
                self.udp.sendmsg([answer], info, 0, peer)
        except (OSError, struct.error, IndexError):
            pass  # no question, or the test is over

    def _serve_tcp(self):
        while not self.ended:
            try:
                connection, _ = self.tcp.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            threading.Thread(target=self._answer_tcp, args=(connection,), daemon=True).start()

    def _answer_tcp(self, connection):
        with connection, connection.makefile("rb") as reader:
            connection.settimeout(30)
            try:
                while len(head := reader.read(2)) == 2:
                    answer, delay = self.answer(reader.read(int.from_bytes(head, "big")), "tcp")
                    if answer is not None:
                        time.sleep(delay)
                        connection.sendall(len(answer).to_bytes(2, "big") + answer)
            except (OSError, struct.error, IndexError):
                pass


def sockets_of_one_port():
    """A free port of UDP may be taken for TCP by somebody else: another one, then."""
    while True:
        udp, tcp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            udp.bind(("127.0.0.1", 0))
            tcp.bind(udp.getsockname())
            return udp, tcp
        except OSError as e:
            udp.close()
            tcp.close()
            if e.errno != errno.EADDRINUSE:
                raise


def self_check():
    """On loopback, by the same bytes that others speak."""
    udp, tcp = sockets_of_one_port()
    port = udp.getsockname()[1]
    tcp.listen()
    server = DnsServer(udp, tcp)

    def ask(name, kind=A):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(10)
            s.sendto(question(name, kind), ("127.0.0.1", port))
            return addresses_of(s.recv(65536))

    try:
        server.set("a.test", "192.0.2.1", "2001:db8::1", ttl=7)
        assert ask("a.test") == (NOERROR, False, [("a.test", "192.0.2.1", 7)])
        assert ask("A.Test", AAAA) == (NOERROR, False, [("A.Test", "2001:db8::1", 7)])
        assert ask("none.test") == (NXDOMAIN, False, [])
        server.set("turn.test", ["192.0.2.1"], ["10.0.0.1"], ttl=0)
        assert [ask("turn.test")[2][0][1] for _ in range(3)] == ["192.0.2.1", "10.0.0.1", "10.0.0.1"]
        server.set("alias.test", cname="a.test")
        assert ask("alias.test")[2] == [("a.test", "192.0.2.1", 7)]
        server.set("refused.test", rcode=REFUSED)
        assert ask("refused.test")[0] == REFUSED
        server.set("big.test", *[f"192.0.2.{n}" for n in range(40)], truncate=True)
        assert ask("big.test") == (NOERROR, True, [])
        with socket.create_connection(("127.0.0.1", port), 10) as s:
            for _ in range(2):
                q = question("big.test", A)
                s.sendall(len(q).to_bytes(2, "big") + q)
                reader = s.makefile("rb")
                assert len(addresses_of(reader.read(int.from_bytes(reader.read(2), "big")))[2]) == 40
        if shutil.which("dig"):
            out = subprocess.run(["dig", "@127.0.0.1", "-p", str(port), "+noedns", "+short", "big.test", "alias.test"], capture_output=True, text=True).stdout
            assert len(out.split()) == 42 and "a.test." in out, out
        assert ("tcp", "big.test", A) in server.asked("big.test")
        server.silent = True
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.settimeout(0.5)
                s.sendto(question("a.test", A), ("127.0.0.1", port))
                s.recv(512)
            raise AssertionError("it was not silent")
        except TimeoutError:
            pass
    finally:
        server.close()


if __name__ == "__main__":
    self_check()
