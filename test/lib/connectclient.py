"""connectclient: Connect-RPC in raw HTTP, as its clients send it, in JSON and in binary.

    envd = Envd(daemon.url, sandbox)                      sandbox: the answer of POST /sandboxes
    envd.call("process.Process/List", {})                 the answer as a dict; anything but 200 raises Refused
    with envd.stream("process.Process/Start", {...}) as stream:
        for event in stream: …                            messages; the end's error raises Refused, a break raises Broken

Messages are dicts of proto3's JSON. With codec="proto" they travel in binary, by descriptors that are made from the .proto files.
"""

import base64
import functools
import json
import socket
import struct
import subprocess
import tempfile
from pathlib import Path

from apiclient import Broken

PATIENCE = 60.0
PROTO = Path(__file__).resolve().parents[2] / "src/api/e2b/proto"


class Refused(Exception):
    def __init__(self, code, message, status):
        super().__init__(f"{code}: {message} ({status})")
        self.code, self.message, self.status = code, message, status


@functools.lru_cache
def messages():
    """Full names and their classes."""
    from google.protobuf import descriptor_pb2, message_factory
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run(["protoc-c", f"--descriptor_set_out={file.name}", f"-I{PROTO}", "process.proto", "filesystem.proto"], check=True)
        files = descriptor_pb2.FileDescriptorSet.FromString(Path(file.name).read_bytes())
    return message_factory.GetMessages(files.file)


def pack(codec, name, message):
    if codec == "json":
        return json.dumps(message).encode()
    from google.protobuf import json_format
    return json_format.ParseDict(message, messages()[name]()).SerializeToString()


def unpack(codec, name, data):
    if codec == "json":
        return json.loads(data)
    from google.protobuf import json_format
    return json_format.MessageToDict(messages()[name].FromString(data))


def envelope(data, flags=0):
    return struct.pack(">BI", flags, len(data)) + data


class Wire:
    """One connection, and what has come over it."""

    def __init__(self, address):
        self.socket = socket.create_connection(address, timeout=PATIENCE)
        self.buffer = b""

    def close(self):
        self.socket.close()

    def _more(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionError:
            data = b""
        if not data:
            raise Broken("the connection is gone")
        self.buffer += data

    def line(self):
        while b"\r\n" not in self.buffer:
            self._more()
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line.decode()

    def exactly(self, size):
        while len(self.buffer) < size:
            self._more()
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def send(self, data):
        try:
            self.socket.sendall(data)
        except ConnectionError:
            pass  # an answer may be there all the same

    def head(self):
        status = int(self.line().split()[1])
        headers = {}
        while line := self.line():
            name, value = line.split(":", 1)
            headers[name.lower()] = value.strip()
        return status, headers

    def chunk(self):
        """The next one; b"" is the end of the body."""
        size = int(self.line(), 16)
        data = self.exactly(size)
        self.exactly(2)
        return data

    def body(self, headers):
        if "content-length" in headers:
            return self.exactly(int(headers["content-length"]))
        data = b""
        while chunk := self.chunk():
            data += chunk
        return data


class Stream:
    """The answer of a stream: messages, and its end."""

    def __init__(self, wire, codec, name):
        self.wire, self.codec, self.name = wire, codec, name
        self.status, self.headers = wire.head()
        self.data, self.over = b"", False
        if "content-length" in self.headers:
            self.data, self.over = wire.body(self.headers), True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.wire.close()

    def _exactly(self, size):
        while len(self.data) < size:
            chunk = b"" if self.over else self.wire.chunk()
            if not chunk:
                raise AssertionError(f"the body ends within an envelope: {self.data!r}")
            self.data += chunk
        data, self.data = self.data[:size], self.data[size:]
        return data

    def envelope(self):
        flags, size = struct.unpack(">BI", self._exactly(5))
        return flags, self._exactly(size)

    def next(self):
        """A message; None: the end, without an error."""
        flags, data = self.envelope()
        if flags == 0:
            return unpack(self.codec, self.name, data)
        assert flags == 2, flags
        end = json.loads(data)
        assert not self.data and (self.over or self.wire.chunk() == b""), "there is something behind the end"
        if "error" in end:
            raise Refused(end["error"]["code"], end["error"]["message"], self.status)
        assert end == {}, end
        return None

    def __iter__(self):
        while (message := self.next()) is not None:
            yield message


class Envd:
    """A sandbox's envd, by the headers that its SDK sends."""

    def __init__(self, address, sandbox, user=None, codec="json"):
        self.address, self.sandbox, self.user, self.codec = address, sandbox, user, codec

    def with_(self, **changes):
        return Envd(**{"address": self.address, "sandbox": self.sandbox, "user": self.user, "codec": self.codec, **changes})

    def headers(self):
        headers = {"Host": "localhost", "E2b-Sandbox-Id": self.sandbox["sandboxID"], "E2b-Sandbox-Port": "49983",
                   "Connect-Protocol-Version": "1"}
        if self.sandbox.get("envdAccessToken"):
            headers["X-Access-Token"] = self.sandbox["envdAccessToken"]
        if self.user is not None:
            headers["Authorization"] = "Basic " + base64.b64encode(f"{self.user}:".encode()).decode()
        return headers

    def names(self, method):
        package, call = method.split(".")[0], method.split("/")[1]
        return f"{package}.{call}Request", f"{package}.{call}Response"

    def send(self, method, body, content_type, http="POST", **headers):
        """A request as it is; its connection, before any answer is read. A header that is None is not sent."""
        wire = Wire(self.address)
        lines = {**self.headers(), "Content-Type": content_type, "Content-Length": str(len(body)),
                 **{name.replace("_", "-"): value for name, value in headers.items()}}
        text = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value is not None)
        wire.send(f"{http} /{method} HTTP/1.1\r\n{text}\r\n".encode() + body)
        return wire

    def raw(self, method, body, content_type, **rest):
        """Status, headers and body, whatever they are."""
        wire = self.send(method, body, content_type, **rest)
        try:
            status, headers = wire.head()
            return status, headers, wire.body(headers)
        finally:
            wire.close()

    def call(self, method, message, **headers):
        request, response = self.names(method)
        kind = f"application/{self.codec}"
        status, headers, body = self.raw(method, pack(self.codec, request, message), kind, **headers)
        if status != 200:
            error = json.loads(body)
            raise Refused(error["code"], error["message"], status)
        assert headers["content-type"].split(";")[0] == kind, headers
        return unpack(self.codec, response, body)

    def stream(self, method, message, body=None, **headers):
        request, response = self.names(method)
        kind = f"application/connect+{self.codec}"
        wire = self.send(method, envelope(pack(self.codec, request, message)) if body is None else body, kind, **headers)
        try:
            stream = Stream(wire, self.codec, response)
        except BaseException:
            wire.close()
            raise
        assert stream.status == 200 and stream.headers["content-type"] == kind, (stream.status, stream.headers, stream.data)
        return stream
