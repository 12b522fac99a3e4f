"""bucket: a small S3 service for tests. Every request's signature is computed again by botocore, from what arrived."""

import hashlib
import http.server
import threading
import urllib.parse

import botocore.auth
import botocore.awsrequest
import botocore.credentials

# botocore signs no User-Agent by itself; a service checks whatever the client says it has signed.
botocore.auth.SIGNED_HEADERS_BLACKLIST = [name for name in botocore.auth.SIGNED_HEADERS_BLACKLIST if name != "user-agent"]

ACCESS, SECRET, REGION = "AKIDTEST", "a very/secret+key", "eu-test-1"


class Bucket:
    def __init__(self, port=0, answers=()):
        """answers: what it says first, instead of doing what is asked."""
        self.objects, self.requests, self.refusals, self.answers = {}, [], [], list(answers)
        self.lock = threading.Lock()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), type("Handler", (Handler,), {"bucket": self}))
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", kind="application/xml"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def complaint(self, body):
        """None: the signature is right. Else what is wrong with it."""
        given = self.headers.get("Authorization", "")
        scheme, _, rest = given.partition(" ")
        fields = dict(part.strip().split("=", 1) for part in rest.split(",") if "=" in part)
        if scheme != "AWS4-HMAC-SHA256" or not {"Credential", "SignedHeaders", "Signature"} <= set(fields):
            return f"no signature: {given!r}"
        names = fields["SignedHeaders"].split(";")
        if not {"host", "x-amz-date", "x-amz-content-sha256"} <= set(names):
            return f"not everything is signed: {names}"
        told = self.headers["X-Amz-Content-Sha256"]
        if self.command == "PUT" and told != hashlib.sha256(body).hexdigest():
            return f"the body is not {told}"
        request = botocore.awsrequest.AWSRequest(method=self.command, url=f"http://{self.headers['Host']}{self.path}", data=body,
                                                 headers={name: self.headers[name] for name in names})
        request.context["timestamp"] = self.headers["X-Amz-Date"]
        auth = botocore.auth.S3SigV4Auth(botocore.credentials.Credentials(ACCESS, SECRET), "s3", REGION)
        canonical = auth.canonical_request(request)
        signature = auth.signature(auth.string_to_sign(request, canonical), request)
        wanted = {"Credential": auth.scope(request), "SignedHeaders": auth.signed_headers(auth.headers_to_sign(request)), "Signature": signature}
        return None if fields == wanted else f"{fields} instead of {wanted}\n{canonical}"

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.bucket.lock:
            self.bucket.requests.append((self.command, self.path))
            complaint = self.complaint(body)
            if complaint:
                self.bucket.refusals.append(complaint)
                return self.reply(403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>")
            if self.bucket.answers:
                return self.reply(self.bucket.answers.pop(0), b"<Error><Code>SlowDown</Code></Error>")
            return self.do_it(urllib.parse.unquote(self.path), body)

    def do_it(self, key, body):
        objects = self.bucket.objects
        if self.command == "PUT":
            objects[key] = (body, self.headers.get("Content-Type"))
            return self.reply(200)
        if key not in objects:
            return self.reply(404, b"<Error><Code>NoSuchKey</Code></Error>")
        if self.command == "DELETE":
            del objects[key]
            return self.reply(204)
        return self.reply(200, *objects[key])

    do_GET = do_PUT = do_DELETE = handle_any
