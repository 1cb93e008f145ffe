// Package calls makes single calls of a backend in this process, with the messages of the contract
// as JSON: what a server would do for a host, without a connection. It is for programs that authors
// without an SDK run instead of linking one.
//
// The JSON is the mapping that protobuf defines (https://protobuf.dev/programming-guides/json/), so
// that every language has a reader of it.
package calls

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/rpc"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Do makes one call of a local backend: method is a method of the service Backend in the .proto
// files, such as "Kill", and request its message as JSON. A field that the message does not have is
// [swarm.ErrInvalidSpec]. Each answer, on one line, is passed to each; a call without a stream of
// answers has one. The backend learns the run directories from ctx, see [swarm.WithRunDirs].
//
// As in a plugin, a panic of the backend is an error, and a Spawn that ctx ends leaves nothing.
func Do(ctx context.Context, name string, b swarm.Backend, method string, request []byte, each func(answer []byte) error) error {
	var r registrar
	rpc.New(rpc.Plugin{
		Name: name, Kind: pb.Kind_KIND_BACKEND, Local: true, Logger: slog.New(slog.DiscardHandler),
		New: func(context.Context, []byte) (any, error) { return b, nil },
	}).Register(&r)
	s := &stream{ctx: ctx, request: request, each: each}
	for _, m := range pb.Backend_ServiceDesc.Methods {
		if m.MethodName == method {
			answer, err := m.Handler(r.server, ctx, s.read, nil)
			if err == nil {
				err = s.SendMsg(answer)
			}
			return wire.FromStatus(ctx, err)
		}
	}
	for _, m := range pb.Backend_ServiceDesc.Streams {
		if m.StreamName == method {
			return wire.FromStatus(ctx, m.Handler(r.server, s))
		}
	}
	return fmt.Errorf("%w: %s", swarm.ErrUnsupported, method)
}

// Error returns the message Error of the contract for an error, as JSON on one line.
func Error(err error) []byte {
	b, encodeErr := encode(wire.Error(err))
	if encodeErr != nil {
		return []byte("{}") // no message of texts can't be encoded
	}
	return b
}

func encode(m proto.Message) ([]byte, error) {
	b, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	// The library puts blanks at places that differ from build to build.
	var line bytes.Buffer
	err = json.Compact(&line, b)
	return line.Bytes(), err
}

// registrar takes the service Backend of a server.
type registrar struct{ server any }

// RegisterService implements [grpc.ServiceRegistrar].
func (r *registrar) RegisterService(d *grpc.ServiceDesc, server any) {
	if d.ServiceName == pb.Backend_ServiceDesc.ServiceName {
		r.server = server
	}
}

// stream is the stream of a call that no connection carries.
type stream struct {
	ctx     context.Context //nolint:containedctx // a stream of gRPC has the context of its call
	request []byte
	each    func([]byte) error
}

// read reads the request.
func (s *stream) read(m any) error {
	if err := protojson.Unmarshal(s.request, m.(proto.Message)); err != nil {
		return wire.Status(fmt.Errorf("%w: the request: %w", swarm.ErrInvalidSpec, err))
	}
	return nil
}

// RecvMsg implements [grpc.ServerStream]. There is one request.
func (s *stream) RecvMsg(m any) error {
	if s.request == nil {
		return io.EOF
	}
	err := s.read(m)
	s.request = nil
	return err
}

// SendMsg implements [grpc.ServerStream].
func (s *stream) SendMsg(m any) error {
	b, err := encode(m.(proto.Message))
	if err != nil {
		return err
	}
	return s.each(b)
}

// Context implements [grpc.ServerStream].
func (s *stream) Context() context.Context { return s.ctx }

// SetHeader implements [grpc.ServerStream].
func (*stream) SetHeader(metadata.MD) error { return nil }

// SendHeader implements [grpc.ServerStream].
func (*stream) SendHeader(metadata.MD) error { return nil }

// SetTrailer implements [grpc.ServerStream].
func (*stream) SetTrailer(metadata.MD) {}
