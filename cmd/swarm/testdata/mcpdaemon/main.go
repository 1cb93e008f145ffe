// Mcpdaemon stands in for clients that serve several sessions from one background
// process, as interactive Codex does: each client gets an MCP server that the
// daemon starts, with the environment and below the processes of the daemon.
//
//	mcpdaemon session SOCKET          start the daemon as a child in a session of its own, and stay
//	mcpdaemon daemon SOCKET           the same, but leave once it listens
//	mcpdaemon app-server --listen S   be the daemon, in this session
//	mcpdaemon connect SOCKET          pass stdin and stdout to an MCP server of the daemon
//	mcpdaemon run SOCKET COMMAND      have the daemon run a shell command; its output, its exit code
//	mcpdaemon stop SOCKET             end the daemon
//
// The servers get the arguments in MCP_ARGS.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			os.Exit(exit.ExitCode())
		}
		os.Exit(2)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: mcpdaemon MODE SOCKET")
	}
	socket := args[len(args)-1]
	switch args[0] {
	case "session":
		daemon, err := start(socket)
		if err != nil {
			return err
		}
		return daemon.Wait()
	case "daemon":
		_, err := start(socket)
		return err
	case "app-server":
		return serve(socket)
	case "connect":
		return connect(socket, "mcp", os.Stdin, os.Stdout)
	case "run":
		return connect(args[1], "run "+args[2], strings.NewReader(""), os.Stdout)
	case "stop":
		return connect(socket, "stop", strings.NewReader(""), io.Discard)
	}
	return errors.New("unknown mode " + args[0])
}

// start starts the daemon, and returns once it listens. Its name is not that of a known
// one.
func start(socket string) (*exec.Cmd, error) {
	daemon := exec.Command(os.Args[0], "app-server", socket)
	daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	listens, err := daemon.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := daemon.Start(); err != nil {
		return nil, err
	}
	_, err = bufio.NewReader(listens).ReadString('\n')
	return daemon, err
}

func serve(socket string) error {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Println("listening")
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		from := bufio.NewReader(conn)
		request, err := from.ReadString('\n')
		if err != nil {
			return err
		}
		request = strings.TrimSpace(request)
		if request == "stop" {
			_ = l.Close() // the socket is gone before the answer
			return conn.Close()
		}
		go func() {
			defer conn.Close()
			if command, ok := strings.CutPrefix(request, "run "); ok {
				out, err := exec.Command("sh", "-c", command).CombinedOutput()
				fmt.Fprintf(conn, "%s%v\n", out, err)
				return
			}
			server := exec.Command("swarm", append([]string{"mcp", "--tools", "shells,workers,teams"}, strings.Fields(os.Getenv("MCP_ARGS"))...)...)
			server.Stdin, server.Stdout, server.Stderr = from, conn, os.Stderr
			_ = server.Run() // the client sees it
		}()
	}
}

// connect sends a request, then in, and copies the answer to out.
func connect(socket, request string, in io.Reader, out io.Writer) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := fmt.Fprintln(conn, request); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(conn, in)
		_ = conn.(*net.UnixConn).CloseWrite()
	}()
	_, err = io.Copy(out, conn)
	return err
}
