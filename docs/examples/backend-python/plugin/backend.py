"""The service Backend: workers on this machine, with a low priority.

It shows all that a backend needs. Make it your own: what a worker runs in is decided
by Spawn and its shim. All calls may come at the same time, each to another process
of this plugin: nothing is remembered here.
"""

import json
import os
import queue
import subprocess
import sys
import threading

import shim
import log
from errors import Failure
from google.protobuf.timestamp_pb2 import Timestamp
from signals import name_of, number_of
from swarm.plugin.v1 import backend_pb2 as pb, status_pb2
from worker import Worker

MAX_BATCH = 500
BATCH = 256  # pieces of output in one message
STREAMS = {b"o": "stdout", b"e": "stderr"}
MARKS = {name: mark for mark, name in STREAMS.items()}


class Backend:
    capabilities = ["output", "watch", "find", "signal"]

    def __init__(self, settings, run_dirs):
        Worker.run_dirs = run_dirs
        unknown = set(settings) - {"nice"}
        if unknown:
            raise Failure("INVALID_CONFIG", f"unknown setting '{min(unknown)}'; there is: nice")
        self.nice = priority("INVALID_CONFIG", settings.get("nice", 10))

    def Spawn(self, request, context):
        worker = Worker(request.id, os.fsdecode(request.local.run_dir))
        launch = self.launch(request)
        # The call that makes this file has the id.
        try:
            os.close(os.open(worker.path(shim.STATE), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            raise Failure("EXISTS", f"there is a worker {worker.id} already") from None
        try:
            self.start(worker, launch)
            if not context.is_active():
                raise Failure("UNAVAILABLE", "the host does not wait any more")
        except BaseException:
            # The caller may be gone: this is carried through all the same.
            worker.ask(None, kill=9, main=False, grace=0, force=True, detach=False)
            for name in (shim.STATE, shim.SOCKET, log.CURRENT):
                try:
                    os.unlink(worker.path(name))
                except FileNotFoundError:
                    pass
            raise
        version, data = worker.handle()
        return pb.SpawnResponse(handle=status_pb2.Handle(version=version, data=data))

    def launch(self, request):
        """What the shim has to know, checked."""
        nice = self.nice
        for key, value in request.options.items():
            if key != "nice":
                raise Failure("INVALID_SPEC", f"nice has no option '{key}'")
            nice = priority("INVALID_SPEC", value)
        env = {"SWARM_WORKER_ID": request.id}
        for entry in [*request.local.host_env, *request.env]:
            key, _, value = os.fsdecode(entry).partition("=")
            env[key] = value
        env.pop("SWARM_SHIM", None)
        return {
            "id": request.id, "command": [os.fsdecode(word) for word in request.command],
            "dir": os.fsdecode(request.dir), "env": env, "limit": request.output_limit,
            "nice": nice, "kill": kill_request(request.kill),
        }

    def start(self, worker, launch):
        """Starts a shim and returns when the worker runs. The shim gets a socket that
        listens already: from here on there is never a doubt whether there is one."""
        with open(worker.path(shim.STATE), "w") as file:
            json.dump({"id": worker.id}, file)
        # With the mark of its plugin the shim does not end with a worker in which swarm was called.
        env = {"SWARM_SHIM": worker.id, "SWARM_ENGINE": os.environ.get("SWARM_ENGINE", "")}
        with worker.listen() as listener:
            process = subprocess.Popen(
                # Without the site packages: it starts faster.
                [sys.executable, "-I", "-S", sys.argv[0], "keep", worker.directory, str(listener.fileno())],
                pass_fds=[listener.fileno()], cwd="/", env=env, start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        threading.Thread(target=process.wait, daemon=True).start()  # leaves no zombie
        with process.stdin, process.stdout:
            try:
                process.stdin.write(json.dumps(launch).encode())
                process.stdin.close()
            except BrokenPipeError:
                pass
            answer = json.loads(process.stdout.read() or b'{"broken": true}')
        if "error" in answer:
            raise Failure("INVALID_SPEC", answer["error"])
        if "broken" in answer:
            raise Failure("UNAVAILABLE", "the shim of the worker did not start")

    def Status(self, request, context):
        return status_pb2.StatusResponse(results=[self.result(handle) for handle in batch(request.handles)])

    def result(self, handle):
        try:
            return status_pb2.StatusResult(status=status(Worker.of(handle)))
        except Failure as failure:
            return status_pb2.StatusResult(error=failure.proto())

    def Kill(self, request, context):
        def kill(index, item):
            answer = pb.KillResponse(index=index)
            try:
                self.kill(context, Worker.of(item.handle), kill_request(item.options), answer)
            except Failure as failure:
                answer.error.CopyFrom(failure.proto())
            yield answer

        return together(kill, batch(request.items))

    def kill(self, context, worker, request, answer):
        before = status(worker)
        result = answer.result
        told = worker.ask(context, **request) if before.state == status_pb2.STATE_RUNNING else None
        result.status.CopyFrom(status(worker))
        if told is None and result.status.state == status_pb2.STATE_RUNNING:
            raise Failure("UNAVAILABLE", "the shim of the worker did not answer")
        if told is None:  # it had ended, or ended by itself just now
            worker.kill_orphans()
            result.already_ended = True
            return
        result.signal, result.forced = name_of(request["kill"]), told.get("forced", False)
        for pid, name in told.get("survivors", []):
            result.survivors.add(pid=pid, name=name)
        if result.survivors:
            raise Failure("SURVIVORS", f"{len(result.survivors)} processes of the worker are still alive")

    def Watch(self, request, context):
        def watch(index, handle):
            last = pb.WatchResponse(index=index, last=True)
            try:
                worker = Worker.of(handle)
                for now in statuses(worker, context):
                    yield pb.WatchResponse(index=index, status=now)
            except Failure as failure:
                last.error.CopyFrom(failure.proto())
            yield last

        return together(watch, batch(request.handles))

    def Signal(self, request, context):
        worker = Worker.of(request.handle)
        number = number_of(request.signal)
        if worker.ask(context, signal=number, main=request.mode == pb.KILL_MODE_MAIN) is None:
            raise Failure("NOT_FOUND", "the worker has ended")
        return pb.SignalResponse()

    def Find(self, request, context):
        worker = Worker(request.id, os.fsdecode(request.local.run_dir))
        while True:
            state, kept = worker.look()
            if state and ("pid" in state or "exit" in state):
                version, data = worker.handle()
                return pb.FindResponse(handle=status_pb2.Handle(version=version, data=data))
            if not kept:
                raise Failure("NOT_FOUND", f"there is no worker {worker.id}")
            next(worker.follow(context), None)  # until it has started, or not
            if not context.is_active():
                raise Failure("UNAVAILABLE", "the host does not wait any more")

    def Output(self, request, context):
        worker = Worker.of(request.handle)
        if worker.state() is None:
            raise Failure("NOT_FOUND", "the output of the worker is gone")
        changes = worker.follow(context) if request.follow else iter(())
        next(changes, None)  # from here on nothing is missed
        with log.Reader(worker.directory) as reader:
            records = list(reader.more())
            if request.HasField("tail"):
                records = log.tail(records, request.tail, MARKS.get(request.stream))
            yield from pieces(request, records, reader.dropped)
            for _ in changes:
                yield from pieces(request, reader.more())
            if request.follow:
                yield from pieces(request, reader.more())


def pieces(request, records, dropped=0):
    """Messages with the records that were asked for."""
    since = request.since.ToNanoseconds() / 1e9 if request.HasField("since") else 0
    answer = pb.OutputResponse()
    for record in records:
        stream = STREAMS[record.stream]
        if record.time < since or request.stream not in ("", stream):
            continue
        answer.pieces.add(
            time=moment(record.time), stream=stream, data=record.data, partial=not record.whole, dropped=dropped)
        dropped = 0
        if len(answer.pieces) == BATCH:
            yield answer
            answer = pb.OutputResponse()
    if answer.pieces:
        yield answer


def priority(reason, value):
    """A priority, from settings, where it is a number, or from an option."""
    try:
        nice = int(value)
    except (TypeError, ValueError):
        nice = -1
    if not 0 <= nice <= 19:
        raise Failure(reason, f"nice is '{value}', it has to be a number from 0 to 19")
    return nice


def kill_request(options):
    return {
        "kill": number_of(options.signal or "SIGTERM"), "main": options.mode == pb.KILL_MODE_MAIN,
        "grace": max(0, options.grace.ToNanoseconds() / 1e9), "force": options.force, "detach": options.detach,
    }


def status(worker):
    """Return the status of a worker. A worker that has ended is not an error."""
    state, kept = worker.look()
    out = status_pb2.WorkerStatus()
    state = state or {}
    if "started" in state:
        out.started.CopyFrom(moment(state["started"]))
    if "exit" in state:
        out.state = status_pb2.STATE_EXITED
        end = state["exit"]
        out.exit.code, out.exit.signal, out.exit.cause = end["code"], end["signal"], end["cause"]
        out.exit.time.CopyFrom(moment(end["time"]))
    elif kept:
        out.state, out.pid = status_pb2.STATE_RUNNING, state.get("pid", 0)
    else:
        out.state, out.reason = status_pb2.STATE_LOST, "its shim is gone"
        for pid, name in worker.orphans():
            out.survivors.add(pid=pid, name=name)
    return out


def batch(items):
    if len(items) > MAX_BATCH:
        raise Failure("INVALID_SPEC", f"{len(items)} workers in one call, at most {MAX_BATCH}")
    return items


def statuses(worker, context):
    """How a worker is now, and at its end: it is never started again."""
    yield (now := status(worker))
    if now.state == status_pb2.STATE_RUNNING:
        for _ in worker.follow(context):
            pass
        yield status(worker)


def together(call, items):
    """Calls for all items at the same time, and yields their answers as they come."""
    answers = queue.SimpleQueue()

    def run(index, item):
        try:
            for answer in call(index, item):
                answers.put(answer)
        finally:
            answers.put(None)

    for index, item in enumerate(items):
        threading.Thread(target=run, args=(index, item), daemon=True).start()
    for _ in items:
        yield from iter(answers.get, None)


def moment(seconds):
    stamp = Timestamp()
    stamp.FromMicroseconds(round(seconds * 1e6))
    return stamp
