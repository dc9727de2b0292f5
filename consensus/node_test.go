package consensus

import (
	"context"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"
)

// toxiproxy leaves goroutines of its own behind when it cuts a connection.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run"),
		goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2.(*ToxicLink).read"))
}

// testLogger is silent unless CAIRN_TEST_LOG is set.
func testLogger() *slog.Logger {
	if os.Getenv("CAIRN_TEST_LOG") == "" {
		return slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// testNode is one node with its state machine on one file system.
type testNode struct {
	t  testing.TB
	fs vfs.FS
	kv *kv
	*Group
}

// startNode opens a node; it is closed at the end of the test.
func startNode(t testing.TB, fs vfs.FS, change func(*Config)) *testNode {
	t.Helper()
	n, err := openNode(t, fs, change)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.close)
	return n
}

func openNode(t testing.TB, fs vfs.FS, change func(*Config)) (*testNode, error) {
	sm, err := openKV(fs, "state")
	if err != nil {
		t.Fatal(err)
	}
	sm.skipDedupe = testMutation() == mutationNoDedupe
	cfg := Config{
		Dir: "raft", PeerAddr: "127.0.0.1:0", BootstrapExpect: 1, PeerInsecure: true,
		Logger: testLogger(), HeartbeatTimeout: testHeartbeat, LeaseTimeout: testHeartbeat, fs: fs,
		OnFatal: func(err error) { panic(err) }, broken: testMutation(),
	}
	if change != nil {
		change(&cfg)
	}
	g, err := Open(context.Background(), cfg, sm)
	if err != nil {
		if cerr := sm.Close(); cerr != nil {
			t.Error(cerr)
		}
		return nil, err
	}
	return &testNode{t: t, fs: fs, kv: sm, Group: g}, nil
}

// close stops the node; more calls do nothing.
func (n *testNode) close() {
	if n.kv == nil {
		return
	}
	if err := n.Close(); err != nil {
		n.t.Errorf("close: %v", err)
	}
	if err := n.kv.Close(); err != nil {
		n.t.Errorf("close state: %v", err)
	}
	n.kv = nil
}

// do proposes c and fails the test on an error.
func (n *testNode) do(c kvCommand) Result {
	n.t.Helper()
	res, err := n.Propose(testContext(n.t), c.encode())
	if err != nil {
		n.t.Fatalf("propose %+v: %v", c, err)
	}
	return res
}

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}
