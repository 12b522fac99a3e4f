"""A daemon with TLS: certificates of an authority that was made for the suite, and the options that name them."""

import subprocess
from pathlib import Path

import covetest

CERTS = Path(__file__).resolve().parents[1] / "compat" / "e2b" / "certs"


def make_certificates(place, domain="sbx.test"):
    subprocess.run([str(CERTS), str(place), domain], check=True, capture_output=True)
    return place


def options(place):
    return ("--tls-listen", "127.0.0.1:0", "--tls-cert", str(place / "cert.pem"), "--tls-key", str(place / "key.pem"))


CERTIFICATES = make_certificates(covetest.make_temporary_directory("certs"))
