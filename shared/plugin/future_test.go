package plugin_test

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/rpc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// future makes a peer one of a later release: every message that it sends, and every
// message in it, has fields that this release does not know.
type future struct {
	mu    sync.Mutex
	calls []string // whose messages had any
}

// touch adds a number and a text to a message, and to all that it holds.
func touch(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap() && f.MapValue().Message() != nil:
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool { touch(v.Message()); return true })
		case f.IsMap() || f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				touch(v.List().Get(i).Message())
			}
		default:
			touch(v.Message())
		}
		return true
	})
	unknown := protowire.AppendVarint(protowire.AppendTag(nil, 900, protowire.VarintType), 1<<40)
	unknown = protowire.AppendString(protowire.AppendTag(unknown, 901, protowire.BytesType), "from the future")
	m.SetUnknown(append(m.GetUnknown(), unknown...))
}

// sent is notified of every message before it goes out. The message is a copy: the value
// may belong to the caller.
func (f *future) sent(method string, m any) any {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, method)
	c := proto.Clone(m.(proto.Message))
	touch(c.ProtoReflect())
	return c
}

func (f *future) unaryClient(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return invoke(ctx, method, f.sent(method, req), reply, cc, opts...)
}

func (f *future) streamClient(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := streamer(ctx, desc, cc, method, opts...)
	return clientStream{s, f, method}, err
}

func (f *future) unaryServer(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	resp, err := handle(ctx, req)
	if err != nil {
		return nil, err
	}
	return f.sent(info.FullMethod, resp), nil
}

func (f *future) streamServer(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	return handle(srv, serverStream{s, f, info.FullMethod})
}

type clientStream struct {
	grpc.ClientStream
	future *future
	method string
}

func (s clientStream) SendMsg(m any) error { return s.ClientStream.SendMsg(s.future.sent(s.method, m)) }

type serverStream struct {
	grpc.ServerStream
	future *future
	method string
}

func (s serverStream) SendMsg(m any) error { return s.ServerStream.SendMsg(s.future.sent(s.method, m)) }

// saw checks that no call of a service was forgotten.
func (f *future) saw(t *testing.T, service grpc.ServiceDesc) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	var methods []string
	for _, m := range service.Methods {
		methods = append(methods, m.MethodName)
	}
	for _, s := range service.Streams {
		methods = append(methods, s.StreamName)
	}
	for _, m := range methods {
		if full := "/" + service.ServiceName + "/" + m; !slices.Contains(f.calls, full) {
			t.Errorf("no message of %s was from the future: call it in this test", full)
		}
	}
}

// pair connects a host with a plugin. Whichever is from the future has a value.
func pair(t *testing.T, host, theirs *future, register func(g *grpc.Server)) *grpc.ClientConn {
	t.Helper()
	var serve []grpc.ServerOption
	dial := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	if theirs != nil {
		serve = append(serve, grpc.UnaryInterceptor(theirs.unaryServer), grpc.StreamInterceptor(theirs.streamServer))
	}
	if host != nil {
		dial = append(dial, grpc.WithUnaryInterceptor(host.unaryClient), grpc.WithStreamInterceptor(host.streamClient))
	}
	g := grpc.NewServer(serve...)
	register(g)
	listener := bufconn.Listen(1 << 20)
	var serving sync.WaitGroup
	serving.Go(func() { _ = g.Serve(listener) })
	t.Cleanup(func() { g.Stop(); serving.Wait() })
	dial = append(dial, grpc.WithContextDialer(
		func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	conn, err := grpc.NewClient("passthrough:///plugin", dial...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// serve serves a backend or a workspace by the SDK.
func serve(t *testing.T, kind pb.Kind, value any) func(g *grpc.Server) {
	return func(g *grpc.Server) {
		s := rpc.New(rpc.Plugin{
			Name: "test", Kind: kind, Local: true, Logger: slog.New(slog.DiscardHandler),
			New: func(context.Context, []byte) (any, error) { return value, nil },
		})
		s.Register(g)
		t.Cleanup(func() { s.Shutdown(0) })
	}
}

func connect(t *testing.T, conn *grpc.ClientConn) *client.Client {
	t.Helper()
	c, err := client.Connect(t.Context(), conn, client.ConfigFollows)
	if err == nil {
		err = c.Configure(t.Context(), []byte("{}"))
	}
	if err == nil {
		err = c.Check(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if v := c.Info().Contract; v != swarm.ContractVersion {
		t.Errorf("contract %d", v)
	}
	return c
}

// reasonsOf returns what a status says of its error.
func reasonsOf(t *testing.T, err error) []string {
	t.Helper()
	for _, d := range status.Convert(err).Details() {
		if e, ok := d.(*pb.Error); ok {
			return e.GetReasons()
		}
	}
	return nil
}
