/* zygote.h: inside a zygote: how a loaded interpreter becomes a process of a sandbox.
 *
 * The spawner starts cove-zygote for each line of `zygotes:`: own namespaces with the template as a read-only root, no network, an id of its own in the
 * host's user namespace (which owns the user namespaces of the sandboxes that it may enter, and nothing else on the machine), no capability, no_new_privs, a filter.
 * It becomes the interpreter, loads the modules, and serves its socket:
 *
 *      spawner   FORK + descriptors: user, mount, pid, network, ipc, uts, cgroup namespaces; the channel
 *      zygote    fork; CHILD with its pid
 *      spawner   puts it into the sandbox's cgroups; GO
 *      child     enters the namespaces, forks once more (the pid namespace), takes the command's walls: ids, capabilities, rlimits, Landlock, seccomp; STARTED; the driver
 *
 * A child that cannot take one of them exits and never returns to the interpreter.
 * Must not know: the daemon, contexts. */
#pragma once
