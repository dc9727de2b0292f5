package consensus

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"
)

// PeerFiles names the PEM files that secure the peer port.
type PeerFiles struct {
	// CA is the site's own authority, Cert this node's certificate and Key its
	// private key. They are read again when they change.
	CA, Cert, Key string
}

func (f PeerFiles) empty() bool { return f == PeerFiles{} }

func (f PeerFiles) complete() bool { return f.CA != "" && f.Cert != "" && f.Key != "" }

// peerServerName is in every peer certificate. Nodes are told apart by their
// ids, not by their addresses, which may change.
const peerServerName = "peer.cairn.internal"

// reloadInterval bounds how often the files are looked at.
const reloadInterval = time.Second

// peerTLS secures connections between nodes: both sides show a certificate of
// the site's authority.
type peerTLS struct {
	files PeerFiles
	log   *slog.Logger

	mu      sync.Mutex
	config  *tls.Config
	changed time.Time // newest modification time of the files in config
	looked  time.Time
}

// openPeerTLS loads the files, or makes a certificate that only this process
// knows when there are none.
func openPeerTLS(files PeerFiles, log *slog.Logger) (*peerTLS, error) {
	p := &peerTLS{files: files, log: log}
	var err error
	if files.empty() {
		p.config, err = ephemeralTLS()
	} else {
		p.config, err = loadPeerTLS(files)
		p.changed, p.looked = newestChange(files), time.Now()
	}
	if err != nil {
		return nil, fmt.Errorf("peer TLS: %w", err)
	}
	return p, nil
}

func loadPeerTLS(files PeerFiles) (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(files.CA)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s holds no certificate", files.CA)
	}
	if _, err := cert.Leaf.Verify(x509.VerifyOptions{
		Roots: pool, DNSName: peerServerName, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}); err != nil {
		return nil, fmt.Errorf("%s: %w", files.Cert, err)
	}
	return peerConfig(cert, pool), nil
}

func peerConfig(cert tls.Certificate, pool *x509.CertPool) *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{cert},
		ServerName:   peerServerName,
		RootCAs:      pool,
		ClientCAs:    pool,
		ClientAuth:   tls.RequireAndVerifyClientCert,
	}
}

// current is the configuration for a new connection. A change of the files
// that cannot be used is reported and the old one kept.
func (p *peerTLS) current(now time.Time) *tls.Config {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.files.empty() || now.Sub(p.looked) < reloadInterval {
		return p.config
	}
	p.looked = now
	changed := newestChange(p.files)
	if changed.Equal(p.changed) {
		return p.config
	}
	config, err := loadPeerTLS(p.files)
	if err != nil {
		p.log.Warn("peer certificate was changed but cannot be used", "error", err)
		return p.config
	}
	p.config, p.changed = config, changed
	p.log.Info("peer certificate reloaded")
	return p.config
}

// newestChange is the latest modification time of the files, zero when one is
// missing.
func newestChange(files PeerFiles) time.Time {
	var newest time.Time
	for _, path := range []string{files.CA, files.Cert, files.Key} {
		info, err := os.Stat(path)
		if errors.Is(err, os.ErrNotExist) {
			return time.Time{}
		}
		if err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return newest
}

func (p *peerTLS) server(c net.Conn) net.Conn { return tls.Server(c, p.current(time.Now())) }

func (p *peerTLS) client(c net.Conn) net.Conn { return tls.Client(c, p.current(time.Now())) }
