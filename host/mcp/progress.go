package mcp

import (
	"context"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// progress returns what tells the client how a call of it goes on, if it asked for
// that, and what ends this: nothing may follow the answer.
func progress(ctx context.Context, r *sdk.CallToolRequest) (tell func(text string, done, total float64), hush func()) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return nil, func() {}
	}
	var mu sync.Mutex
	last, over := -1.0, false
	tell = func(text string, done, total float64) {
		mu.Lock()
		defer mu.Unlock()
		if total > 0 {
			done = min(done, total)
		}
		// The protocol demands that each has more progress than the one before.
		if over || done <= last {
			return
		}
		last = done
		// A client that misses it still gets the answer.
		_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token, Message: text, Progress: done, Total: total,
		})
	}
	return tell, func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
	}
}
