package wire

import (
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Spec converts a spec.
func Spec(s swarm.Spec) *pb.SpawnRequest {
	return &pb.SpawnRequest{
		Id:          text(s.ID),
		Name:        text(s.Name),
		Command:     byteses(s.Command),
		Dir:         []byte(s.Dir),
		Env:         byteses(s.Env),
		Tags:        texts(s.Tags),
		Options:     textMap(s.Options),
		Kill:        KillOptions(s.Kill),
		OutputLimit: s.OutputLimit,
		Local:       local(s.Local),
	}
}

// FromSpec converts back.
func FromSpec(s *pb.SpawnRequest) swarm.Spec {
	return swarm.Spec{
		ID:          s.GetId(),
		Name:        s.GetName(),
		Command:     strs(s.GetCommand()),
		Dir:         string(s.GetDir()),
		Env:         strs(s.GetEnv()),
		Tags:        texts(s.GetTags()),
		Options:     textMap(s.GetOptions()),
		Kill:        FromKillOptions(s.GetKill()),
		OutputLimit: s.GetOutputLimit(),
		Local:       fromLocal(s.GetLocal()),
	}
}

func local(l *swarm.Local) *pb.Local {
	if l == nil {
		return nil
	}
	return &pb.Local{
		RunDir:   []byte(l.RunDir),
		StateDir: []byte(l.StateDir),
		Shim:     []byte(l.Shim),
		HostEnv:  byteses(l.HostEnv),
	}
}

func fromLocal(l *pb.Local) *swarm.Local {
	if l == nil {
		return nil
	}
	return &swarm.Local{
		RunDir:   string(l.GetRunDir()),
		StateDir: string(l.GetStateDir()),
		Shim:     string(l.GetShim()),
		HostEnv:  strs(l.GetHostEnv()),
	}
}

// Lookup converts a lookup.
func Lookup(l swarm.Lookup) *pb.FindRequest {
	return &pb.FindRequest{
		Id:      text(l.ID),
		Name:    text(l.Name),
		Options: textMap(l.Options),
		Local:   local(l.Local),
	}
}

// FromLookup converts back.
func FromLookup(l *pb.FindRequest) swarm.Lookup {
	return swarm.Lookup{
		ID:      l.GetId(),
		Name:    l.GetName(),
		Options: textMap(l.GetOptions()),
		Local:   fromLocal(l.GetLocal()),
	}
}

// KillOptions converts kill options.
func KillOptions(o swarm.KillOptions) *pb.KillOptions {
	out := &pb.KillOptions{Signal: text(o.Signal), Force: o.Force, Detach: o.Detach}
	if o.Grace != 0 {
		out.Grace = durationpb.New(o.Grace)
	}
	if o.Mode == swarm.KillMain {
		out.Mode = pb.KillMode_KILL_MODE_MAIN
	}
	return out
}

// FromKillOptions converts back.
func FromKillOptions(o *pb.KillOptions) swarm.KillOptions {
	out := swarm.KillOptions{Signal: o.GetSignal(), Force: o.GetForce(), Detach: o.GetDetach()}
	if o.GetGrace() != nil {
		out.Grace = o.GetGrace().AsDuration()
	}
	if o.GetMode() == pb.KillMode_KILL_MODE_MAIN {
		out.Mode = swarm.KillMain
	}
	return out
}
