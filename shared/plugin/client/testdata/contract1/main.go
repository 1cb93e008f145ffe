// Command contract1 is a backend of version 1 of the contract. Package pb is a fixed copy of the
// generated code of then, and nothing else of swarm is compiled into the program: so it stands for a
// plugin that was built before the contract changed. Its workers have a shim.
//
// The arguments OLDEST NEWEST are the versions that it says it speaks, 1 and 1 without them.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/swarmhost/swarm/shared/plugin/client/testdata/contract1/pb"
)

func main() {
	s := &server{oldest: 1, newest: 1}
	if len(os.Args) == 3 {
		s.oldest, s.newest = number(os.Args[1]), number(os.Args[2])
	}
	go leaveWithHost()
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: 1, MagicCookieKey: "SWARM_PLUGIN", MagicCookieValue: "4a1f9d5e2c7b4d6f8e30b1c2a5d79f64",
		},
		Plugins:    goplugin.PluginSet{"swarm": wired{server: s}},
		GRPCServer: goplugin.DefaultGRPCServer,
	})
}

func number(text string) uint32 {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return uint32(n)
}

// leaveWithHost ends the program when its host is gone, which holds the other end of the pipe.
func leaveWithHost() {
	fd, err := strconv.Atoi(os.Getenv("SWARM_PLUGIN_DEATH_FD"))
	if err != nil {
		return
	}
	syscall.CloseOnExec(fd)
	_, _ = io.Copy(io.Discard, os.NewFile(uintptr(fd), "death"))
	os.Exit(0)
}

type wired struct {
	goplugin.NetRPCUnsupportedPlugin
	server *server
}

func (w wired) GRPCServer(_ *goplugin.GRPCBroker, g *grpc.Server) error {
	pb.RegisterPluginServer(g, w.server)
	pb.RegisterBackendServer(g, w.server)
	return nil
}

func (wired) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this is a plugin")
}

type server struct {
	pb.UnimplementedPluginServer
	pb.UnimplementedBackendServer
	oldest, newest uint32
	runDirs        string
}

func (s *server) Describe(_ context.Context, req *pb.DescribeRequest) (*pb.DescribeResponse, error) {
	s.runDirs = string(req.GetRunDirs())
	return &pb.DescribeResponse{
		Name: "first", Version: "1.0.0", Kind: pb.Kind_KIND_BACKEND, Local: true,
		ContractVersion: s.newest, OldestContractVersion: s.oldest,
		Capabilities: []string{"output", "watch", "batch-status", "find", "input"},
	}, nil
}

func (*server) Check(context.Context, *pb.CheckRequest) (*pb.CheckResponse, error) {
	return &pb.CheckResponse{}, nil
}

func (s *server) Spawn(ctx context.Context, req *pb.SpawnRequest) (*pb.SpawnResponse, error) {
	return one(ctx, s, "start", req, &pb.SpawnResponse{})
}

func (s *server) Status(ctx context.Context, req *pb.StatusRequest) (*pb.StatusResponse, error) {
	return one(ctx, s, "status", req, &pb.StatusResponse{})
}

func (s *server) Find(ctx context.Context, req *pb.FindRequest) (*pb.FindResponse, error) {
	return one(ctx, s, "find", req, &pb.FindResponse{})
}

func (s *server) Input(ctx context.Context, req *pb.InputRequest) (*pb.InputResponse, error) {
	return one(ctx, s, "send", req, &pb.InputResponse{})
}

func (s *server) Kill(req *pb.KillRequest, stream grpc.ServerStreamingServer[pb.KillResponse]) error {
	return s.answers(stream.Context(), "kill", req, func() proto.Message { return &pb.KillResponse{} }, stream.SendMsg)
}

func (s *server) Watch(req *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
	return s.answers(stream.Context(), "watch", req, func() proto.Message { return &pb.WatchResponse{} }, stream.SendMsg)
}

func (s *server) Output(req *pb.OutputRequest, stream grpc.ServerStreamingServer[pb.OutputResponse]) error {
	return s.answers(stream.Context(), "logs", req, func() proto.Message { return &pb.OutputResponse{} }, stream.SendMsg)
}

// one makes a call by a verb of swarm-shim that answers once.
func one[T proto.Message](ctx context.Context, s *server, verb string, req proto.Message, answer T) (T, error) {
	err := s.answers(ctx, verb, req, func() proto.Message { return answer }, func(any) error { return nil })
	return answer, err
}

// answers makes a call by a verb of swarm-shim, which prints one answer in a line.
func (s *server) answers(ctx context.Context, verb string, req proto.Message, empty func() proto.Message, send func(any) error) error {
	request, err := protojson.Marshal(req)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, os.Getenv("SWARM_SHIM_PROGRAM"), verb, "--request", "--run-dirs", s.runDirs)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdin = bytes.NewReader(request)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { _ = cmd.Wait() }() // its last line says whether it has failed
	defer func() { _ = out.Close() }()
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := failure(line); err != nil {
			return err
		}
		m := empty()
		if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(line, m); err != nil {
			return err
		}
		if err := send(m); err != nil {
			return err
		}
	}
}

// failure returns the error that a line holds; nil if it is an answer.
func failure(line []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil || len(fields) != 1 || fields["error"] == nil {
		return err
	}
	detail := &pb.Error{}
	if err := protojson.Unmarshal(fields["error"], detail); err != nil {
		return err
	}
	st, err := status.New(codes.Unknown, detail.GetMessage()).WithDetails(detail)
	if err != nil {
		return err
	}
	return st.Err()
}
