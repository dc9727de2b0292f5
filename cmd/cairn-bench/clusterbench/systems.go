package clusterbench

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// cairnSystem starts this program as node and client.
type cairnSystem struct {
	program string
	peers   []string
	clients []string
}

func newCairn(program string, nodes int) (*cairnSystem, error) {
	ports, err := freePorts(2 * nodes)
	if err != nil {
		return nil, err
	}
	return &cairnSystem{program: program, peers: ports[:nodes], clients: ports[nodes:]}, nil
}

func (s *cairnSystem) name() string { return "cairn" }

func (s *cairnSystem) client(i int) string { return s.clients[i] }

func (s *cairnSystem) node(dir string, i int) *exec.Cmd {
	var others []string
	for j, p := range s.peers {
		if j != i {
			others = append(others, p)
		}
	}
	return exec.Command(s.program, "cluster-process", "node", "--dir", dir, "--peer", s.peers[i], "--client", s.clients[i],
		"--join", strings.Join(others, ","), "--expect", strconv.Itoa(len(s.peers)))
}

func (s *cairnSystem) leads(ctx context.Context, i int) bool {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	c, err := dial(ctx, s.clients[i])
	if err != nil {
		return false
	}
	defer c.close()
	_, err = c.call(ctx, opLeads, nil)
	return err == nil
}

func (s *cairnSystem) load(o LoadOptions) *exec.Cmd {
	return exec.Command(s.program, append([]string{"cluster-process", "load"}, loadFlags("--", o)...)...)
}

func (s *cairnSystem) probe(o ProbeOptions) *exec.Cmd {
	return exec.Command(s.program, append([]string{"cluster-process", "probe"}, probeFlags("--", o)...)...)
}

func loadFlags(dash string, o LoadOptions) []string {
	return []string{
		dash + "addr", o.Addr, dash + "op", o.Op, dash + "clients", strconv.Itoa(o.Clients),
		dash + "seconds", fmt.Sprint(o.Seconds), dash + "size", strconv.Itoa(o.Size), dash + "keys", strconv.Itoa(o.Keys),
	}
}

func probeFlags(dash string, o ProbeOptions) []string {
	return []string{dash + "addr", o.Addr, dash + "every", o.Every.String(), dash + "size", strconv.Itoa(o.Size)}
}

// etcdSystem starts the peer program.
type etcdSystem struct {
	program string
	peers   []string
	clients []string
}

func newEtcd(program string) (*etcdSystem, error) {
	ports, err := freePorts(2 * siteNodes)
	if err != nil {
		return nil, err
	}
	return &etcdSystem{program: program, peers: ports[:siteNodes], clients: ports[siteNodes:]}, nil
}

func (s *etcdSystem) name() string { return "etcd" }

func (s *etcdSystem) client(i int) string { return "http://" + s.clients[i] }

// node has etcd's defaults but for the quota, which the writes of a long run would reach.
func (s *etcdSystem) node(dir string, i int) *exec.Cmd {
	var members []string
	for j, p := range s.peers {
		members = append(members, fmt.Sprintf("n%d=http://%s", j, p))
	}
	peer := "http://" + s.peers[i]
	return exec.Command(s.program, "etcd", "--name", fmt.Sprintf("n%d", i), "--data-dir", dir,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--listen-client-urls", s.client(i), "--advertise-client-urls", s.client(i),
		"--initial-cluster", strings.Join(members, ","), "--initial-cluster-state", "new",
		"--quota-backend-bytes", strconv.Itoa(8<<30), "--log-level", "error")
}

func (s *etcdSystem) leads(ctx context.Context, i int) bool {
	return exec.CommandContext(ctx, s.program, "leader", s.client(i)).Run() == nil
}

func (s *etcdSystem) load(o LoadOptions) *exec.Cmd {
	return exec.Command(s.program, append([]string{"load"}, loadFlags("-", o)...)...)
}

func (s *etcdSystem) probe(o ProbeOptions) *exec.Cmd {
	return exec.Command(s.program, append([]string{"probe"}, probeFlags("-", o)...)...)
}
