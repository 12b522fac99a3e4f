"""internet: a world of our own for tests of what may leave a sandbox: two network namespaces and servers that see everything.

    internet = Internet(case)                 ends with the case; nothing of it is in the host's own network
    daemon = Daemon(config=…, prefix=internet.prefix)      coved and its gate live in the namespace "host"; speak to it by its unix socket
    web = internet.http(80)                   servers answer on EVERY address of the world: whatever gets out, arrives
    tls = internet.https(443, ["allowed.test", "*.wild.test"])      with certificates of internet.ca_file
    echo = internet.tcp(7, banner=b"hello\\n");  udp = internet.udp(9999)
    web.seen                                  what arrived: dicts with peer, to (address and port), host, path, …

     namespace "host"                          namespace "world"
     203.0.113.200, 2001:db8::200  ── veth ──  203.0.113.1, 2001:db8::1, and all addresses there are (also 10.0.0.5, 169.254.169.254, 8.8.8.8)

(IPv6 addresses of 2001:db8::/64 itself are an exception: neighbours are asked for. Take 2001:db8:1::1.)

So a denied address is denied by cove and not by a lack of routes. Servers are threads of the test whose sockets were made in the world.
"""

import ctypes
import itertools
import os
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HOST4, WORLD4, HOST6, WORLD6 = "203.0.113.200", "203.0.113.1", "2001:db8::200", "2001:db8::1"
DNS4 = "203.0.113.53"
CLONE_NEWNET = 0x40000000
IPV6_FREEBIND = 78

_libc = ctypes.CDLL(None, use_errno=True)
_numbers = itertools.count()


def ip(*words):
    done = subprocess.run(["ip", *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"ip {' '.join(map(str, words))}: {done.stderr.strip()}")


def in_namespace(name, function):
    """What the function gives, called by a thread that has entered the namespace."""
    result, failure = [], []

    def run():
        try:
            fd = os.open(f"/run/netns/{name}", os.O_RDONLY)
            try:
                if _libc.setns(fd, CLONE_NEWNET) != 0:
                    raise OSError(ctypes.get_errno(), "setns")
            finally:
                os.close(fd)
            result.append(function())
        except Exception as error:  # told by the caller
            failure.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return result[0]


def plain_address(address):
    return address[7:] if address.startswith("::ffff:") else address


class Internet:
    def __init__(self, case):
        number = f"{os.getpid()}-{next(_numbers)}"
        self.host, self.world = f"covetest-{number}-host", f"covetest-{number}-world"
        self.prefix = ["nsenter", f"--net=/run/netns/{self.host}", "--"]  # not `ip netns exec`, which covers /sys
        self.servers = []
        self.directory = tempfile.TemporaryDirectory(prefix=f"covetest-{os.getpid()}-internet-")
        self.place = Path(self.directory.name)
        self.place.chmod(0o755)  # the daemon's user reads the authority's certificate
        case.addCleanup(self.close)
        self._connect()
        self._authority()

    def _connect(self):
        ip("netns", "add", self.host)
        ip("netns", "add", self.world)
        ip("-n", self.host, "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", self.world)
        for name, four, six in ((self.host, HOST4, HOST6), (self.world, WORLD4, WORLD6)):
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "addr", "add", f"{four}/24", "dev", "eth0")
            ip("-n", name, "addr", "add", f"{six}/64", "dev", "eth0", "nodad")
            ip("-n", name, "link", "set", "eth0", "up")
        ip("-n", self.host, "route", "add", "default", "via", WORLD4)
        ip("-n", self.host, "-6", "route", "add", "default", "via", WORLD6)
        # All addresses are the world's, but the host's: that goes before the table of what is local.
        for family, host in (("-4", HOST4), ("-6", HOST6)):
            ip("-n", self.world, family, "route", "add", "local", "default", "dev", "lo", "table", "local")
            ip("-n", self.world, family, "rule", "add", "pref", "10", "to", host, "lookup", "main")
            ip("-n", self.world, family, "rule", "add", "pref", "20", "lookup", "local")
            ip("-n", self.world, family, "rule", "del", "pref", "0")

    def _authority(self):
        self.ca_file, self.ca_key = self.place / "ca.pem", self.place / "ca.key"
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.ca_key, "-out",
                      self.ca_file, "-days", "30", "-subj", "/CN=authority of a test")

    @staticmethod
    def _openssl(*words):
        done = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"openssl {words[0]}: {done.stderr}")

    def certificate(self, names, authority=True):
        """The paths of a certificate for the names, and its key. authority False: nobody vouches for it."""
        base = self.place / f"leaf-{next(_numbers)}"
        names_text = ",".join(f"IP:{n}" if n[0].isdigit() else f"DNS:{n}" for n in names)
        signed = ["-CA", self.ca_file, "-CAkey", self.ca_key] if authority else []
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{base}.key", "-out",
                      f"{base}.pem", "-days", "30", "-subj", "/CN=leaf", "-addext", f"subjectAltName={names_text}",
                      "-addext", "basicConstraints=critical,CA:FALSE", *signed)
        return f"{base}.pem", f"{base}.key"

    def socket(self, kind, port, namespace=None):
        """Bound to the port of all addresses."""
        def make():
            s = socket.socket(socket.AF_INET6, kind)
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(("::", port))
            if kind == socket.SOCK_STREAM:
                s.listen(256)
            return s
        return in_namespace(namespace or self.world, make)

    def http(self, port=80, handler=None, tls=None):
        return self._keep(WebServer(self.socket(socket.SOCK_STREAM, port), handler or Handler, tls))

    def https(self, port=443, names=("allowed.test",), handler=None, authority=True, alpn=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.certificate(names, authority))
        if alpn:
            context.set_alpn_protocols(alpn)
        return self.http(port, handler, context)

    def tcp(self, port, banner=b"", echo=True):
        return self._keep(TcpServer(self.socket(socket.SOCK_STREAM, port), banner, echo))

    def udp(self, port):
        return self._keep(UdpServer(self.socket(socket.SOCK_DGRAM, port)))

    def names(self):
        """A name server on port 53: see dnsserver.py."""
        from dnsserver import DnsServer
        return self._keep(DnsServer(self.socket(socket.SOCK_DGRAM, 53), self.socket(socket.SOCK_STREAM, 53)))

    def _keep(self, server):
        self.servers.append(server)
        return server

    def close(self):
        for server in self.servers:
            server.close()
        for name in (self.host, self.world):
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        self.directory.cleanup()


