package consensus

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// Files that InitPeerCA and IssuePeerCert write. A node needs CAFile, its own
// certificate and its own key; CAKeyFile stays with the operator.
const (
	CAFile    = "ca.crt"
	CAKeyFile = "ca.key"
)

const (
	caLifetime   = 10 * 365 * 24 * time.Hour
	certLifetime = 2 * 365 * 24 * time.Hour
)

var nodeNamePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// InitPeerCA creates the authority of a site in dir: CAFile and CAKeyFile. It
// refuses to replace one.
func InitPeerCA(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("peer authority: %w", err)
	}
	ca, key, err := newCA(time.Now())
	if err != nil {
		return fmt.Errorf("peer authority: %w", err)
	}
	// The key first: a certificate without its key would look like a finished
	// authority.
	if err := writeKey(filepath.Join(dir, CAKeyFile), key); err != nil {
		return fmt.Errorf("peer authority: %w", err)
	}
	return writePEM(filepath.Join(dir, CAFile), "CERTIFICATE", ca.Raw, 0o644)
}

// IssuePeerCert signs a certificate for the node called name with the
// authority in dir and writes it there as name.crt and name.key. name is only
// a label of 1 to 63 letters, digits, dots, dashes and underscores. It refuses
// to replace files.
func IssuePeerCert(dir, name string) (PeerFiles, error) {
	if !nodeNamePattern.MatchString(name) || name == "ca" {
		return PeerFiles{}, fmt.Errorf("peer certificate: name %q is not allowed", name)
	}
	ca, err := tls.LoadX509KeyPair(filepath.Join(dir, CAFile), filepath.Join(dir, CAKeyFile))
	if err != nil {
		return PeerFiles{}, fmt.Errorf("peer certificate: %w", err)
	}
	raw, key, err := newPeerCert(name, ca.Leaf, ca.PrivateKey, time.Now())
	if err != nil {
		return PeerFiles{}, fmt.Errorf("peer certificate: %w", err)
	}
	files := PeerFiles{
		CA:   filepath.Join(dir, CAFile),
		Cert: filepath.Join(dir, name+".crt"),
		Key:  filepath.Join(dir, name+".key"),
	}
	if err := writeKey(files.Key, key); err != nil {
		return PeerFiles{}, fmt.Errorf("peer certificate: %w", err)
	}
	if err := writePEM(files.Cert, "CERTIFICATE", raw, 0o644); err != nil {
		return PeerFiles{}, fmt.Errorf("peer certificate: %w", err)
	}
	return files, nil
}

func newCA(now time.Time) (*x509.Certificate, ed25519.PrivateKey, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template, err := certTemplate("Cairn peer authority", now, caLifetime)
	if err != nil {
		return nil, nil, err
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.MaxPathLenZero = true
	template.KeyUsage = x509.KeyUsageCertSign
	raw, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		return nil, nil, err
	}
	ca, err := x509.ParseCertificate(raw)
	return ca, private, err
}

func newPeerCert(name string, ca *x509.Certificate, caKey crypto.PrivateKey, now time.Time) ([]byte, ed25519.PrivateKey, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template, err := certTemplate(name, now, certLifetime)
	if err != nil {
		return nil, nil, err
	}
	template.DNSNames = []string{peerServerName}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	raw, err := x509.CreateCertificate(rand.Reader, template, ca, public, caKey)
	return raw, private, err
}

// certTemplate is valid from a little earlier, because clocks differ.
func certTemplate(name string, now time.Time, lifetime time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(lifetime),
	}, nil
}

func writeKey(path string, key ed25519.PrivateKey) error {
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, "PRIVATE KEY", raw, 0o600)
}

// writePEM creates path and fails when it exists.
func writePEM(path, kind string, raw []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	err = pem.Encode(f, &pem.Block{Type: kind, Bytes: raw})
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// ephemeralTLS makes an authority that is forgotten with the process: the
// port of a node that runs alone is closed to everyone else.
func ephemeralTLS() (*tls.Config, error) {
	now := time.Now()
	ca, caKey, err := newCA(now)
	if err != nil {
		return nil, err
	}
	raw, key, err := newPeerCert("self", ca, caKey, now)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca)
	return peerConfig(tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, pool), nil
}
