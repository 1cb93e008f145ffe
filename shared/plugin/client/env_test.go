package client

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCleanEnv(t *testing.T) {
	t.Parallel()
	in := []string{
		"PATH=/bin", "PLUGIN_MIN_PORT=1", "PLUGIN_MAX_PORT=2", "PLUGIN_PROTOCOL_VERSIONS=1", "PLUGIN_CLIENT_CERT=c",
		"PLUGIN_MULTIPLEX_GRPC=", "PLUGIN_UNIX_SOCKET_DIR=/tmp", "PLUGIN_UNIX_SOCKET_GROUP=g", "SWARM_PLUGIN=x",
		"SWARM_SHIM=k", "SWARM_TOKEN=t", "SWARM_PLUGIN_DEATH_FD=3",
		"PLUGIN_DIR=mine", "PLUGIN=mine", "SWARM_DIR=/d", "SWARM_WORKER=w", "SWARM_PLUGIN_OTHER=o", "odd", "=C:=x", "PATH=/usr/bin",
	}
	want := []string{
		"PATH=/bin", "PLUGIN_DIR=mine", "PLUGIN=mine", "SWARM_DIR=/d", "SWARM_WORKER=w", "SWARM_PLUGIN_OTHER=o", "odd", "=C:=x", "PATH=/usr/bin",
	}
	before := append([]string(nil), in...)
	if diff := cmp.Diff(want, CleanEnv(in)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, in); diff != "" {
		t.Errorf("the argument was changed:\n%s", diff)
	}
	if CleanEnv(nil) != nil {
		t.Error("nothing became something")
	}
}
