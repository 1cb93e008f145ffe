package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/sleep"
)

// The SDK serves subscriptions/listen for resources. It does not know tasks, and drops
// their ids from the request. So the connection moves them, and the id of the request, to a
// place that the SDK does not touch; and it adds the accepted tasks to the SDK's
// acknowledgement.
const (
	listenMethod = "subscriptions/listen"
	ackMethod    = "notifications/subscriptions/acknowledged"
	taskMethod   = "notifications/tasks"
	listenKey    = "swarm/listen"
)

type taskSubscription struct {
	ID      json.RawMessage `json:"id"`
	TaskIDs []string        `json:"taskIds"`
}

// keepTasks puts the tasks of a subscription into its metadata. It does not change a
// malformed request.
func keepTasks(r *jsonrpc.Request) {
	var params, wanted, meta map[string]json.RawMessage
	var l taskSubscription
	if json.Unmarshal(r.Params, &params) != nil || json.Unmarshal(params["notifications"], &wanted) != nil ||
		json.Unmarshal(wanted["taskIds"], &l.TaskIDs) != nil || l.TaskIDs == nil ||
		json.Unmarshal(params["_meta"], &meta) != nil || meta == nil {
		return
	}
	var err error
	if l.ID, err = json.Marshal(r.ID.Raw()); err != nil {
		return
	}
	kept, err := json.Marshal(l)
	if err != nil {
		return
	}
	meta[listenKey] = kept
	if params["_meta"], err = json.Marshal(meta); err != nil {
		return
	}
	if all, err := json.Marshal(params); err == nil {
		r.Params = all
	}
}

// acks are the tasks that were agreed on in subscriptions which the SDK has not
// acknowledged yet: values are an ack, by the JSON of the requests' ids.
type acks struct{ pending sync.Map }

type ack struct {
	taskIDs []string
	// sent is called once the acknowledgement was sent.
	sent func()
}

func keyOf(id json.RawMessage) string {
	var value any
	if json.Unmarshal(id, &value) != nil {
		return ""
	}
	key, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(key)
}

func (a *acks) amend(r *jsonrpc.Request) (sent func()) {
	var params, agreed, meta map[string]json.RawMessage
	if json.Unmarshal(r.Params, &params) != nil || json.Unmarshal(params["_meta"], &meta) != nil {
		return nil
	}
	pending, ok := a.pending.LoadAndDelete(keyOf(meta[sdk.MetaKeySubscriptionID]))
	if !ok {
		return nil
	}
	one := pending.(ack)
	if json.Unmarshal(params["notifications"], &agreed) != nil || agreed == nil {
		agreed = make(map[string]json.RawMessage)
	}
	var err error
	if agreed["taskIds"], err = json.Marshal(one.taskIDs); err == nil {
		params["notifications"], err = json.Marshal(agreed)
	}
	if all, aerr := json.Marshal(params); err == nil && aerr == nil {
		r.Params = all
	}
	return one.sent
}

// listen serves subscriptions to tasks, next to those that the SDK serves.
func (s *server) listen(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		params, ok := r.GetParams().(*sdk.SubscriptionsListenParams)
		if !ok || params == nil || params.Meta[listenKey] == nil {
			return next(ctx, method, r)
		}
		l, err := listeningOf(params)
		if err != nil {
			return nil, err
		}
		if !declaresTasks(params.Meta) {
			return nil, undeclared()
		}
		agreed := []string{}
		for _, id := range l.TaskIDs {
			_, err := s.taskWorker(ctx, id)
			switch {
			case err == nil:
				agreed = append(agreed, id)
			case !errors.Is(err, errNoTask):
				return nil, err
			}
		}
		// The acknowledgement comes first.
		acknowledged := make(chan struct{})
		var following sync.WaitGroup
		defer following.Wait()
		subscribed, stop := context.WithCancel(ctx)
		defer stop()
		for _, id := range agreed {
			following.Go(func() {
				defer s.caught("the notice about task "+id, nil)
				select {
				case <-acknowledged:
					s.followTask(subscribed, id, l.ID)
				case <-subscribed.Done():
				}
			})
		}
		key := keyOf(l.ID)
		s.conn.acks.pending.Store(key, ack{taskIDs: agreed, sent: func() { close(acknowledged) }})
		defer s.conn.acks.pending.Delete(key)
		result, err := next(ctx, method, r)
		if err == nil && len(agreed) > 0 {
			<-ctx.Done() // the SDK returns at once if it has no resources to serve
		}
		return result, err
	}
}

func listeningOf(params *sdk.SubscriptionsListenParams) (l taskSubscription, err error) {
	raw, err := json.Marshal(params.Meta[listenKey])
	if err == nil {
		err = json.Unmarshal(raw, &l)
	}
	delete(params.Meta, listenKey)
	return l, err
}

// followTask notifies the client of the end of a task, once.
func (s *server) followTask(ctx context.Context, id string, subscription json.RawMessage) {
	for ctx.Err() == nil {
		err := s.awaitTask(ctx, id)
		var t *task
		if err == nil {
			t, err = s.task(ctx, id)
		}
		if err == nil && t.Status == taskWorking {
			continue
		}
		if err == nil {
			t.Meta = sdk.Meta{sdk.MetaKeySubscriptionID: subscription}
			err = s.conn.notify(ctx, taskMethod, t)
		}
		if err == nil || errors.Is(err, errNoTask) {
			return
		}
		s.Logger.Warn("a task can't be followed", "task", id, "error", err)
		_ = sleep.For(ctx, followAgain)
	}
}

func (s *server) awaitTask(ctx context.Context, id string) error {
	h, err := s.Open(ctx)
	if err != nil {
		return err
	}
	w, err := s.workerOfTask(ctx, h, id)
	if err == nil && !w.Gone() {
		err = h.Wait(ctx, worker.Selection{Names: []string{w.ID}}, func(worker.Worker) {})
	}
	return errors.Join(err, h.Close())
}
