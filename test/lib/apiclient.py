"""apiclient: a client of the daemon's HTTP API, as plain as can be, so that what comes over the wire is seen as it is.

    api = Api("/path/cove.sock")                       or Api(("127.0.0.1", 8787), token="…")
    reply = api.call("GET", "/api/sandbox/list")       any status is an answer
    record = api.expect(201, "POST", "/api/sandbox", {})      any other status fails the test
    with api.stream("POST", path, {...}, accept="application/x-ndjson") as stream:
        for event in stream.ndjson(): …
    box = api.create(limits={"memoryMB": 64});  box.sh("echo hi")["stdout"]

One kept connection per thread and Api. A broken connection raises Broken: the outcome is unknown.
"""

import base64
import http.client
import json
import os
import socket
import struct
import threading
import time
from urllib.parse import quote, urlencode

PATIENCE = 60.0


class Broken(Exception):
    """The connection went away before the answer was whole: nobody knows whether the request was done."""


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Reply:
    def __init__(self, request, status, headers, body):
        self.request, self.status, self.headers, self.body = request, status, headers, body

    @property
    def json(self):
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise AssertionError(f"the answer is not JSON ({error})\n{self}") from None

    @property
    def error(self):
        """The error object; an answer without a well-formed one fails the test."""
        document = self.json
        error = document.get("error") if isinstance(document, dict) else None
        if not isinstance(error, dict) or not error.get("code") or not error.get("message"):
            raise AssertionError(f"no error object with code and message\n{self}")
        return error

    @property
    def code(self):
        return self.error["code"]

    def __str__(self):
        body = self.body if len(self.body) <= 1500 else self.body[:1000] + b" [...] " + self.body[-400:]
        headers = "; ".join(f"{name}: {value}" for name, value in self.headers.items())
        return f"request: {self.request[:600]}\nanswer: {self.status} ({headers})\n{body.decode(errors='backslashreplace')}"


class Stream:
    """An answer that is read as it comes."""

    def __init__(self, connection, response, request):
        self.connection, self.response, self.request = connection, response, request
        self.status, self.headers = response.status, response.headers

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.connection.close()

    def read_some(self, size=65536):
        """What there is, at least one byte; b"" at the end."""
        try:
            return self.response.read1(size)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Broken(f"{self.request}: {error!r}") from error

    def read(self):
        parts = []
        while part := self.read_some():
            parts.append(part)
        return b"".join(parts)

    def read_exactly(self, size):
        data = b""
        while len(data) < size:
            part = self.read_some(size - len(data))
            if not part:
                raise AssertionError(f"ended after {len(data)} of {size} bytes: {self.request}")
            data += part
        return data

    def lines(self):
        try:
            while line := self.response.readline():
                if not line.endswith(b"\n"):
                    raise Broken(f"{self.request}: ended within a line: {line[-100:]!r}")
                yield line.rstrip(b"\n")
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Broken(f"{self.request}: {error!r}") from error

    def ndjson(self):
        for line in self.lines():
            if line:
                yield json.loads(line)

    def sse(self):
        """Yields (event, id, data); comments are passed over."""
        event, identity, data = None, None, []
        for line in self.lines():
            line = line.rstrip(b"\r")
            if not line:
                if data:
                    yield event, identity, json.loads(b"\n".join(data))
                event, data = None, []
                continue
            name, _, value = line.partition(b":")
            value = value[1:] if value.startswith(b" ") else value
            if name == b"event":
                event = value.decode()
            elif name == b"id":
                identity = value.decode()
            elif name == b"data":
                data.append(value)


