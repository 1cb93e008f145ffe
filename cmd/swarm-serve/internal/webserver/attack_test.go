package webserver_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// certificate makes a certificate for localhost, signed by itself, and returns its files.
func (w *world) certificate() (cert, key string, pool *x509.CertPool) {
	w.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		w.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "swarm"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"*.example.org", "localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		w.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		w.Fatal(err)
	}
	write := func(name, kind string, data []byte) string {
		path := filepath.Join(w.dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
			w.Fatal(err)
		}
		return path
	}
	pool = x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		w.Fatal(err)
	}
	pool.AddCert(parsed)
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", secret), pool
}

// TestCertificate: with a certificate the server listens for other machines, and speaks
// nothing but encrypted HTTP, version 2 too.
func TestCertificate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.swarm("spawn", "--name", "one", "--", "sleep", "1012")
	cert, key, pool := w.certificate()
	s := w.web("--listen", "0.0.0.0:0", "--cert", cert, "--key", key)
	if !strings.HasPrefix(s.base, "https://localhost:") {
		t.Fatalf("the address is %s", s.address)
	}
	s.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	defer s.CloseIdleConnections()
	base, err := url.Parse(s.base)
	if err != nil {
		t.Fatal(err)
	}
	once := &http.Client{Transport: s.Transport, Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := once.Get(s.address)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if cookies := answer.Cookies(); len(cookies) != 1 || !cookies[0].Secure || cookies[0].SameSite != http.SameSiteStrictMode {
		t.Errorf("the cookies are %v", cookies)
	}
	s.Jar.SetCookies(base, answer.Cookies())
	if code, body := s.get("/"); code != http.StatusOK || !strings.Contains(body, ">one<") {
		t.Errorf("%d\n%s", code, body)
	}
	plain := *base
	plain.Scheme = "http"
	// Streams share one connection.
	for range 20 {
		stream, err := s.Get(s.base + "/live")
		if err != nil || stream.StatusCode != http.StatusOK || stream.ProtoMajor != 2 {
			t.Fatalf("a stream: %v, %v", stream, err)
		}
		defer func() { _ = stream.Body.Close() }()
		if _, err := io.ReadFull(stream.Body, make([]byte, 1)); err != nil {
			t.Error(err)
		}
	}
	for name, address := range map[string]string{"unencrypted": plain.String(), "another name": "https://127.0.0.1.nip.example:" + base.Port()} {
		client := &http.Client{Timeout: patience, Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "localhost"},
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:"+base.Port())
			},
		}}
		answer, err := client.Get(address)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_ = answer.Body.Close()
		client.CloseIdleConnections()
		if answer.StatusCode < 400 {
			t.Errorf("%s: %s", name, answer.Status)
		}
	}
}

// TestStaleToken: what an earlier server gave is worth nothing at a later one of the same
// address.
func TestStaleToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := filepath.Join(w.dir, "web.sock")
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}, DisableKeepAlives: true}
	first := w.web("--socket", path)
	first.Transport = transport
	if code, _ := first.get(""); code != http.StatusOK {
		t.Fatalf("%d", code)
	}
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.cmd.Wait()
	second := w.web("--socket", path)
	second.Transport = transport
	for _, s := range []*server{first, second} { // with the old cookie, and without one
		if code, _ := s.get("/"); code != http.StatusUnauthorized {
			t.Errorf("without the new token: %d", code)
		}
		if code, _ := s.fetch(first.address); code != http.StatusUnauthorized {
			t.Errorf("with the old token: %d", code)
		}
	}
}

// TestManyStreams: a program with the address that opens 1,000 streams gets some of them.
// Others can still look, and all are free again once it is gone.
func TestManyStreams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.swarm("spawn", "--name", "one", "--", "sleep", "1013")
	s := w.web()
	s.get("")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	codes := make(chan int, 1000)
	var opening sync.WaitGroup
	greedy := &http.Client{Jar: s.Jar, Transport: &http.Transport{}}
	for range cap(codes) {
		opening.Go(func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/worker/one/live?tab=log", nil)
			if err != nil {
				t.Error(err)
				return
			}
			answer, err := greedy.Do(req)
			if err != nil {
				codes <- 0 // its connection was needed for another one
				return
			}
			codes <- answer.StatusCode
			if answer.StatusCode == http.StatusOK {
				<-ctx.Done()
			}
			_ = answer.Body.Close()
		})
	}
	got := map[int]int{}
	for range cap(codes) {
		select {
		case code := <-codes:
			got[code]++
		case <-time.After(patience):
			t.Fatalf("only these were answered: %v", got)
		}
	}
	if got[http.StatusOK] == 0 || got[http.StatusOK] > 100 || got[http.StatusOK]+got[http.StatusServiceUnavailable]+got[0] != cap(codes) {
		t.Errorf("the answers: %v", got)
	}
	if code, _ := s.get("/"); code != http.StatusOK {
		t.Errorf("another look: %d", code)
	}
	cancel()
	opening.Wait()
	greedy.CloseIdleConnections()
	w.until("streams are free again", func() bool {
		stream, err := s.Get(s.base + "/live")
		if err != nil {
			return false
		}
		defer func() { _ = stream.Body.Close() }()
		return stream.StatusCode == http.StatusOK
	})
	if runtime.GOOS != "linux" {
		return // no other system lists the open files of a process as files
	}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if len(fds) > 300 {
		t.Errorf("%d files are open", len(fds))
	}
}
