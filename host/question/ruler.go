package question

import (
	"cmp"
	"context"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/answers"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
)

type RulerOptions struct {
	// Rules returns the person's rules for a worker that belongs to such directories. It is
	// asked at each look at a question, so a change of the rules counts at once. An error means
	// that nothing may be answered. Nil: there are no rules.
	Rules func(directories []string) ([]answers.Rule, error)
	// Answer answers what the worker with that id asks. who is for the history.
	Answer func(ctx context.Context, id, who string, r deliver.Reply) error
	Logger hclog.Logger
}

// Ruler answers questions by the person's rules. Its methods may be called at the same time.
type Ruler struct {
	opts RulerOptions

	mu sync.Mutex
	// tried are the digests of the dialogs that an answer was given to and that are still there,
	// by the ids of the workers: they are a person's to answer.
	tried map[string]string
}

func NewRuler(o RulerOptions) *Ruler { return &Ruler{opts: o, tried: map[string]string{}} }

// Apply answers what the agents ask that are in these states, where a rule decides it. The
// dialog that was judged is the one that is answered, or none. A dialog that stays after that is
// not answered again. It returns when all answers have been given.
func (r *Ruler) Apply(ctx context.Context, recs []registry.Record, states map[string]*judgement.State) {
	if r.opts.Rules == nil {
		return
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range recs {
		rec := &recs[i]
		reply, who := r.reply(rec, states[rec.ID])
		if who == "" {
			continue
		}
		wg.Go(func() {
			if err := r.opts.Answer(ctx, rec.ID, who, reply); err != nil {
				r.opts.Logger.Debug("a rule did not answer", "worker", rec.Name, "error", err)
				return
			}
			r.forget(rec.ID, reply.Digest)
		})
	}
}

// Decide returns what the person's rules decide about a question; ok is false if they decide
// nothing.
func (r *Ruler) Decide(q answers.Question) (d answers.Decision, ok bool) {
	if r.opts.Rules == nil {
		return d, false
	}
	rules, err := r.opts.Rules(q.Projects)
	if err != nil {
		r.opts.Logger.Warn("rules for answers can't be read", "error", err)
		return d, false
	}
	return answers.Decide(rules, q)
}

// reply returns the answer to a question, and who gives it; empty: it is a person's to answer.
func (r *Ruler) reply(rec *registry.Record, s *judgement.State) (reply deliver.Reply, who string) {
	if s == nil || s.State != profile.Blocked || s.Dialog.Digest == "" {
		r.forget(rec.ID, "")
		return reply, ""
	}
	if r.isTried(rec.ID, s.Dialog.Digest) {
		return reply, ""
	}
	d, ok := r.Decide(Of(rec, s))
	if !ok {
		return reply, ""
	}
	c, ok := answers.Pick(d, s.Choices)
	if !ok {
		return reply, ""
	}
	r.begin(rec.ID, s.Dialog.Digest)
	return deliver.Reply{Choice: cmp.Or(c.Key, c.Label), Digest: s.Dialog.Digest}, d.Rule.Source
}

func (r *Ruler) isTried(id, digest string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tried[id] == digest
}

func (r *Ruler) begin(id, digest string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tried[id] = digest
}

// forget notes that a worker shows the dialog no more; empty: that it shows none.
func (r *Ruler) forget(id, digest string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if digest == "" || r.tried[id] == digest {
		delete(r.tried, id)
	}
}
