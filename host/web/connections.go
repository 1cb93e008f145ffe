package web

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"

	"github.com/swarmhost/swarm/shared/accept"
)

// bounded is a listener with a limited number of open connections. If all places are
// taken, a new connection takes the place of the one that has been without a request of the
// person's browser for the longest time. So a program that opens many connections locks
// no person out.
type bounded struct {
	net.Listener
	mu   sync.Mutex
	open map[*placed]struct{}
	// failed gets errors of Accept that pass; it may be nil.
	failed func(error)
	// places has a value for each connection that is open.
	places chan struct{}
}

type placed struct {
	net.Conn
	of   *bounded
	once sync.Once
	// requests is how many of the person's requests it has, and since when it has had none.
	// of.mu guards both.
	requests int
	idle     time.Time
}

func newBounded(l net.Listener, most int) *bounded {
	return &bounded{Listener: l, open: map[*placed]struct{}{}, places: make(chan struct{}, most)}
}

// Accept waits for a connection, and then for its place.
func (b *bounded) Accept() (net.Conn, error) {
	c, err := accept.Next(b.Listener, b.failed)
	if err != nil {
		return nil, err
	}
	select {
	case b.places <- struct{}{}:
	default:
		b.evict()
		b.places <- struct{}{}
	}
	p := &placed{Conn: c, of: b, idle: time.Now()}
	b.mu.Lock()
	b.open[p] = struct{}{}
	b.mu.Unlock()
	return p, nil
}

// evict closes the connection that has been idle for the longest time, if one is.
func (b *bounded) evict() {
	b.mu.Lock()
	var oldest *placed
	for p := range b.open {
		if p.requests == 0 && (oldest == nil || p.idle.Before(oldest.idle)) {
			oldest = p
		}
	}
	b.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
}

type placeKey struct{}

func withPlace(ctx context.Context, c net.Conn) context.Context {
	if encrypted, ok := c.(*tls.Conn); ok {
		c = encrypted.NetConn()
	}
	return context.WithValue(ctx, placeKey{}, c)
}

// hold keeps the place of a request's connection until done is called.
func hold(ctx context.Context) (done func()) {
	p, ok := ctx.Value(placeKey{}).(*placed)
	if !ok {
		return func() {}
	}
	count := func(n int) {
		p.of.mu.Lock()
		defer p.of.mu.Unlock()
		p.requests += n
		p.idle = time.Now()
	}
	count(1)
	return func() { count(-1) }
}

// Close gives the place back.
func (p *placed) Close() error {
	p.once.Do(func() {
		p.of.mu.Lock()
		delete(p.of.open, p)
		p.of.mu.Unlock()
		<-p.of.places
	})
	return p.Conn.Close()
}