class Api:
    def __init__(self, address, token=None, timeout=PATIENCE):
        self.address, self.token, self.timeout = address, token, timeout
        self._local = threading.local()

    def with_token(self, token, address=None):
        return Api(address or self.address, token, self.timeout)

    # Requests

    def _new_connection(self, timeout=None):
        timeout = timeout or self.timeout
        if isinstance(self.address, tuple):
            connection = http.client.HTTPConnection(*self.address, timeout=timeout)
        else:
            connection = _UnixConnection(str(self.address), timeout)
        connection.connect()
        return connection

    def raw(self, timeout=None):
        """A bare connected socket."""
        connection = self._new_connection(timeout)
        sock, connection.sock = connection.sock, None
        return sock

    def _prepare(self, method, path, body, query, headers, accept):
        headers = dict(headers or {})
        if query:
            path += "?" + urlencode(query, quote_via=quote)
        if body is not None and not isinstance(body, (bytes, bytearray)) and not hasattr(body, "read"):
            if not hasattr(body, "__next__"):
                body = json.dumps(body).encode()
                headers.setdefault("Content-Type", "application/json")
        if self.token is not None:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        if accept:
            headers["Accept"] = accept
        return method, path, body, headers

    def _send(self, connection, method, path, body, headers):
        chunked = hasattr(body, "__next__")
        connection.request(method, path, body=body, headers=headers, encode_chunked=chunked)
        return connection.getresponse()

    def call(self, method, path, body=None, query=None, headers=None, accept=None, timeout=None):
        method, path, body, headers = self._prepare(method, path, body, query, headers, accept)
        request = f"{method} {path} {shown(body)}"
        connection = getattr(self._local, "connection", None)
        kept = connection is not None
        try:
            if connection is None:
                connection = self._new_connection(timeout)
                self._local.connection = connection
            elif connection.sock:
                connection.sock.settimeout(timeout or self.timeout)
            response = self._send(connection, method, path, body, headers)
            data = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.disconnect()
            # The server may close a kept connection at any time; then nothing of a repeatable request is lost.
            if kept and method in ("GET", "HEAD") and not isinstance(error, TimeoutError):
                return self.call(method, path, body, None, headers, accept, timeout)
            raise Broken(f"{request}: {error!r}") from error
        if response.will_close:
            self.disconnect()
        return Reply(request, response.status, response.headers, data)

    def disconnect(self):
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def stream(self, method, path, body=None, query=None, headers=None, accept=None, timeout=None, status=200):
        """On a connection of its own. Fails the test when the status is another one (None: any)."""
        method, path, body, headers = self._prepare(method, path, body, query, headers, accept)
        request = f"{method} {path} {shown(body)}"
        try:
            connection = self._new_connection(timeout)
            response = self._send(connection, method, path, body, headers)
        except (OSError, http.client.HTTPException) as error:
            raise Broken(f"{request}: {error!r}") from error
        if status is not None and response.status != status:
            text = str(Reply(request, response.status, response.headers, response.read()))
            connection.close()
            raise AssertionError(text)
        return Stream(connection, response, request)

    def expect(self, status, *args, **kwargs):
        reply = self.call(*args, **kwargs)
        wanted = status if isinstance(status, tuple) else (status,)
        if reply.status not in wanted:
            raise AssertionError(f"status {reply.status} instead of {' or '.join(map(str, wanted))}\n{reply}")
        return reply

    def get(self, path, **kwargs):
        return self.expect(200, "GET", path, **kwargs).json

    def post(self, path, body=None, **kwargs):
        return self.expect(200, "POST", path, body, **kwargs).json

    def refuse(self, status, code, *args, **kwargs):
        """The request must be refused with this status and code; gives the error object."""
        reply = self.expect(status, *args, **kwargs)
        codes = code if isinstance(code, tuple) else (code,)
        if reply.code not in codes:
            raise AssertionError(f"code {reply.code} instead of {' or '.join(codes)}\n{reply}")
        return reply.error

    # Sandboxes

    def create(self, **fields):
        return Box(self, self.expect(201, "POST", "/api/sandbox", fields).json)

    def list(self, **query):
        """Every sandbox, over all pages."""
        found, cursor = [], None
        while True:
            page = self.expect(200, "GET", "/api/sandbox/list", query={**query, **({"cursor": cursor} if cursor else {})})
            found += page.json
            cursor = page.headers.get("X-Next-Cursor")
            if cursor is None:
                return found


