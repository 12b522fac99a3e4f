"""streams.py: what is told to the daemon, what code prints, and interruptions."""

import codecs
import io
import json
import os
import select
import threading
import time

LINE_MAX = 30 << 20
PIECE_MAX = 1 << 20
SINGLE_MAX = 100     # prints of a run that are told one by one; those after them may be put together
LAZY_SECONDS = 0.05  # how long a text without a newline may wait


def plain(value):
    """Whatever JSON cannot say, as what it can."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):  # numpy's
        return plain(value.tolist())
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return str(value)


class Interruptible:
    """SIGINT is KeyboardInterrupt for the code that was meant, and for nobody else; never in the middle of our own work."""

    def __init__(self):
        self.run = 0      # what runs; 0: nothing
        self.meant = 0    # which one is to be interrupted
        self.shielded = 0
        self.waiting = False

    def handler(self, number, frame):
        if self.run == 0 or self.meant != self.run:
            return
        if self.shielded:
            self.waiting = True
            return
        self.meant = 0
        raise KeyboardInterrupt

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            self.shielded += 1

    def __exit__(self, *_):
        if threading.current_thread() is not threading.main_thread():
            return
        self.shielded -= 1
        if self.shielded == 0 and self.waiting:
            self.waiting = False
            if self.run and self.meant == self.run:
                self.meant = 0
                raise KeyboardInterrupt


class Channel:
    def __init__(self, fd):
        self.fd = fd
        self.lock = threading.RLock()

    def send(self, event):
        try:
            text = json.dumps(event, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError):
            text = json.dumps(plain(event), ensure_ascii=False)
        data = text.encode("utf-8", "replace") + b"\n"
        if len(data) > LINE_MAX:
            data = json.dumps({"type": "stderr", "run": event.get("run"),
                               "text": "a result of %d bytes was left out: it is too large\n" % len(data)}).encode() + b"\n"
        with self.lock:
            view = memoryview(data)
            while view:
                view = view[os.write(self.fd, view):]


class Output:
    """Both streams: what is printed, and what comes through the pipes."""

    def __init__(self, channel, interruptible):
        self.channel = channel
        self.interruptible = interruptible
        self.lock = threading.RLock()
        self.names = ("stdout", "stderr")
        self.texts = [[], []]
        self.lazy = False  # something waits for the other thread
        self.last = 0.0
        self.told = 0
        self.originals = [os.dup(1), os.dup(2)]
        self.pipes = []
        self.decoders = []
        for fd in (1, 2):
            reader, writer = os.pipe()
            os.set_blocking(reader, False)
            os.dup2(writer, fd, inheritable=True)
            os.close(writer)
            self.pipes.append(reader)
            self.decoders.append(codecs.getincrementaldecoder("utf-8")("replace"))
        self.wake_reader, self.wake_writer = os.pipe()
        os.set_blocking(self.wake_writer, False)
        self.child = False

    def tell(self, which, text):
        run = self.interruptible.run
        if not run:
            os.write(self.originals[which], text.encode("utf-8", "replace"))
            return
        self.told += 1
        for at in range(0, len(text), PIECE_MAX):
            self.channel.send({"type": self.names[which], "run": run, "text": text[at:at + PIECE_MAX]})

    def flush_text(self, which):
        if self.texts[which]:
            text = "".join(self.texts[which])
            self.texts[which] = []
            self.tell(which, text)

    def drain(self):
        for which, fd in enumerate(self.pipes):
            while True:
                try:
                    data = os.read(fd, 65536)
                except BlockingIOError:
                    break
                if not data:
                    break
                text = self.decoders[which].decode(data)
                if text:
                    self.flush_text(which)
                    self.tell(which, text)

    def flush(self):
        with self.interruptible, self.lock:
            self.drain()
            for which in (0, 1):
                self.flush_text(which)

    def write(self, which, text):
        if self.child:
            data = memoryview(text.encode("utf-8", "replace"))
            while data:
                data = data[os.write(which + 1, data):]
            return
        with self.interruptible, self.lock:
            self.drain()
            self.flush_text(1 - which)
            self.texts[which].append(text)
            now = time.monotonic()
            if text.endswith("\n") and (self.told < SINGLE_MAX or now - self.last > LAZY_SECONDS or len(self.texts[which]) > 1000):
                self.last = now
                self.flush_text(which)
            elif not self.lazy:
                self.lazy = True
                os.write(self.wake_writer, b".")

    def serve(self):
        """The other thread."""
        poll = select.poll()
        for fd in self.pipes + [self.wake_reader]:
            poll.register(fd, select.POLLIN)
        while True:
            ready = [fd for fd, _ in poll.poll()]
            if self.wake_reader in ready:
                os.read(self.wake_reader, 64)
                time.sleep(LAZY_SECONDS)
            with self.lock:
                self.lazy = False
                self.drain()
                for which in (0, 1):
                    self.flush_text(which)

    def in_child(self):
        self.child = True
        self.lock = threading.RLock()
        self.texts = [[], []]


class Stream(io.TextIOBase):
    encoding = "utf-8"
    errors = "replace"

    def __init__(self, output, which):
        self.output = output
        self.which = which
        self.name = "<%s>" % output.names[which]
        self.buffer = Bytes(self)

    def writable(self):
        return True

    def isatty(self):
        return False

    def fileno(self):
        return self.which + 1

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("write() argument must be str, not %s" % type(text).__name__)
        if text:
            self.output.write(self.which, text)
        return len(text)

    def flush(self):
        if not self.output.child:
            self.output.flush()


class Bytes(io.RawIOBase):
    """sys.stdout.buffer"""

    def __init__(self, stream):
        self.stream = stream
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self):
        return True

    def write(self, data):
        data = bytes(data)
        self.stream.write(self.decoder.decode(data))
        return len(data)

    def flush(self):
        self.stream.flush()
