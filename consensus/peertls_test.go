package consensus

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func issue(t *testing.T, dir, name string) PeerFiles {
	t.Helper()
	files, err := IssuePeerCert(dir, name)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestClusterOverTLS(t *testing.T) {
	dir := t.TempDir()
	if err := InitPeerCA(dir); err != nil {
		t.Fatal(err)
	}
	names := []string{"a", "b", "c"}
	c := newCluster(t, 3, func(i int, cfg *Config) {
		cfg.PeerInsecure = false
		cfg.PeerTLS = PeerFiles{CA: filepath.Join(dir, CAFile), Cert: filepath.Join(dir, names[i]+".crt"), Key: filepath.Join(dir, names[i]+".key")}
		if _, err := os.Stat(cfg.PeerTLS.Cert); err != nil {
			issue(t, dir, names[i])
		}
	})
	c.incs(c.follower(), 5)
	c.equalStates()
	c.refuses(t, "a stranger without a certificate", nil)
	other := t.TempDir()
	if err := InitPeerCA(other); err != nil {
		t.Fatal(err)
	}
	foreign, err := openPeerTLS(issue(t, other, "x"), testLogger())
	if err != nil {
		t.Fatal(err)
	}
	c.refuses(t, "another authority", foreign)
}

// refuses checks that node 0 answers nothing to a peer with these credentials.
func (c *cluster) refuses(t *testing.T, who string, secure *peerTLS) {
	t.Helper()
	m := &peerMux{id: "01ARZ3NDEKTSV4RRFFQ69G5FAV", tls: secure}
	conn, err := m.dial(testContext(t), kindCalls, c.addrs[0])
	if err != nil {
		return
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, _ = conn.Write([]byte{0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1, methodTerm})
	if n, err := conn.Read(make([]byte, 1)); err == nil && secure != nil {
		t.Errorf("%s got an answer of %d bytes", who, n)
	} else if ne, ok := err.(net.Error); ok && ne.Timeout() {
		t.Errorf("%s was left waiting", who)
	}
}

func TestPeerCertificateReload(t *testing.T) {
	dir := t.TempDir()
	if err := InitPeerCA(dir); err != nil {
		t.Fatal(err)
	}
	files := issue(t, dir, "a")
	p, err := openPeerTLS(files, testLogger())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	first := p.current(now)
	replace := func(path string, data []byte, changed time.Time) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, changed, changed); err != nil {
			t.Fatal(err)
		}
	}
	replace(files.Cert, []byte("garbage"), now.Add(time.Hour))
	if p.current(now.Add(2*reloadInterval)) != first {
		t.Error("an unusable certificate was taken")
	}
	fresh := issue(t, dir, "b")
	for from, to := range map[string]string{fresh.Cert: files.Cert, fresh.Key: files.Key} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		replace(to, data, now.Add(2*time.Hour))
	}
	second := p.current(now.Add(4 * reloadInterval))
	if second == first || second.Certificates[0].Leaf.Subject.CommonName != "b" {
		t.Error("the new certificate was not taken")
	}
}

func TestPeerCAKeepsWhatExists(t *testing.T) {
	dir := t.TempDir()
	if err := InitPeerCA(dir); err != nil {
		t.Fatal(err)
	}
	if err := InitPeerCA(dir); err == nil {
		t.Error("the authority was replaced")
	}
	issue(t, dir, "node-1")
	for _, name := range []string{"node-1", "ca", "", "../x", "a/b", ".x"} {
		if _, err := IssuePeerCert(dir, name); err == nil {
			t.Errorf("name %q was accepted", name)
		}
	}
	info, err := os.Stat(filepath.Join(dir, CAKeyFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v, %v", info.Mode(), err)
	}
	if _, err := openPeerTLS(PeerFiles{CA: filepath.Join(dir, CAFile), Cert: filepath.Join(dir, CAFile), Key: filepath.Join(dir, CAKeyFile)}, testLogger()); err == nil {
		t.Error("the authority's own certificate was taken for a node's")
	}
}

// TestLoneNodeAnswersNobody starts a node with neither files nor PeerInsecure.
func TestLoneNodeAnswersNobody(t *testing.T) {
	c := newCluster(t, 1, func(_ int, cfg *Config) {
		cfg.PeerInsecure, cfg.Join = false, nil
	})
	c.incs(c.leader(), 1)
	c.refuses(t, "a stranger without a certificate", nil)
	stranger, err := openPeerTLS(PeerFiles{}, testLogger())
	if err != nil {
		t.Fatal(err)
	}
	c.refuses(t, "a stranger with a certificate", stranger)
}
