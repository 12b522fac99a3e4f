"""receivers: those who get the daemon's messages, for real, on loopback: HTTP servers, and Debian's exim4 for mail.

    hook = Receiver();  hook.url;  hook.wait(1) -> [Message]      hook.answers = [503, 503]: first these, then 200
    mail = Exim(directory);  mail.url;  mail.wait(1) -> [email.message.Message]
    certificate(directory) -> (certificate, key): of 127.0.0.1 and localhost, signed by nobody else
"""

import email
import email.policy
import json
import mailbox
import os
import pwd
import shutil
import socket
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from covetest import free_port, wait_for

PATIENCE = 60.0


class Message:
    def __init__(self, path, headers, body):
        self.path, self.headers, self.body, self.at = path, headers, body, time.monotonic()

    @property
    def json(self):
        return json.loads(self.body)


class Receiver:
    def __init__(self, port=0, tls=None):
        self.messages, self.answers, self.headers = [], [], {}
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                receiver.messages.append(Message(self.path, dict(self.headers), body))
                self.send_response(receiver.answers.pop(0) if receiver.answers else 200)
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*map(str, tls))
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}/hooks/T0/secret"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def wait(self, n, seconds=PATIENCE):
        """At least n messages."""
        if not wait_for(lambda: len(self.messages) >= n, seconds):
            raise AssertionError(f"{len(self.messages)} messages within {seconds} s, not {n}: {[m.body[:300] for m in self.messages]}")
        return self.messages

    def events(self, name):
        """What a generic webhook was told of one alert."""
        return [m.json["event"] for m in self.messages if m.json["alert"]["name"] == name]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def certificate(directory):
    cert, key = Path(directory) / "cert.pem", Path(directory) / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(cert), "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return cert, key


CONFIG = """
exim_user = {user}
exim_group = {user}
spool_directory = {place}/spool
log_file_path = {place}/log/%slog
pid_file_path = {place}/pid
primary_hostname = mail.test
keep_environment =
local_interfaces = 127.0.0.1
disable_ipv6 = true
host_lookup =
rfc1413_hosts =
acl_smtp_rcpt = check_rcpt
tls_advertise_hosts = {tls_hosts}
{tls}
begin acl
check_rcpt:
  deny message = no such person
       local_parts = nobody
  accept
begin routers
box:
  driver = accept
  transport = box
begin transports
box:
  driver = appendfile
  file = {place}/box/mail
  user = {user}
  group = {user}
  envelope_to_add
  batch_max = 10
  return_path_add
begin retry
"""


class Exim:
    """Debian's mail server as it is, with a configuration, a spool and a mailbox of its own."""

    USER = "Debian-exim"

    def __init__(self, directory, tls=None):
        self.place = Path(directory) / "exim"
        self.place.mkdir(mode=0o755)
        Path(directory).chmod(0o755)
        account = pwd.getpwnam(self.USER)
        for name in ("spool", "log", "box"):
            (self.place / name).mkdir()
            os.chown(self.place / name, account.pw_uid, account.pw_gid)
        lines = ""
        if tls:
            for name, path in zip(("cert", "key"), tls):
                copy = self.place / f"{name}.pem"
                shutil.copy(path, copy)
                os.chown(copy, account.pw_uid, account.pw_gid)
            lines = f"tls_certificate = {self.place}/cert.pem\ntls_privatekey = {self.place}/key.pem\n"
        self.config = self.place / "exim.conf"
        self.config.write_text(CONFIG.format(user=self.USER, place=self.place, tls_hosts="*" if tls else "", tls=lines))
        self.port = free_port()
        self.url = f"smtp://127.0.0.1:{self.port}"
        self.child = None

    def start(self):
        self.child = subprocess.Popen(["/usr/sbin/exim4", "-C", str(self.config), "-bdf", "-oX", f"127.0.0.1.{self.port}",
                                       "-oP", str(self.place / "pid")], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, start_new_session=True)

        def listens():
            with socket.socket() as s:
                return s.connect_ex(("127.0.0.1", self.port)) == 0 or self.child.poll() is not None
        if not wait_for(listens) or self.child.poll() is not None:
            raise AssertionError(f"exim4 does not come up: {self.child.stderr.read() if self.child.poll() is not None else ''}\n{self.log()}")
        return self

    def log(self):
        return "\n".join(path.read_text(errors="replace") for path in sorted((self.place / "log").glob("*")))

    def messages(self):
        """Those that are whole: while exim writes one, there is a lock."""
        path, found = self.place / "box" / "mail", []

        def look():
            nonlocal found
            if not path.exists():
                return True
            size = path.stat().st_size
            box = mailbox.mbox(path, factory=lambda f: email.message_from_binary_file(f, policy=email.policy.default), create=False)
            try:
                found = list(box)
            finally:
                box.close()
            return not path.with_name("mail.lock").exists() and path.stat().st_size == size
        wait_for(look)
        return found

    def wait(self, n, seconds=PATIENCE):
        if not wait_for(lambda: len(self.messages()) >= n, seconds):
            raise AssertionError(f"{len(self.messages())} mails within {seconds} s, not {n}\n{self.log()}")
        return self.messages()

    def stop(self):
        if self.child and self.child.poll() is None:
            self.child.terminate()
            self.child.wait(60)
        if self.child:
            self.child.stderr.close()

        def idle():  # deliveries are processes of their own
            return subprocess.run(["pgrep", "-f", str(self.config)], stdout=subprocess.DEVNULL).returncode != 0
        wait_for(idle)
