package wire

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	contractErrors = "../../../swarm/errors.go"
	protocol       = "../../../proto/swarm/plugin/v1/plugin.proto"
)

// TestEverySentinelHasARow reads the contract, so that no error can be added to it that does
// not cross the wire.
func TestEverySentinelHasARow(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), contractErrors, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]bool{}
	for _, row := range table {
		texts[row.err.Error()] = true
	}
	sentinels := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Err") {
			return true
		}
		sentinels++
		text := spec.Values[0].(*ast.CallExpr).Args[0].(*ast.BasicLit).Value
		if !texts[strings.Trim(text, `"`)] {
			t.Errorf("swarm.%s has no row in the table", spec.Names[0].Name)
		}
		return true
	})
	// The other two rows are those of package context.
	if want := len(table) - 2; sentinels != want || sentinels == 0 {
		t.Errorf("%d sentinels in %s, %d rows for them", sentinels, contractErrors, want)
	}
}

// TestTableIsInTheProtocol keeps what authors in other languages read.
func TestTableIsInTheProtocol(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(protocol)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range table {
		name, ok := map[codes.Code]string{
			codes.InvalidArgument: "INVALID_ARGUMENT", codes.Aborted: "ABORTED", codes.NotFound: "NOT_FOUND",
			codes.AlreadyExists: "ALREADY_EXISTS", codes.FailedPrecondition: "FAILED_PRECONDITION",
			codes.Unimplemented: "UNIMPLEMENTED", codes.PermissionDenied: "PERMISSION_DENIED",
			codes.Unavailable: "UNAVAILABLE", codes.Canceled: "CANCELLED", codes.DeadlineExceeded: "DEADLINE_EXCEEDED",
		}[row.code]
		if line := fmt.Sprintf("//   %-17s %s\n", row.reason, name); !ok || !strings.Contains(string(text), line) {
			t.Errorf("%s has no line %q", protocol, line)
		}
	}
}

func TestErrorsCross(t *testing.T) {
	t.Parallel()
	several := fmt.Errorf("%w: socket: %w", swarm.ErrUnavailable, swarm.ErrPermission)
	texts := []string{"plain", "two\nlines", "50% 'quoted' \"\\", "ünïcode 世界", strings.Repeat("long ", 100_000)}
	var errs []error
	for _, text := range texts {
		errs = append(errs, errors.New(text))
	}
	for _, row := range table {
		errs = append(errs, row.err, fmt.Errorf("worker 'w': %w: more", row.err))
	}
	errs = append(errs, several, errors.Join(swarm.ErrSurvivors, context.DeadlineExceeded))
	for _, sent := range errs {
		for way, got := range map[string]error{
			"result": FromError(Error(sent)),
			"call":   FromStatus(t.Context(), Status(sent)),
		} {
			if got.Error() != sent.Error() {
				t.Errorf("%s: sent %.80q, got %.80q", way, sent, got)
			}
			for _, row := range table {
				if errors.Is(got, row.err) != errors.Is(sent, row.err) {
					t.Errorf("%s: %.80q: errors.Is %q is %v", way, sent, row.err, errors.Is(got, row.err))
				}
			}
		}
	}
	if FromError(Error(nil)) != nil || FromStatus(t.Context(), Status(nil)) != nil {
		t.Error("no error became one")
	}
}

func TestErrorsOfOtherPeers(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context //nolint:containedctx // a row of a table
		err  error
		is   error
		text string
	}{
		{"code alone", t.Context(), status.Error(codes.NotFound, "no such job"), swarm.ErrNotFound, "no such job"},
		{"shared code", t.Context(), status.Error(codes.InvalidArgument, "bad"), swarm.ErrInvalidSpec, "bad"},
		{"unknown code", t.Context(), status.Error(codes.Code(77), "odd"), nil, "odd"},
		{"unknown method", t.Context(), status.Error(codes.Unimplemented, "unknown method Find for service x"), swarm.ErrUnsupported, swarm.ErrUnsupported.Error()},
		{"transport", t.Context(), status.Error(codes.Unavailable, "error reading from server: EOF"), ErrGone, ErrGone.Error()},
		{"closed here", t.Context(), status.Error(codes.Canceled, "grpc: the client connection is closing"), ErrGone, ErrGone.Error()},
		{"cancelled here", ended, status.Error(codes.Canceled, "context canceled"), context.Canceled, "context canceled"},
		{"gone while cancelled", ended, status.Error(codes.Unavailable, "EOF"), context.Canceled, "context canceled"},
		{"late", t.Context(), status.Error(codes.DeadlineExceeded, "context deadline exceeded"), context.DeadlineExceeded, "context deadline exceeded"},
		{"new reason", t.Context(), FromError(&pb.Error{Message: "m", Reasons: []string{"NEW", "EXISTS"}}), swarm.ErrExists, "m"},
		{"no text", t.Context(), FromError(&pb.Error{Reasons: []string{"EXISTS"}}), swarm.ErrExists, swarm.ErrExists.Error()},
		{"nothing", t.Context(), FromError(&pb.Error{}), nil, "the plugin failed without saying why"},
		{"not UTF-8", t.Context(), FromError(Error(errors.New("a\xffb"))), nil, "a\uFFFDb"},
	} {
		got := FromStatus(c.ctx, c.err)
		if got.Error() != c.text || c.is != nil && !errors.Is(got, c.is) {
			t.Errorf("%s: got %q, want %q that is %v", c.name, got, c.text, c.is)
		}
		if strings.Contains(got.Error(), "rpc error") {
			t.Errorf("%s: a user would see %q", c.name, got)
		}
	}
}