def shown(body):
    if body is None:
        return ""
    if isinstance(body, (bytes, bytearray)):
        return body[:300].decode(errors="backslashreplace")
    return "(a stream)"


class Box:
    """One sandbox."""

    def __init__(self, api, record):
        self.api, self.record, self.id = api, record, record["id"]

    def path(self, *parts):
        return "/".join(["/api/sandbox", self.id, *map(str, parts)])

    def call(self, method, part="", *args, **kwargs):
        return self.api.call(method, self.path(*([part] if part else [])), *args, **kwargs)

    def expect(self, status, method, part="", *args, **kwargs):
        return self.api.expect(status, method, self.path(*([part] if part else [])), *args, **kwargs)

    def refuse(self, status, code, method, part="", *args, **kwargs):
        return self.api.refuse(status, code, method, self.path(*([part] if part else [])), *args, **kwargs)

    def get(self):
        return self.expect(200, "GET").json

    def status(self):
        return self.get()["status"]

    def do(self, verb, body=None, **kwargs):
        return self.expect(200, "POST", verb, body if body is not None else {}, **kwargs).json

    def delete(self, force=True):
        return self.expect(200, "DELETE", query={"force": "true"} if force else None).json

    # Executions

    def exec(self, timeout=None, **fields):
        """Waits for the end; gives the result."""
        return self.expect(200, "POST", "exec", fields, timeout=timeout).json

    def sh(self, script, **fields):
        return self.exec(script=script, **fields)

    def out(self, script, **fields):
        """stdout of a script that must end well."""
        result = self.sh(script, **fields)
        if result["exitCode"] != 0:
            raise AssertionError(f"{script[:300]!r} ended with {str(result)[:2000]}")
        return result["stdout"]

    def begin(self, script=None, **fields):
        """In the background; gives the execution's id."""
        if script is not None:
            fields["script"] = script
        return self.expect(202, "POST", "exec", {**fields, "background": True}).json["id"]

    def execution(self, eid):
        return self.expect(200, "GET", f"exec/{eid}").json

    def runs(self, eid):
        return self.execution(eid)["status"] in ("starting", "running")

    def wait(self, eid, seconds=60, output=False):
        """The result of an execution; one that does not end in time fails the test."""
        query = {"timeoutSeconds": seconds, **({"output": "1"} if output else {})}
        result = self.expect(200, "GET", f"exec/{eid}/wait", query=query, timeout=seconds + 10).json
        if result["status"] != "exited":
            raise AssertionError(f"execution {eid} did not end within {seconds} s: {result}")
        return result

    def output(self, eid, stream="stdout", start=0, follow=False, timeout=None):
        query = {"stream": stream, "from": start, **({"follow": "1"} if follow else {})}
        return self.expect(200, "GET", f"exec/{eid}/output", query=query, timeout=timeout).body

    def events(self, accept="application/x-ndjson", **fields):
        """All events of an execution started with a streaming answer."""
        with self.api.stream("POST", self.path("exec"), fields, accept=accept) as stream:
            if "event-stream" in accept:
                return [{"type": event, **data} for event, _, data in stream.sse()]
            return list(stream.ndjson())

    def websocket(self, part, **query):
        return WebSocket(self.api, self.path(part), query)

    # Files

    def put(self, path, data, **query):
        return self.expect((200, 201), "PUT", "files", data, query={"path": path, **query}).json

    def read(self, path, **query):
        return self.expect(200, "GET", "files", query={"path": path, **query}).body


def joined(events, stream="stdout"):
    """The bytes of a stream out of its events; offsets must join without hole or overlap."""
    data, end = bytearray(), None
    for event in events:
        if event["type"] != stream:
            continue
        piece = event["data"].encode() if event.get("data") is not None else base64.b64decode(event["data64"])
        if end is not None and event["offset"] != end:
            raise AssertionError(f"{stream} jumps from byte {end} to {event['offset']}")
        end = event["offset"] + len(piece)
        data += piece
    return bytes(data)


