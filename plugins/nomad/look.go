package nomad

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"
)

// sight holds the workers of a place as Nomad knows them at one moment.
type sight struct {
	// allocs are by the name of their group, which is the worker's id.
	allocs map[string]*api.AllocationListStub
	// jobs are by their name.
	jobs map[string]*api.JobListStub
	// index is the index of allocs, to wait for a later one.
	index uint64
	// asked is a time at which this was true, or before it.
	asked time.Time
}

// look takes a sight of a place, or of one job, with one query each for jobs and
// allocations. It waits for a change after the index, unless that is 0.
func (b *Backend) look(ctx context.Context, at place, job string, index uint64) (sight, error) {
	s := sight{allocs: make(map[string]*api.AllocationListStub), jobs: make(map[string]*api.JobListStub)}
	allocs := fmt.Sprintf("JobID matches %q", "^"+jobPrefix)
	if job != "" {
		allocs = fmt.Sprintf("JobID == %q", job)
	}
	q := b.query(ctx, at)
	q.Filter, q.WaitIndex, q.WaitTime = allocs, index, longPoll
	var jobsErr error
	var asking sync.WaitGroup
	askJobs := func() { jobsErr = b.lookAtJobs(ctx, at, job, s.jobs) }
	if index == 0 {
		asking.Go(askJobs)
	}
	stubs, meta, err := b.client.Allocations().List(q)
	if index != 0 {
		askJobs() // as they are after the change
	}
	asking.Wait()
	if err := cmp.Or(err, jobsErr); err != nil {
		return sight{}, b.tell(ctx, "list the workers", err)
	}
	s.index = meta.LastIndex
	for _, a := range stubs {
		if prev := s.allocs[a.TaskGroup]; prev == nil || better(a, prev) {
			s.allocs[a.TaskGroup] = a
		}
	}
	return s, nil
}

func (b *Backend) lookAtJobs(ctx context.Context, at place, job string, into map[string]*api.JobListStub) error {
	q := b.query(ctx, at)
	q.Prefix = cmp.Or(job, jobPrefix)
	jobs, _, err := b.client.Jobs().ListOptions(&api.JobListOptions{Fields: &api.JobListFields{Meta: true}}, q)
	for _, j := range jobs {
		into[j.ID] = j
	}
	return err
}

// better reports whether allocation a describes a worker better than b. Two exist only if
// an old Nomad replaced the allocation of a lost node.
func better(a, b *api.AllocationListStub) bool {
	if over := ended(b); ended(a) != over {
		return over
	}
	return a.CreateIndex > b.CreateIndex
}

// ended reports that the task will never run again.
func ended(a *api.AllocationListStub) bool {
	switch a.ClientStatus {
	case api.AllocClientStatusComplete, api.AllocClientStatusFailed, api.AllocClientStatusLost:
		return true
	default:
		return false
	}
}

func (b *Backend) query(ctx context.Context, at place) *api.QueryOptions {
	return (&api.QueryOptions{Region: at.Region, Namespace: at.Namespace, Params: map[string]string{}}).WithContext(ctx)
}

func (b *Backend) write(ctx context.Context, at place) *api.WriteOptions {
	return (&api.WriteOptions{Region: at.Region, Namespace: at.Namespace}).WithContext(ctx)
}
