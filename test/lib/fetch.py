"""fetch: what tests download from package registries, below build/.

    with installed(place, wanted) as lacks:    one of the suites that run beside each other installs, the others wait for it
        if lacks:
            fetch("npm", "ci", cwd=place)      a registry that does not answer is asked again
"""

import contextlib
import fcntl
import shutil
import subprocess

SECONDS = 600  # against hanging
TRIES = 3


@contextlib.contextmanager
def installed(place, wanted):
    """Yields whether the place lacks what is wanted, and notes that it has it when the body has ended well."""
    place.parent.mkdir(exist_ok=True)
    with open(place.with_name(f"{place.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = place / "installed"
        lacks = not stamp.exists() or stamp.read_bytes() != wanted
        if lacks:
            shutil.rmtree(place, ignore_errors=True)
        yield lacks
        stamp.write_bytes(wanted)


def fetch(*command, **how):
    for left in reversed(range(TRIES)):
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, **how)
            if done.returncode == 0:
                return
            trouble = f"{done.stdout}\n{done.stderr}"
        except subprocess.TimeoutExpired:
            trouble = f"not done after {SECONDS} s"
        if left == 0:
            raise AssertionError(f"{' '.join(command)} failed {TRIES} times\n{trouble}")
