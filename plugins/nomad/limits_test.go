package nomad

import (
	"errors"
	"testing"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

func TestResources(t *testing.T) {
	t.Parallel()
	c := Defaults()
	r, err := c.resources(swarm.Limits{})
	if err != nil || *r.CPU != c.CPU || *r.MemoryMB != c.Memory || r.Cores != nil {
		t.Errorf("without limits: %+v, %v", r, err)
	}
	if _, err := c.resources(swarm.Limits{Memory: 1 << 30}); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("memory with raw_exec: %v", err)
	}
	c.Driver = "exec"
	if r, err = c.resources(swarm.Limits{Memory: 1<<30 + 1, CPUs: 2}); err != nil || *r.MemoryMB != 1025 || *r.Cores != 2 || r.CPU != nil {
		t.Errorf("with limits: %+v, %v", r, err)
	}
	if _, err := c.resources(swarm.Limits{CPUs: 1.5}); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("a part of a CPU: %v", err)
	}
}

// TestOutOfMemory reads the end of a task that was killed for want of memory, as Nomad reports.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	end := func(details map[string]string) *api.TaskState {
		return &api.TaskState{Events: []*api.TaskEvent{{Type: api.TaskTerminated, Details: details}}}
	}
	run := &api.AllocationListStub{DesiredStatus: api.AllocDesiredStatusRun}
	if e := exitOf(run, end(map[string]string{"exit_code": "137", "oom_killed": "true"})); e.Cause != swarm.CauseOutOfMemory || e.Code != 137 {
		t.Errorf("%+v", e)
	}
	if e := exitOf(run, end(map[string]string{"exit_code": "3", "oom_killed": "true"})); e.Cause != swarm.CauseExited || e.Reason != "out of memory" {
		t.Errorf("the main process ended by itself: %+v", e)
	}
}
