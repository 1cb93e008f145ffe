"""The shim of one worker: its parent, which has its output and its exit, and ends it
with all that it started. A client connects to its socket and
writes one line of JSON; see Request.

Its folder holds kept.json (what is known of the worker), ctl.sock, and the output.
"""

import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time

import log
import tree

STATE, SOCKET = "kept.json", "ctl.sock"
TICK = 0.02  # how often to look for what a killed worker still starts


def main(directory, fd):
    listener = socket.socket(fileno=int(fd))
    launch = json.loads(sys.stdin.buffer.read())  # cut off if the plugin died
    tree.adopt()
    os.nice(launch["nice"])
    os.chdir(directory)  # its folder may be moved
    Shim(".", listener, launch).run()


def private(path, flags):
    return os.open(path, flags, 0o600)


class Request:
    """What one connection asks for:

    {"follow": true}      a byte now and whenever there is output; the end at the end
    {"signal": 10, "main": false}
    {"kill": 15, "main": false, "grace": 5.0, "force": true, "detach": false}
    """

    def __init__(self, connection, asked):
        self.connection, self.asked = connection, asked
        self.deadline = time.monotonic() + asked.get("grace", 0)
        self.forced = False

    def answer(self, **values):
        if self.connection:
            try:
                self.connection.sendall(json.dumps(values).encode() + b"\n")
            except OSError:
                pass  # it does not wait any more
            self.connection.close()
            self.connection = None


class Shim:
    def __init__(self, directory, listener, launch):
        self.directory, self.listener, self.launch = directory, listener, launch
        self.state = {"id": launch["id"]}
        self.cause = "exited"
        self.exit = None
        self.followers = set()
        self.kills = []
        self.selector = selectors.DefaultSelector()

    def run(self):
        self.listen()
        if not self.start():
            return
        while not self.over():
            for key, _ in self.selector.select(self.patience()):
                key.data(key.fileobj)
            self.reap()
            self.advance()
        self.finish()

    def listen(self):
        awake, wakeup = os.pipe()
        for fd in (awake, wakeup):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: self.end("shutdown"))
        self.selector.register(awake, selectors.EVENT_READ, lambda fd: os.read(fd, 4096))
        self.listener.setblocking(False)
        self.selector.register(self.listener, selectors.EVENT_READ, self.accept)

    def start(self):
        self.log = log.Writer(self.directory, self.launch["limit"])
        try:
            self.worker = subprocess.Popen(
                [os.fsencode(word) for word in self.launch["command"]], cwd=self.launch["dir"], env=self.launch["env"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        except OSError as error:
            self.report(error=f"{os.fsdecode(error.filename)}: {error.strerror}")
            return False
        for pipe, stream in ((self.worker.stdout, b"o"), (self.worker.stderr, b"e")):
            os.set_blocking(pipe.fileno(), False)
            self.selector.register(pipe, selectors.EVENT_READ, lambda pipe, stream=stream: self.read(pipe, stream))
        self.state |= {"pid": self.worker.pid, "started": time.time()}
        self.save()
        self.report(pid=self.worker.pid)
        return True

    def report(self, **values):
        """Notifies the plugin, which may be gone, and closes its pipe."""
        try:
            os.write(1, json.dumps(values).encode())
        except BrokenPipeError:
            pass
        nothing = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1):
            os.dup2(nothing, fd)

    def save(self):
        """Replaces the state, so that no reader gets a half of it."""
        path = os.path.join(self.directory, STATE)
        with open(path + ".new", "w", opener=private) as file:
            json.dump(self.state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(path + ".new", path)

    def read(self, pipe, stream):
        """Reads some output, and reports whether there was any."""
        try:
            data = os.read(pipe.fileno(), 1 << 16)
        except BlockingIOError:
            return False
        if not data:
            self.selector.unregister(pipe)
            return False
        self.log.write(stream, data)
        for follower in self.followers:
            self.poke(follower)
        return True

    def poke(self, follower):
        try:
            follower.send(b".")
        except OSError:
            pass  # it has enough to wake up from, or is gone

    def accept(self, listener):
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            return
        connection.setblocking(False)
        self.selector.register(connection, selectors.EVENT_READ, self.hear)

    def hear(self, connection):
        """Reads a request, which comes whole, or the end of a connection."""
        try:
            line = connection.recv(1 << 16)
        except OSError:
            line = b""
        if not line:
            self.hang_up(connection)
            return
        request = Request(connection, json.loads(line))
        if "follow" in request.asked:
            self.followers.add(connection)
            self.poke(connection)
            return
        if "signal" in request.asked:
            self.send(request.asked["signal"], request.asked["main"])
            self.selector.unregister(connection)
            request.answer()
            return
        self.kill(request)

    def hang_up(self, connection):
        """A kill that no client waits for goes no further, unless it was detached."""
        self.selector.unregister(connection)
        self.followers.discard(connection)
        self.kills = [k for k in self.kills if k.connection is not connection]
        if not self.kills and not self.exit:
            self.cause = "exited"
        connection.close()

    def kill(self, request):
        if not self.exit:
            self.cause = "killed"
        self.send(request.asked["kill"], request.asked["main"])
        if request.asked["detach"]:
            self.selector.unregister(request.connection)
            request.answer(done=False)
        self.kills.append(request)

    def end(self, cause):
        """Ends the worker, or what is left of it, as its policy says."""
        if cause:
            self.cause = cause
        policy = Request(None, self.launch["kill"])
        self.send(policy.asked["kill"], False)
        self.kills.append(policy)

    def send(self, number, main):
        for pid in [self.worker.pid] if main else tree.below(os.getpid()):
            if pid != self.worker.pid or not self.exit:  # its number may be another's
                tree.send(pid, number)

    def reap(self):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.worker.pid:
                code = os.waitstatus_to_exitcode(status)
                self.exit = {"code": max(code, -1), "time": time.time(),
                             "signal": signal.Signals(-code).name if code < 0 else ""}
                if all(k.asked["main"] for k in self.kills) and self.left():
                    self.end(None)  # they do not know yet

    def left(self):
        return tree.below(os.getpid())

    def advance(self):
        """Does what is due."""
        for request in list(self.kills):
            if time.monotonic() < request.deadline:
                continue
            if not request.asked["force"]:
                self.kills.remove(request)
                self.survive(request)
                continue
            request.forced = request.asked["kill"] != signal.SIGKILL
            for pid in self.left():
                tree.send(pid, signal.SIGKILL)

    def survive(self, request):
        """Answers that a kill was in vain. The worker continues as if nothing had been."""
        if not self.kills and not self.exit:
            self.cause = "exited"
        if request.connection:
            self.selector.unregister(request.connection)
        request.answer(done=False, survivors=[(pid, tree.name(pid) or "?") for pid in self.left()])

    def patience(self):
        """How long to wait for something to happen; None: as long as it takes."""
        if not self.kills:
            return None
        return max(TICK, min(k.deadline for k in self.kills) - time.monotonic())

    def over(self):
        return self.exit and not self.left()

    def finish(self):
        """First the output, then the state, then those who wait for it."""
        for pipe, stream in ((self.worker.stdout, b"o"), (self.worker.stderr, b"e")):
            if pipe in self.selector.get_map():
                while self.read(pipe, stream):
                    pass
        self.log.close()
        self.state["exit"] = self.exit | {"cause": self.cause}
        self.save()
        os.unlink(os.path.join(self.directory, SOCKET))
        for request in self.kills:
            request.answer(done=True, forced=request.forced)
