package main

import "net"

// listen is a server for those who only want to know that there is one.
func listen(dir, port string) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		fail(err.Error())
	}
	ready(dir, "pid")
	for {
		c, err := l.Accept()
		if err != nil {
			fail(err.Error())
		}
		_ = c.Close()
	}
}
