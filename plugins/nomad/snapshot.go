package nomad

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"
)

// snapshot holds the workers of a place as Nomad knows them at one moment.
type snapshot struct {
	// allocs are by the name of their group, which is the worker's id. A worker is its first
	// allocation; seconds are those that Nomad has made since and that may run.
	allocs  map[string]*api.AllocationListStub
	seconds map[string][]*api.AllocationListStub
	// jobs are by their name.
	jobs map[string]*api.JobListStub
	// index is the index of allocs, to wait for a later one.
	index uint64
	// asked is a time at which this was true, or before it.
	asked time.Time
}

// look takes a snapshot of a place, or of one job, with one query each for jobs and
// allocations. It waits for a change after the index, unless that is 0.
func (b *Backend) look(ctx context.Context, at place, job string, index uint64) (snapshot, error) {
	s := snapshot{allocs: make(map[string]*api.AllocationListStub), jobs: make(map[string]*api.JobListStub)}
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
		return snapshot{}, b.explain(ctx, "list the workers", err)
	}
	s.index = meta.LastIndex
	s.take(stubs)
	b.keepSingle(ctx, at, s)
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

func (s *snapshot) take(stubs []*api.AllocationListStub) {
	for _, a := range stubs {
		if first := s.allocs[a.TaskGroup]; first == nil || a.CreateIndex < first.CreateIndex {
			s.allocs[a.TaskGroup] = a
		}
	}
	s.seconds = make(map[string][]*api.AllocationListStub)
	for _, a := range stubs {
		if a != s.allocs[a.TaskGroup] && a.DesiredStatus == api.AllocDesiredStatusRun && !ended(a) {
			s.seconds[a.TaskGroup] = append(s.seconds[a.TaskGroup], a)
		}
	}
}

// keepSingle has every worker run once: Nomad makes a second allocation for a worker whose node
// was drained or lost, or that had to make space. It stops the second allocation, or the job
// before there is one.
func (b *Backend) keepSingle(ctx context.Context, at place, s snapshot) {
	for _, j := range s.jobs {
		id := j.Meta[metaID]
		first, seconds := s.allocs[id], s.seconds[id]
		if id == "" || first == nil || first.JobID != j.ID || j.Stop {
			continue
		}
		if lives := first.DesiredStatus == api.AllocDesiredStatusRun && first.ClientStatus == api.AllocClientStatusRunning; lives {
			for _, a := range seconds {
				_, err := b.client.Allocations().Stop(&api.Allocation{ID: a.ID}, b.query(ctx, at))
				b.warnIf(err, "a second allocation was not stopped", id)
			}
			continue
		}
		if len(seconds) > 0 || replaceable(first) && j.Status != jobDead {
			err := b.deregister(ctx, ref{place: at, Job: j.ID}, false)
			b.warnIf(err, "the job of a worker that has ended was not stopped", id)
		}
	}
}

func (b *Backend) warnIf(err error, text, worker string) {
	if err != nil {
		b.log.Warn(text, "worker", worker, "error", err)
	}
}

// replaceable reports whether Nomad would start a worker again whose first allocation is this
// one: it has stopped the allocation, or has lost its node.
func replaceable(first *api.AllocationListStub) bool {
	return first.DesiredStatus != api.AllocDesiredStatusRun || first.ClientStatus == api.AllocClientStatusLost
}

// jobDead is the status of a job without allocations that run or may be made.
const jobDead = "dead"

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