class Handler(BaseHTTPRequestHandler):
    """Tells what it was asked; /bytes/N, /status/N, /redirect?to=URL, /echo (the body), /slow/SECONDS, /headers."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body, kind="text/plain", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def read_body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            data = b""
            while True:
                size = int(self.rfile.readline(), 16)
                data += self.rfile.read(size)
                self.rfile.readline()
                if size == 0:
                    return data
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def do_GET(self):
        body = self.read_body()
        self.server.note(self, body)
        path, _, query = self.path.partition("?")
        part = path.strip("/").split("/")
        if part[0] == "bytes":
            self.answer(200, b"x" * int(part[1]))
        elif part[0] == "status":
            self.answer(int(part[1]), b"as asked\n")
        elif part[0] == "redirect":
            self.answer(302, b"", Location=query.partition("=")[2])
        elif part[0] == "echo":
            self.answer(200, body)
        elif part[0] == "headers":
            self.answer(200, "".join(f"{k}: {v}\n" for k, v in self.headers.items()).encode())
        elif part[0] == "slow":
            import time
            time.sleep(float(part[1]))
            self.answer(200, b"at last\n")
        else:
            self.answer(200, f"{self.command} {self.path} of {self.headers.get('Host')}\n".encode())

    do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = do_OPTIONS = do_GET


class WebServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, listener, handler, tls):
        super().__init__(("", 0), handler, bind_and_activate=False)
        self.socket.close()
        self.tls, self.seen, self.connections = tls, [], 0
        self.socket = listener
        self.server_name, self.server_port = "world", listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        self.thread.start()

    def get_request(self):
        connection, peer = self.socket.accept()
        self.connections += 1
        connection.settimeout(60)
        return connection, peer

    def finish_request(self, request, client_address):
        if self.tls:
            try:
                request = self.tls.wrap_socket(request, server_side=True)
            except (OSError, ssl.SSLError):
                return
        self.RequestHandlerClass(request, client_address, self)

    def handle_error(self, request, client_address):
        pass  # a client that went away

    def note(self, handler, body):
        to = handler.connection.getsockname()
        self.seen.append({"peer": plain_address(handler.client_address[0]), "to": (plain_address(to[0]), to[1]), "host": handler.headers.get("Host"),
                          "method": handler.command, "path": handler.path, "headers": dict(handler.headers.items()), "body": body})

    def close(self):
        self.shutdown()
        self.thread.join()
        self.server_close()


class TcpServer:
    def __init__(self, listener, banner, echo):
        self.listener, self.banner, self.echo, self.seen = listener, banner, echo, []
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            to = connection.getsockname()
            record = {"to": (plain_address(to[0]), to[1]), "data": b""}
            self.seen.append(record)
            threading.Thread(target=self.serve, args=(connection, record), daemon=True).start()

    def serve(self, connection, record):
        with connection:
            try:
                connection.sendall(self.banner)
                while True:
                    data = connection.recv(65536)
                    if not data:
                        return
                    if len(record["data"]) < 65536:
                        record["data"] += data
                    if self.echo:
                        connection.sendall(data)
            except OSError:
                pass

    def close(self):
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        self.thread.join(5)


class UdpServer:
    """Sends everything back, from the address that it was sent to."""

    def __init__(self, sock):
        self.sock, self.seen = sock, []
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_FREEBIND, 1)  # from addresses that a route has made its own
        sock.settimeout(0.2)
        self.ended = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.ended:
            try:
                data, ancillary, _, peer = self.sock.recvmsg(65536, 256)
            except socket.timeout:
                continue
            except OSError:
                return
            to = next((plain_address(socket.inet_ntop(socket.AF_INET6, struct.unpack("16sI", value[:20])[0]))
                       for level, kind, value in ancillary if kind == socket.IPV6_PKTINFO), None)
            self.seen.append({"peer": plain_address(peer[0]), "to": to, "data": data})
            try:
                self.sock.sendmsg([data], [(level, kind, value) for level, kind, value in ancillary if kind == socket.IPV6_PKTINFO], 0, peer)
            except OSError:
                pass

    def close(self):
        self.ended = True
        self.thread.join(5)
        self.sock.close()