class WebSocket:
    """RFC 6455, client side, with every freedom to misbehave."""

    CONT, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10

    def __init__(self, api, path, query=None, timeout=60.0, headers=()):
        if query:
            path += "?" + urlencode(query, quote_via=quote)
        self.sock = api.raw(timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", "Host: localhost", "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", *headers]
        if api.token is not None:
            lines.append(f"Authorization: Bearer {api.token}")
        self.sock.sendall("\r\n".join([*lines, "", ""]).encode())
        self.buffer, self.eof = b"", False
        head = self._until(b"\r\n\r\n").decode(errors="replace")
        self.status = int(head.split()[1]) if head.startswith("HTTP/1.1 ") else 0
        self.head, self.close_code = head, None
        if self.status != 101:
            raise AssertionError(f"no WebSocket: {head}{self.buffer!r}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def _more(self):
        part = self.sock.recv(65536)
        if not part:
            self.eof = True
            raise EOFError("the connection is closed")
        self.buffer += part

    def _until(self, mark):
        while mark not in self.buffer:
            self._more()
        head, self.buffer = self.buffer.split(mark, 1)
        return head

    def _take(self, size):
        while len(self.buffer) < size:
            self._more()
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def send(self, opcode, data=b"", fin=True, mask=True, rsv=0):
        size = len(data)
        head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
        bit = 0x80 if mask else 0
        if size < 126:
            head += bytes([bit | size])
        elif size < 65536:
            head += struct.pack("!BH", bit | 126, size)
        else:
            head += struct.pack("!BQ", bit | 127, size)
        if mask:
            key = os.urandom(4)
            pad = (key * (size // 4 + 1))[:size]
            data = (int.from_bytes(data, "big") ^ int.from_bytes(pad, "big")).to_bytes(size, "big") if size else b""
            head += key
        self.sock.sendall(head + data)

    def text(self, value):
        self.send(self.TEXT, json.dumps(value).encode())

    def binary(self, data):
        self.send(self.BINARY, data)

    def receive(self):
        """(opcode, payload) of the next whole message; answers pings; (CLOSE, code) at the end."""
        opcode, data = None, b""
        while True:
            first, second = self._take(2)
            size = second & 0x7F
            if size == 126:
                size = struct.unpack("!H", self._take(2))[0]
            elif size == 127:
                size = struct.unpack("!Q", self._take(8))[0]
            if second & 0x80:
                raise AssertionError("the server masks its frames")
            payload, kind = self._take(size), first & 0x0F
            if kind == self.PING:
                self.send(self.PONG, payload)
            elif kind == self.CLOSE:
                self.close_code = struct.unpack("!H", payload[:2])[0] if len(payload) >= 2 else 1005
                return self.CLOSE, self.close_code
            elif kind != self.PONG:
                opcode = kind if opcode is None else opcode
                data += payload
                if first & 0x80:
                    return opcode, data

    def drain(self, seconds=60.0):
        """Reads to the close: gives {1: stdout, 2: stderr}, the list of text messages; the close code is kept."""
        streams, texts, end = {1: b"", 2: b""}, [], time.monotonic() + seconds
        while time.monotonic() < end:
            opcode, data = self.receive()
            if opcode == self.CLOSE:
                return streams, texts
            if opcode == self.TEXT:
                texts.append(json.loads(data))
            else:
                streams[data[0]] += data[1:]
        raise AssertionError(f"no close within {seconds} s; so far {streams} {texts}")

    def read_until(self, mark, seconds=60.0):
        """stdout until these bytes are in it."""
        data, end = b"", time.monotonic() + seconds
        while mark not in data:
            if time.monotonic() > end:
                raise AssertionError(f"no {mark!r} within {seconds} s; so far {data!r}")
            try:
                opcode, payload = self.receive()
            except TimeoutError:
                raise AssertionError(f"no {mark!r}, and silence; so far {data!r}") from None
            if opcode == self.CLOSE:
                raise AssertionError(f"closed with {payload} before {mark!r} came; so far {data!r}")
            if opcode == self.BINARY and payload[0] == 1:
                data += payload[1:]
        return data
