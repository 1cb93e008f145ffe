"""The processes of a worker, on Linux."""

import ctypes
import os
import signal

PR_SET_CHILD_SUBREAPER = 36


def adopt():
    """Makes this process the parent of every orphan below it: a daemon that a worker
    starts stays in its tree."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def below(pid):
    """The processes below one that are alive. A shim among them is of another
    worker, with all that is below it."""
    found = []
    for child in children(pid):
        if not kept(child):
            found += [child] if name(child) else []
            found += below(child)
    return found


def children(pid):
    pids = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                pids += map(int, file.read().split())
    except OSError:
        pass  # it has ended
    return pids


def name(pid):
    """The name of a process, or None if it is not alive. A zombie is not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            before, _, after = file.read().rpartition(")")
    except OSError:
        return None
    return None if after.split()[0] in "ZX" else before.partition("(")[2]


def environ(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def kept(pid):
    return any(entry.startswith(b"SWARM_SHIM=") for entry in environ(pid))


def orphans(worker):
    """What is left of a worker whose shim was killed: who has its id in the
    environment."""
    mark = b"SWARM_WORKER_ID=" + worker.encode()
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
            if mark in environ(pid) and name(pid)]


def send(pid, number, proof=lambda: True):
    """Sends a signal to a process, and never to another one that has its number now:
    the descriptor is opened before the proof."""
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        return
    try:
        if proof():
            signal.pidfd_send_signal(fd, number)
    except OSError:
        pass  # it has ended
    finally:
        os.close(fd)
