"""A suite whose hands are late: what script/test --late N gives.

Before N of 100 of the things that a case does to others (connects, sends, asks, reads an answer, signals, starts a program), it dawdles for up to two
seconds, at random. A case that depends on being fast enough fails then, and would fail one day on a machine that stalls."""

import http.client
import os
import random
import socket
import subprocess
import time

LONGEST = 2.0


def late(function, share):
    def dawdle(*args, **kwargs):
        if random.random() < share:
            time.sleep(random.uniform(0.2, LONGEST))
        return function(*args, **kwargs)
    return dawdle


def begin(percent):
    share = percent / 100
    for owner, name in ((os, "kill"), (subprocess.Popen, "__init__"), (http.client.HTTPConnection, "request"),
                        (http.client.HTTPConnection, "getresponse")):
        setattr(owner, name, late(getattr(owner, name), share))

    class Socket(socket.socket):
        connect = late(socket.socket.connect, share)
        sendall = late(socket.socket.sendall, share)
    socket.socket = Socket
