package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"cairn/node/api"
	"cairn/web/client"
)

// TestMain makes this binary the `cairn` of the scripts.
func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){"cairn": main})
}

type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	code := l.m.Run()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// TestScripts runs the built command end to end: servers in processes of their own, requests over the wire.
//
//	up DATA [flag...]                      start a server; sets CAIRN_ADDR, CAIRN_KEY (admin; stays as it is on a node that
//	                                       joins), PEER, and ADDR_DATA, PEER_DATA, NODE_DATA
//	launch DATA [flag...]                  start a server and wait only until it listens; sets CAIRN_ADDR
//	ready DATA                             wait until a server that was launched is ready; sets what up sets
//	crash DATA                             kill -9
//	down DATA                              ask it to end; it must end with code 0
//	ended DATA                             wait until it has ended by itself, with code 1
//	healthy N                              wait until the node at hand sees N healthy nodes, none behind; sets LEADER
//	spoil FILE CUT FLIPPED                 copies of a file: without its last byte, and with one bit turned in the middle
//	http STATUS METHOD PATH [option...] [BODY]
//	                                       send a request, expect a status, print the body; headers go to stderr
//	                                       -key KEY, -nokey, -H 'Name: value', -file FILE, -gen KIND, -raw
//	value VAR PATH                         set VAR from the JSON printed last: a.0.b
//	hammer N DATA FILE                     write from four clients, kill -9 after N acknowledged writes, list them in FILE
//	during FILE ARGUMENT...                run cairn with arguments while four clients write; list the writes in FILE
//	kept before|after FILE                 check that what was acknowledged before, or sent after, is there, once
//	rows N FILE                            write recorded attempts at N tasks
//	killing DATA N ARGUMENT...             run cairn with arguments and kill -9 a server once N trajectories are recorded
//	counts                                 wait until no work is left, print what was recorded and made of it
//	acked FILE                             check that every write of FILE is there, once
//	jury KEY KEY...                        jurors succeed with what is on trial until a promotion waits
//	cursors FILE...                        print the cursors of the feed events in files
//	[!] embedder VAR                       start an embedding service and set VAR to its URL; ! stops it
//	last FILE                              set LAST to the cursor of the last feed event in a file
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			s := &servers{running: map[string]*exec.Cmd{}}
			e.Values["servers"] = s
			e.Defer(s.killAll)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"up": cmdUp, "crash": cmdCrash, "down": cmdDown, "http": cmdHTTP, "value": cmdValue,
			"hammer": cmdHammer, "acked": cmdAcked, "rows": cmdRows, "killing": cmdKilling, "counts": cmdCounts, "during": cmdDuring, "kept": cmdKept, "cursors": cmdCursors, "last": cmdLast,
			"jury": cmdJury, "launch": cmdLaunch, "ready": cmdReady, "ended": cmdEnded, "spoil": cmdSpoil, "healthy": cmdHealthy,
			"embedder": cmdEmbedder,
		},
	})
}

// servers are the processes of one script, by data folder.
type servers struct {
	running  map[string]*exec.Cmd
	embedder *httptest.Server
}

func (s *servers) killAll() {
	for name := range s.running {
		_ = s.end(name, syscall.SIGKILL)
	}
}

// end signals a server and waits for its process to be gone.
func (s *servers) end(name string, sig syscall.Signal) error {
	cmd, ok := s.running[name]
	if !ok {
		return fmt.Errorf("no server in %s", name)
	}
	delete(s.running, name)
	if err := cmd.Process.Signal(sig); err != nil {
		return err
	}
	return cmd.Wait()
}

func serversOf(ts *testscript.TestScript) *servers { return ts.Value("servers").(*servers) }

func cmdUp(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: up DATA [flag...]")
	}
	launch(ts, args)
	cmdReady(ts, neg, args[:1])
}

func cmdLaunch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: launch DATA [flag...]")
	}
	log := ts.MkAbs(args[0] + ".log")
	ts.Check(os.RemoveAll(log))
	launch(ts, args)
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		text, err := os.ReadFile(log)
		ts.Check(err)
		if m := listening.FindSubmatch(text); m != nil {
			ts.Setenv("CAIRN_ADDR", string(m[1]))
			return
		}
		select {
		case <-tick.C:
		case <-limit.C:
			ts.Fatalf("the server does not listen; its log:\n%s", text)
		}
	}
}

