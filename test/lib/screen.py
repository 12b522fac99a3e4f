"""screen: a terminal with a program in it, from the side of the person who sits there."""

import fcntl
import os
import select
import struct
import termios
import time

MARK = b"<the end>"


class Screen:
    """A pseudo terminal; whoever makes one starts the program in it, as self.child."""

    def __init__(self, test, rows, columns):
        self.test, self.child, self.seen = test, None, b""
        self.master, self.slave = os.openpty()
        test.addCleanup(os.close, self.slave)
        test.addCleanup(self.hang_up)
        self.resize(rows, columns)

    def hang_up(self):
        if self.master is not None:
            os.close(self.master)
            self.master = None

    def get_mode(self):
        return termios.tcgetattr(self.slave)

    def resize(self, rows, columns):
        """The kernel tells the foreground process group, as when a window is pulled."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, data):
        os.write(self.master, data)

    def read_once(self, seconds):
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.seen += data
        return bool(data)

    def read_to_the_end(self):
        """After the program's end. What it has printed comes through a queue of the kernel's, in its own time; what we print then comes after it."""
        os.set_blocking(self.slave, False)
        left, end = MARK, time.monotonic() + 60
        while MARK not in self.seen:
            self.test.assertLess(time.monotonic(), end, "the terminal is stuck")
            try:
                left = left[os.write(self.slave, left):]
            except BlockingIOError:
                pass
            self.read_once(0.02)
        self.seen = self.seen.partition(MARK)[0]

    def expect(self, text, seconds=60):
        """Waits until it was printed, and takes it and all before it away."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            ended = self.child.poll() is not None
            if ended:
                self.read_to_the_end()
            if text not in self.seen and (ended or time.monotonic() > end):
                self.test.fail(f"{text!r} was never printed, only {self.seen[-500:]!r}; status {self.child.poll()}")
            if not ended:
                self.read_once(0.1)
        before, _, self.seen = self.seen.partition(text)
        return before

    def wait(self, seconds=60):
        """The exit status; reads the rest of the output."""
        end = time.monotonic() + seconds
        while self.child.poll() is None and time.monotonic() < end:
            self.read_once(0.02)
        self.test.assertIsNotNone(self.child.returncode, f"the program does not end; printed: {self.seen[-500:]!r}")
        self.read_to_the_end()
        return self.child.returncode
