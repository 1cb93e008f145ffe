"""A worker as the plugin sees it: its folder, its state, and the socket of its shim."""

import contextlib
import json
import os
import signal
import socket

import shim
import tree
from errors import Failure

HANDLE = 1  # the version of our handles; every one that we ever wrote stays readable


class Worker:
    run_dirs = ""  # the directory with the folders of all workers; empty: swarm did not say

    def __init__(self, id, directory):
        self.id, self.directory = id, directory

    def handle(self):
        return HANDLE, json.dumps({"id": self.id, "dir": os.fsdecode(self.directory)}).encode()

    @classmethod
    def of(cls, handle):
        """Reads a handle. The host keeps handles for us, and they may be damaged. The folder
        may have been moved since: what swarm says counts, not the path in the handle."""
        if handle.version != HANDLE:
            raise Failure("INVALID_HANDLE", f"handles of version {handle.version} are not known to this plugin")
        try:
            data = json.loads(handle.data)
            worker = cls(data["id"], data["dir"])
            if worker.id in ("", ".", "..") or "/" in worker.id or not os.path.isabs(worker.directory):
                raise ValueError("it names no worker")
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise Failure("INVALID_HANDLE", f"the handle can't be read: {error}") from None
        if cls.run_dirs:
            worker.directory = os.path.join(cls.run_dirs, worker.id)
        return worker

    def path(self, name):
        return os.path.join(self.directory, name)

    def state(self):
        """What its shim wrote, or None if there never was one."""
        try:
            with open(self.path(shim.STATE)) as file:
                state = json.load(file)
        except (OSError, ValueError):
            return None
        if state["id"] != self.id:
            raise Failure("STALE_HANDLE", f"{self.directory} is of the worker {state['id']}")
        return state

    @contextlib.contextmanager
    def address(self):
        """A path of the socket that is short enough, wherever the folder is."""
        fd = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            yield f"/proc/self/fd/{fd}/{shim.SOCKET}"
        finally:
            os.close(fd)

    def listen(self):
        listener = socket.socket(socket.AF_UNIX)
        with self.address() as address:
            listener.bind(address)
        listener.listen(256)
        return listener

    def connect(self):
        """A connection to the shim; None if there is no shim, for that is how one
        shows it: it holds the socket from before its start to its end."""
        connection = socket.socket(socket.AF_UNIX)
        try:
            with self.address() as address:
                connection.connect(address)
        except OSError:
            connection.close()
            return None
        return connection

    def look(self):
        """Its state and whether its shim is there, of one moment."""
        state = self.state()
        if state and "exit" in state:
            return state, False
        connection = self.connect()
        if connection:
            connection.close()
            return state, True
        return self.state(), False  # it may have ended between the two

    def ask(self, context, **request):
        """Has the shim do something, for as long as the context of the call lasts, or
        for good if that is None. Returns None if the shim has ended, or ends."""
        connection = self.connect()
        if not connection:
            return None
        with connection, cut_off(context, connection):
            try:
                connection.sendall(json.dumps(request).encode() + b"\n")
                answer = connection.makefile().readline()
            except OSError:
                return None
        return json.loads(answer) if answer else None

    def follow(self, context):
        """Yields whenever there is more of the worker to see, and ends with it."""
        connection = self.connect()
        if not connection:
            return
        with connection, cut_off(context, connection):
            try:
                connection.sendall(b'{"follow": true}\n')
                while connection.recv(4096):
                    yield
            except OSError:
                return

    def orphans(self):
        return [(pid, tree.name(pid) or "?") for pid in tree.orphans(self.id)]

    def kill_orphans(self):
        for pid, _ in self.orphans():
            tree.send(pid, signal.SIGKILL, proof=lambda pid=pid: pid in tree.orphans(self.id))


@contextlib.contextmanager
def cut_off(context, connection):
    """Ends a connection when the host wants no answer any more, which wakes up who
    waits for it."""

    def shut():
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

    if context and not context.add_callback(shut):
        shut()  # it has ended already
    yield