// listening is how a server's log says where it answers.
var listening = regexp.MustCompile(`msg=listening api=(\S+)`)

// launch starts a server with its log beside its data folder.
func launch(ts *testscript.TestScript, args []string) {
	ts.Check(os.RemoveAll(ts.MkAbs(args[0] + ".ready")))
	log, err := os.OpenFile(ts.MkAbs(args[0]+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	ts.Check(err)
	defer log.Close()
	cmd := exec.Command(findCairn(ts), append([]string{"serve", "--data", ts.MkAbs(args[0]), "--api", "127.0.0.1:0",
		"--peer", "127.0.0.1:0", "--ready-file", ts.MkAbs(args[0] + ".ready")}, args[1:]...)...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	cmd.Stdout, cmd.Stderr = log, log
	ts.Check(cmd.Start())
	serversOf(ts).running[args[0]] = cmd
}

func cmdReady(ts *testscript.TestScript, _ bool, args []string) {
	r, err := awaitReady(ts.MkAbs(args[0] + ".ready"))
	if err != nil {
		text, _ := os.ReadFile(ts.MkAbs(args[0] + ".log"))
		ts.Fatalf("%v; its log:\n%s", err, text)
	}
	if r.AdminKeyFile != nil {
		key, err := os.ReadFile(*r.AdminKeyFile)
		ts.Check(err)
		ts.Setenv("CAIRN_KEY", strings.TrimSpace(string(key)))
	}
	ts.Setenv("CAIRN_ADDR", r.URL)
	ts.Setenv("PEER", r.Peer)
	for name, value := range map[string]string{"ADDR": r.URL, "PEER": r.Peer, "NODE": r.Node} {
		ts.Setenv(name+"_"+args[0], value)
	}
}

// findCairn is the command that the scripts' PATH has.
func findCairn(ts *testscript.TestScript) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		path := filepath.Join(dir, "cairn")
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path
		}
	}
	ts.Fatalf("no cairn in PATH")
	return ""
}

func awaitReady(path string) (ready, error) {
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if text, err := os.ReadFile(path); err == nil {
			var r ready
			return r, json.Unmarshal(text, &r)
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return ready{}, errors.New("the server did not become ready")
		}
	}
}

func cmdCrash(ts *testscript.TestScript, _ bool, args []string) {
	err := serversOf(ts).end(args[0], syscall.SIGKILL)
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		ts.Fatalf("crash: %v", err)
	}
}

func cmdDown(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(serversOf(ts).end(args[0], syscall.SIGTERM))
}

// cmdEnded waits for a server that ends by itself, with code 1.
func cmdEnded(ts *testscript.TestScript, _ bool, args []string) {
	s := serversOf(ts)
	cmd := s.running[args[0]]
	if cmd == nil {
		ts.Fatalf("no server in %s", args[0])
	}
	delete(s.running, args[0])
	limit := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer limit.Stop()
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitFailed {
		ts.Fatalf("%s ended with %v, want code %d", args[0], err, exitFailed)
	}
}

func cmdHealthy(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	c, err := client.New(ts.Getenv("CAIRN_ADDR"), ts.Getenv("CAIRN_KEY"))
	ts.Check(err)
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		cluster, err := c.Cluster(context.Background())
		ts.Check(err)
		good := 0
		for _, n := range cluster.Nodes {
			if n.Healthy && n.Lag == 0 && n.Role != "nonvoter" {
				good++
			}
		}
		if good == want && len(cluster.Nodes) == want && cluster.Leader != "" {
			ts.Setenv("LEADER", cluster.Leader)
			return
		}
		select {
		case <-tick.C:
		case <-limit.C:
			ts.Fatalf("the site is not healthy: %+v", cluster)
		}
	}
}

func cmdSpoil(ts *testscript.TestScript, _ bool, args []string) {
	data := []byte(ts.ReadFile(args[0]))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data[:len(data)-1], 0o600))
	data[len(data)/2] ^= 1
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), data, 0o600))
}

// request is a parsed `http` command.
type request struct {
	method, path, key string
	header            http.Header
	body              io.Reader
	raw               bool
}

func cmdHTTP(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: http STATUS METHOD PATH [option...] [BODY]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	r := parseRequest(ts, args[1:])
	status, header, body, err := r.send(ts.Getenv("CAIRN_ADDR"))
	ts.Check(err)
	for name, values := range header {
		fmt.Fprintf(ts.Stderr(), "%s: %s\n", name, strings.Join(values, ", "))
	}
	fmt.Fprintf(ts.Stdout(), "%s\n", body)
	if status != want {
		ts.Fatalf("%s %s: status %d, want %d\n%s", r.method, r.path, status, want, body)
	}
}

