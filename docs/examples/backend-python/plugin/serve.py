"""What every plugin does, whatever it is for: the handshake, the service Plugin, and
to leave when the host is gone. docs/protocol.md of swarm describes it."""

import concurrent.futures
import functools
import json
import os
import signal
import sys
import tempfile
import threading

import grpc
from errors import Failure, abort
from swarm.plugin.v1 import backend_pb2, plugin_pb2, status_pb2

CONTRACT = 1
COOKIE = "4a1f9d5e2c7b4d6f8e30b1c2a5d79f64"
MAX_MESSAGE = 64 << 20


class Plugin:
    """The service Plugin. The backend is made once its settings are known."""

    def __init__(self, name, version, make):
        self.name, self.version, self.make = name, version, make
        self.lock = threading.Lock()
        self.made = None  # the backend, or the Failure to make it
        self.run_dirs = ""  # where the run directories are now, from Describe

    def backend(self, settings=None):
        with self.lock:
            if self.made is None:
                try:
                    self.made = self.make(settings or {}, self.run_dirs)
                except Failure as failure:
                    self.made = failure
        if isinstance(self.made, Failure):
            raise self.made
        return self.made

    def capabilities(self):
        try:
            return self.backend().capabilities
        except Failure:
            return []  # Describe answers even then; the calls say why

    def Describe(self, request, context):
        self.run_dirs = os.fsdecode(request.run_dirs)
        return plugin_pb2.DescribeResponse(
            name=self.name, version=self.version, kind=plugin_pb2.KIND_BACKEND,
            contract_version=CONTRACT, local=True,
            capabilities=[] if request.config_follows else self.capabilities(),
            settings=json.dumps(self.make.SETTINGS).encode(),
            options=json.dumps(self.make.OPTIONS).encode(),
        )

    def Configure(self, request, context):
        return plugin_pb2.ConfigureResponse(
            capabilities=self.backend(json.loads(request.json)).capabilities)

    def Check(self, request, context):
        self.backend()
        return plugin_pb2.CheckResponse()


def unary(call):
    """Turns a Failure of a call into what gRPC sends."""

    @functools.wraps(call)
    def wrapped(request, context):
        try:
            return call(request, context)
        except Failure as failure:
            abort(context, failure)

    return wrapped


def stream(call):
    @functools.wraps(call)
    def wrapped(request, context):
        try:
            yield from call(request, context)
        except Failure as failure:
            abort(context, failure)

    return wrapped


def handlers(file, service, target):
    """Serves the calls of a service that the target has. gRPC itself answers the
    others with UNIMPLEMENTED, which a host reads as: not supported."""
    messages = vars(status_pb2) | vars(file)
    methods = {}
    for method in file.DESCRIPTOR.services_by_name[service].methods:
        call = target(method.name)
        if call is None:
            continue
        wrap, handler = (
            (stream, grpc.unary_stream_rpc_method_handler) if method.server_streaming
            else (unary, grpc.unary_unary_rpc_method_handler))
        methods[method.name] = handler(
            wrap(call),
            request_deserializer=messages[method.input_type.name].FromString,
            response_serializer=messages[method.output_type.name].SerializeToString,
        )
    return grpc.method_handlers_generic_handler("swarm.plugin.v1." + service, methods)


def raw(service, method, answer):
    """Serves a call of go-plugin's own, whose messages are empty or constant."""
    return grpc.method_handlers_generic_handler(
        service, {method: grpc.unary_unary_rpc_method_handler(lambda request, context: answer())})


def serve(name, version, make):
    if os.environ.get("SWARM_PLUGIN") != COOKIE:
        sys.exit(f"This is the plugin '{name}' of swarm. It is started by swarm: see 'swarm plugin list'.")
    if os.environ.get("PLUGIN_CLIENT_CERT"):
        sys.exit(f"The plugin '{name}' can't encrypt its connection: take mtls out of its config.")
    leaving = threading.Event()
    death = os.environ.get("SWARM_PLUGIN_DEATH_FD")
    if death:
        threading.Thread(target=await_death, args=(int(death), leaving), daemon=True).start()
    # A Ctrl-C goes to the whole foreground group; the host decides what it means.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: leaving.set())

    def shutdown():
        leaving.set()
        return b""

    plugin = Plugin(name, version, make)
    server = grpc.server(
        concurrent.futures.ThreadPoolExecutor(max_workers=512),
        options=[("grpc.max_receive_message_length", MAX_MESSAGE), ("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((
        handlers(plugin_pb2, "Plugin", lambda method: getattr(plugin, method)),
        handlers(backend_pb2, "Backend", lambda method: backend_call(plugin, make, method)),
        raw("plugin.GRPCController", "Shutdown", shutdown),
        raw("grpc.health.v1.Health", "Check", lambda: b"\x08\x01"),  # serving
    ))
    folder = os.environ.get("PLUGIN_UNIX_SOCKET_DIR") or tempfile.gettempdir()
    path = os.path.join(folder, f"plugin-{os.getpid()}.sock")
    server.add_insecure_port("unix:" + path)
    server.start()
    # go-plugin's version, the plugin's version, where, and how. Nothing else may
    # ever be written to the standard output.
    print(f"1|1|unix|{path}|grpc", flush=True)

    leaving.wait()
    server.stop(0.1)
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    os._exit(0)  # whatever a call still does


def backend_call(plugin, make, method):
    """A call of the backend, which is made when the first one comes."""
    if not hasattr(make, method):
        return None
    return lambda request, context: getattr(plugin.backend(), method)(request, context)


def await_death(fd, leaving):
    """Returns when the host is gone: only it holds the other end of the pipe."""
    os.set_inheritable(fd, False)
    try:
        while os.read(fd, 1):
            pass
    except OSError:
        return  # it is no pipe of a host
    leaving.set()
