package mcp

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/shared/wake"
)

// lastAnswers is how long calls may continue after the end of the input: a client that
// pipes requests into the server and closes the pipe still wants the answers. Clients that
// want none close the input too, and send SIGTERM if the server is not gone two seconds later.
const lastAnswers = 10 * time.Second

// conn is the connection with a client over two pipes. Unlike the one in the SDK it
// continues after an invalid line, and withholds answers that the client no longer waits
// for.
type conn struct {
	received <-chan received
	// closed is closed by Close, ended when Read has returned an error: nothing more
	// comes from the client.
	closed, ended chan struct{}
	close         sync.Once
	// answered gets a value when something was answered.
	answered chan struct{}

	mu sync.Mutex
	// open are the requests that are not answered yet.
	open map[jsonrpc.ID]openRequest
	// greeted says that the first request was answered.
	greeted bool

	writing sync.Mutex
	out     io.Writer

	acks acks
}

type openRequest struct {
	cancelled bool
	// listens says that it is answered only when it is cancelled.
	listens bool
}

func newConn(in io.Reader, out io.Writer) *conn {
	closed := make(chan struct{})
	return &conn{
		received: lines(in, closed),
		closed:   closed,
		ended:    make(chan struct{}),
		answered: make(chan struct{}, 1),
		open:     make(map[jsonrpc.ID]openRequest),
		out:      out,
	}
}

// Connect makes conn its own [sdk.Transport].
func (c *conn) Connect(context.Context) (sdk.Connection, error) { return c, nil }

// SessionID is empty: there is one session.
func (c *conn) SessionID() string { return "" }

// Read returns the next message, and [io.EOF] at the end. It is not called again after
// that.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.next(ctx)
	if err != nil {
		close(c.ended)
	}
	return message, err
}

func (c *conn) next(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case r, ok := <-c.received:
			if !ok {
				c.finish()
				return nil, io.EOF
			}
			message, err := decode(r)
			if err == nil {
				c.note(message)
				return message, nil
			}
			if err := c.write(refuse(r.text, r.long, err)); err != nil {
				return nil, err
			}
		}
	}
}

func decode(r received) (jsonrpc.Message, error) {
	if r.long {
		return nil, io.ErrShortBuffer
	}
	return jsonrpc.DecodeMessage(r.text)
}

func (c *conn) note(message jsonrpc.Message) {
	request, ok := message.(*jsonrpc.Request)
	if !ok {
		return
	}
	if request.Method == listenMethod {
		keepTasks(request)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if request.IsCall() {
		c.open[request.ID] = openRequest{listens: request.Method == listenMethod}
		return
	}
	if request.Method != "notifications/cancelled" {
		return
	}
	var params sdk.CancelledParams
	if json.Unmarshal(request.Params, &params) != nil {
		return
	}
	id, err := jsonrpc.MakeID(params.RequestID)
	if r, open := c.open[id]; err == nil && open {
		r.cancelled = true
		c.open[id] = r
	}
}

// finish waits until everything is answered, for a limited time.
func (c *conn) finish() {
	limit := time.NewTimer(lastAnswers)
	defer limit.Stop()
	for c.waiting() {
		select {
		case <-c.answered:
		case <-limit.C:
			return
		case <-c.closed:
			return
		}
	}
}

func (c *conn) waiting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.open {
		if !r.cancelled && !r.listens {
			return true
		}
	}
	return false
}

func (c *conn) Write(ctx context.Context, message jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	response, ok := message.(*jsonrpc.Response)
	if ok && !c.wanted(response.ID) || !ok && !c.isGreeted() {
		return nil
	}
	sent := func() {}
	if notice, isNotice := message.(*jsonrpc.Request); isNotice && notice.Method == ackMethod {
		if f := c.acks.amend(notice); f != nil {
			sent = f
		}
	}
	text, err := encode(message)
	if err != nil {
		return err
	}
	err = c.write(append(text, '\n'))
	sent()
	if ok {
		c.settle(response.ID)
	}
	return err
}

func (c *conn) notify(ctx context.Context, method string, params any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return c.Write(ctx, &jsonrpc.Request{Method: method, Params: raw})
}

// encode returns a message as JSON. An answer that can't be encoded becomes an
// error: the SDK takes an error of Write for the end of the connection, and one bad
// answer must not end the session with all its shells.
func encode(message jsonrpc.Message) ([]byte, error) {
	text, err := jsonrpc.EncodeMessage(message)
	response, ok := message.(*jsonrpc.Response)
	if err == nil || !ok {
		return text, err
	}
	return jsonrpc.EncodeMessage(&jsonrpc.Response{
		ID:    response.ID,
		Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the answer can't be written as JSON"},
	})
}

// wanted reports whether the client waits for the answer to a request, and removes a
// cancelled request.
func (c *conn) wanted(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	cancelled := c.open[id].cancelled
	if cancelled {
		delete(c.open, id)
	}
	return !cancelled
}

// isGreeted reports whether the client may get notices: some give up if the first message
// is not the answer to their first request.
func (c *conn) isGreeted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.greeted
}

func (c *conn) settle(id jsonrpc.ID) {
	c.mu.Lock()
	delete(c.open, id)
	c.greeted = true
	c.mu.Unlock()
	wake.Up(c.answered)
}

// write writes a whole line at once: nothing else may come in between.
func (c *conn) write(line []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(line)
	return err
}

// Close makes Read return; requests that are under way are cancelled by that.
func (c *conn) Close() error {
	c.close.Do(func() { close(c.closed) })
	return nil
}
