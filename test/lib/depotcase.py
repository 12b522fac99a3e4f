"""Suites whose daemon keeps trees: disks, volumes, layers, in a depot of its own that goes with it."""

import subprocess

import daemon

CONFIG = {"storage": {"size": "1G"}}


class Case(daemon.Case):
    """With a daemon that all tests of a suite share, and a small depot."""

    @property
    def daemon(self):
        key = ("a depot",)
        found = daemon.Shared.daemons.get(key)
        if found is None or not found.running:
            found = daemon.Shared.daemons[key] = daemon.Daemon(config=CONFIG)
            found.start()
            found.api.create(persistent=True).delete()
            found.descriptors_before = found.descriptors()
        return found

    def inside(self, *command, daemon=None):
        """What a command says in the mount namespace of the spawner, where the depot is."""
        keeper = (daemon or self.daemon).keeper
        done = subprocess.run(["nsenter", "--target", str(keeper), "--mount", *map(str, command)], capture_output=True, text=True, check=False)
        return done.stdout

    def trees(self, kind, daemon=None):
        """The names of all trees of a kind."""
        owner = daemon or self.daemon
        return sorted(self.inside("ls", owner.state / "depot" / kind, daemon=owner).split())

    def tree(self, kind, name, *below):
        return self.daemon.state.joinpath("depot", kind, name, *below)
