package tool

import (
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/kill"
)

// progressEvery is the time between two reports of progress.
const progressEvery = time.Second

// killProgress reports to env.Progress how long the kill of one worker has taken. No report
// follows after stop has returned.
func killProgress(env Env, name string) (event func(kill.Event), stop func()) {
	if env.Progress == nil {
		return nil, func() {}
	}
	began, quit, done := make(chan kill.Event, 1), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case e := <-began:
			reportWait(env, name, e, quit)
		case <-quit:
		}
	}()
	event = func(e kill.Event) {
		if e.Done {
			return
		}
		select {
		case began <- e:
		default: // a second attempt is the same wait
		}
	}
	return event, func() {
		close(quit)
		<-done
	}
}

func reportWait(env Env, name string, e kill.Event, quit <-chan struct{}) {
	start, total := e.Deadline.Add(-e.Grace), e.Grace.Seconds()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	env.Progress(fmt.Sprintf("waiting for %s to end", name), 0, total)
	for {
		select {
		case <-quit:
			return
		case now := <-tick.C:
			text := fmt.Sprintf("waiting for %s to end", name)
			if now.After(e.Deadline) {
				text = fmt.Sprintf("%s did not end in time", name)
			}
			env.Progress(text, now.Sub(start).Round(time.Millisecond).Seconds(), total)
		}
	}
}
