"""proxyserver: HTTP proxies for tests: tinyproxy in the world of an Internet, and one that answers CONNECT with what it is told to.

    proxy = Tinyproxy(case, internet, {"pypi.org": "198.51.100.7"})      listens on every address of the world; looks names up by itself
    proxy.seen()                              what it was asked: ["CONNECT pypi.org:443", "GET http://deb.debian.org/"]
    liar = Liar(internet, 3129, b"HTTP/1.1 200 OK\\r\\n\\r\\nhello")        to everybody, after a request's head
"""

import re
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path

import covetest

PORT = 3128
CONFIG = """Port {port}
Listen 0.0.0.0
Timeout 60
LogLevel Info
LogFile "{log}"
MaxClients 50
ConnectPort 443
{more}
"""


class Tinyproxy:
    """In a mount namespace whose /etc/hosts has the names: nobody else knows them."""

    def __init__(self, case, internet, names, user=None, port=PORT):
        if not shutil.which("tinyproxy"):
            covetest.skip("there is no tinyproxy", "apt-get install tinyproxy-bin")
        self.place = Path(covetest.make_temporary_directory("tinyproxy"))
        self.log = self.place / "log"
        (self.place / "conf").write_text(CONFIG.format(port=port, log=self.log, more=f"BasicAuth {user[0]} {user[1]}" if user else ""))
        (self.place / "hosts").write_text("".join(f"{address} {name}\n" for name, address in names.items()))
        command = f'mount --bind {self.place}/hosts /etc/hosts && exec tinyproxy -d -c {self.place}/conf'
        self.process = subprocess.Popen(["nsenter", f"--net=/run/netns/{internet.world}", "--", "unshare", "--mount", "sh", "-c", command],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        case.addCleanup(self.close)
        if not covetest.wait_for(lambda: self.log.exists() and "Accepting connections" in self.log.read_text() or self.process.poll() is not None):
            raise AssertionError("tinyproxy does not begin")

    def seen(self):
        return re.findall(r"Request \(file descriptor \d+\): (.*) HTTP/1\.", self.log.read_text())

    def close(self):
        self.process.terminate()
        self.process.wait(60)
        covetest.remove_tree(self.place)


class Liar:
    def __init__(self, internet, port, answer, hold=False):
        self.answer, self.hold, self.heads = answer, hold, []
        self.listener = internet.socket(socket.SOCK_STREAM, port)
        internet.servers.append(self)
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            head = b""
            while b"\r\n\r\n" not in head:
                more = connection.recv(65536)
                if not more:
                    return
                head += more
            self.heads.append(head)
            try:
                for i in range(0, len(self.answer), 7):  # in pieces: a reader must not count on a whole head
                    connection.sendall(self.answer[i:i + 7])
                    time.sleep(0.001)
                while self.hold and connection.recv(65536):
                    pass
            except OSError:
                pass

    def close(self):
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
