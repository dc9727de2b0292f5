package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"cairn/consensus"
	"cairn/node/api"
)

type clusterCmd struct {
	Status   clusterStatusCmd   `cmd:"" help:"Show the site's nodes, who leads and who is behind."`
	Add      clusterAddCmd      `cmd:"" help:"Say what a new node is to be started with, and wait until it is a member."`
	Remove   clusterRemoveCmd   `cmd:"" help:"Take a node out of the site; it ends itself."`
	Transfer clusterTransferCmd `cmd:"" help:"Make another node the leader."`
	CA       clusterCACmd       `cmd:"" name:"ca" help:"The site's own authority for certificates between nodes."`
	Cert     clusterCertCmd     `cmd:"" help:"Make the certificate of a node."`
}

type clusterStatusCmd struct{}

// Run prints the group as the node at hand sees it.
func (clusterStatusCmd) Run(a *app) error {
	cl, err := a.client()
	if err != nil {
		return err
	}
	cluster, err := cl.Cluster(a.ctx)
	if err != nil {
		return err
	}
	return a.show(cluster, func(w io.Writer) { printCluster(w, cluster) })
}

func printCluster(w io.Writer, c api.Cluster) {
	fmt.Fprintf(w, "site\t%s\tepoch %d\n", c.Site, c.Epoch)
	fmt.Fprintln(w, "NODE\tADDRESS\tROLE\tAPPLIED\tLAG\tHEALTH")
	for _, n := range c.Nodes {
		health := "healthy"
		if !n.Healthy {
			health = "not healthy"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\n", n.ID, n.Address, n.Role, n.Applied, n.Lag, health)
	}
}

type clusterAddCmd struct {
	Address string        `arg:"" help:"Peer address of the new node, as HOST:PORT."`
	Wait    time.Duration `help:"How long to wait until the node is a member with a vote." placeholder:"2m"`
}

// Run prints the flags for the new node. With --wait it ends when the node has its vote, or with code 5.
func (c clusterAddCmd) Run(a *app) error {
	cl, err := a.client()
	if err != nil {
		return err
	}
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(c.Wait)
	defer limit.Stop()
	for told := false; ; told = true {
		added, err := cl.AddNode(a.ctx, api.AddNode{Address: c.Address})
		if err != nil {
			return err
		}
		if added.Joined || c.Wait <= 0 {
			return a.show(added, func(w io.Writer) { printAdded(w, c.Address, added) })
		}
		if !told {
			fmt.Fprintf(a.stderr, "Waiting for the node. Start it with:\n  %s\n", startLine(c.Address, added.Join))
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return api.Unavailable(fmt.Sprintf("%s did not become a member with a vote within %v", c.Address, c.Wait), 0, nil)
		case <-a.ctx.Done():
			return a.ctx.Err()
		}
	}
}

func startLine(address string, join []string) string {
	return "cairn serve --peer " + address + " --join " + strings.Join(join, ",") +
		" --peer-ca ca.crt --peer-cert NODE.crt --peer-key NODE.key"
}

func printAdded(w io.Writer, address string, added api.AddedNode) {
	switch {
	case added.Joined:
		fmt.Fprintf(w, "member\t%s\t%s\n", added.Node.ID, added.Node.Role)
	case added.Node != nil:
		fmt.Fprintf(w, "joining\t%s\t%d entries behind\n", added.Node.ID, added.Node.Lag)
	default:
		fmt.Fprintf(w, "start it with\t%s\n", startLine(address, added.Join))
	}
}

type clusterRemoveCmd struct {
	Node string `arg:"" help:"Id of the node."`
	Yes  bool   `help:"Do it. Without it the command says what would change and changes nothing."`
}

// Run shows what is left of the site without the node, and removes it with --yes.
func (c clusterRemoveCmd) Run(a *app) error {
	cl, err := a.client()
	if err != nil {
		return err
	}
	cluster, err := cl.Cluster(a.ctx)
	if err != nil {
		return err
	}
	p := removal{Node: c.Node, Removed: c.Yes}
	found := false
	for _, n := range cluster.Nodes {
		switch {
		case n.ID == c.Node:
			found = true
		case n.Role != consensus.RoleNonvoter:
			p.Voters++
		}
	}
	if !found {
		return api.NotFound("node " + c.Node)
	}
	p.MayFail = max(0, (p.Voters-1)/2)
	if c.Yes {
		if _, err := cl.RemoveNode(a.ctx, c.Node); err != nil {
			return err
		}
	}
	if err := a.show(p, func(w io.Writer) { printRemoval(w, p) }); err != nil {
		return err
	}
	if !c.Yes {
		fmt.Fprintf(a.stderr, "Nothing was changed. `cairn cluster remove %s --yes` does it.\n", c.Node)
	}
	return nil
}

// removal is what `cairn cluster remove` prints: the voters that are left, and how many of them may fail.
type removal struct {
	Node    string `json:"node"`
	Removed bool   `json:"removed"`
	Voters  int    `json:"voters"`
	MayFail int    `json:"may_fail"`
}

func printRemoval(w io.Writer, p removal) {
	did := "would be removed"
	if p.Removed {
		did = "removed"
	}
	fmt.Fprintf(w, "%s\t%s\n", did, p.Node)
	fmt.Fprintf(w, "nodes with a vote\t%d\t%d may fail\n", p.Voters, p.MayFail)
}

type clusterTransferCmd struct {
	Node string `arg:"" optional:"" help:"Id of the node that is to lead; without it the one most up to date."`
}

// Run moves the leadership and prints the site.
func (c clusterTransferCmd) Run(a *app) error {
	cl, err := a.client()
	if err != nil {
		return err
	}
	done, err := cl.TransferLeadership(a.ctx, api.Transfer{To: c.Node})
	if err != nil {
		return err
	}
	return a.show(done.Value, func(w io.Writer) { printCluster(w, done.Value) })
}

// certificates is the folder that the authority lives in.
type certificates struct {
	Dir string `default:"." help:"Folder of the authority." placeholder:"DIR"`
}

type clusterCACmd struct {
	Init clusterCAInitCmd `cmd:"" help:"Make the authority: ca.crt for every node, ca.key for the operator alone."`
}

type clusterCAInitCmd struct{ certificates }

// Run makes the authority; it replaces none.
func (c clusterCAInitCmd) Run(a *app) error {
	if err := consensus.InitPeerCA(c.Dir); err != nil {
		return err
	}
	files := map[string]string{"ca": consensus.CAFile, "key": consensus.CAKeyFile, "dir": c.Dir}
	return a.show(files, func(w io.Writer) {
		fmt.Fprintf(w, "%s\tgoes to every node\n%s\tstays with you\n", consensus.CAFile, consensus.CAKeyFile)
	})
}

type clusterCertCmd struct {
	Node string `arg:"" help:"A name for the node; it is only a label."`
	certificates
}

// Run signs a certificate; it replaces none.
func (c clusterCertCmd) Run(a *app) error {
	files, err := consensus.IssuePeerCert(c.Dir, c.Node)
	if err != nil {
		return errors.Join(err, errors.New("the authority is made by `cairn cluster ca init`"))
	}
	v := map[string]string{"ca": files.CA, "cert": files.Cert, "key": files.Key}
	return a.show(v, func(w io.Writer) {
		fmt.Fprintf(w, "--peer-ca %s --peer-cert %s --peer-key %s\n", files.CA, files.Cert, files.Key)
	})
}