func parseRequest(ts *testscript.TestScript, args []string) request {
	r := request{method: args[0], path: args[1], key: ts.Getenv("CAIRN_KEY"), header: http.Header{}}
	for args = args[2:]; len(args) > 0; args = args[1:] {
		switch args[0] {
		case "-nokey":
			r.key = ""
			continue
		case "-raw":
			r.raw = true
			continue
		case "-key", "-H", "-file", "-gen":
			if len(args) < 2 {
				ts.Fatalf("%s needs a value", args[0])
			}
			r.option(ts, args[0], args[1])
			args = args[1:]
			continue
		}
		r.body = strings.NewReader(args[0])
	}
	return r
}

func (r *request) option(ts *testscript.TestScript, name, value string) {
	switch name {
	case "-key":
		r.key = value
	case "-H":
		k, v, _ := strings.Cut(value, ":")
		r.header.Add(k, strings.TrimSpace(v))
	case "-file":
		r.body = strings.NewReader(ts.ReadFile(value))
	case "-gen":
		r.body = generated(ts, value)
	}
}

// generated makes bodies that do not fit into a script.
func generated(ts *testscript.TestScript, kind string) io.Reader {
	switch kind {
	case "3mib":
		return strings.NewReader(`{"scenario":"s","content":"` + strings.Repeat("x", 3<<20) + `"}`)
	case "300steps":
		return strings.NewReader(`{"task":"t","attempts":[{"steps":[` + strings.Repeat(`{"tool":"a"},`, 299) + `{"tool":"a"}]}]}`)
	case "17attempts":
		return strings.NewReader(`{"task":"t","attempts":[` + strings.Repeat(`{"steps":[]},`, 16) + `{"steps":[]}]}`)
	case "badutf8":
		return bytes.NewReader([]byte("{\"scenario\":\"a\xff\",\"content\":\"c\"}"))
	}
	ts.Fatalf("unknown kind %s", kind)
	return nil
}

func (r *request) send(base string) (int, http.Header, []byte, error) {
	req, err := http.NewRequest(r.method, base, r.body)
	if err != nil {
		return 0, nil, nil, err
	}
	if r.raw {
		req.URL.Opaque = r.path
	} else if req.URL, err = url.Parse(base + r.path); err != nil {
		return 0, nil, nil, err
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.key != "" {
		req.Header.Set("Authorization", "Bearer "+r.key)
	}
	for name, v := range r.header {
		req.Header[name] = v
	}
	if host := r.header.Get("Host"); host != "" {
		req.Host = host
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, body, err
}

func cmdValue(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: value VAR PATH")
	}
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	for _, part := range strings.Split(args[1], ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[part]
		case []any:
			i, err := strconv.Atoi(part)
			ts.Check(err)
			if i >= len(x) {
				ts.Fatalf("value %s: only %d items", args[1], len(x))
			}
			v = x[i]
		default:
			v = nil
		}
	}
	if v == nil {
		ts.Fatalf("value %s: nothing there in\n%s", args[1], ts.ReadFile("stdout"))
	}
	ts.Setenv(args[0], fmt.Sprint(v))
}

func cmdCursors(ts *testscript.TestScript, _ bool, args []string) {
	for _, file := range args {
		for _, m := range feedEvents(ts, file) {
			fmt.Fprintln(ts.Stdout(), m.Cursor, m.Event, m.Experience)
		}
	}
}

func cmdLast(ts *testscript.TestScript, _ bool, args []string) {
	events := feedEvents(ts, args[0])
	if len(events) == 0 {
		ts.Fatalf("no event in %s", args[0])
	}
	ts.Setenv("LAST", events[len(events)-1].Cursor)
}

// feedEvents reads the events that `cairn feed --json` printed.
func feedEvents(ts *testscript.TestScript, file string) []api.FeedMessage {
	var out []api.FeedMessage
	for _, line := range strings.Split(strings.TrimSpace(ts.ReadFile(file)), "\n") {
		var m api.FeedMessage
		ts.Check(json.Unmarshal([]byte(line), &m))
		if m.Type == "event" {
			out = append(out, m)
		}
	}
	return out
}
