package api

import (
	"context"
	"io"
)

// ClusterNode is one node of the group.
type ClusterNode struct {
	ID      string `json:"id"`
	Address string `json:"address"`
	Role    string `json:"role" enum:"leader,voter,nonvoter"`
	Applied uint64 `json:"applied"`
	Lag     uint64 `json:"lag"`
	Healthy bool   `json:"healthy"`
}

// Cluster is the state of the Raft group.
type Cluster struct {
	Site   string        `json:"site"`
	Epoch  uint64        `json:"epoch"`
	Leader string        `json:"leader"`
	Nodes  []ClusterNode `json:"nodes"`
}

// AddNode names a node that is to join: the address that peers reach it at.
type AddNode struct {
	Address string `json:"address" minLength:"3" maxLength:"255" doc:"host:port of the new node's peer port"`
}

// AddedNode says how far a node is with joining. A node joins by itself once it is started with the addresses in Join.
type AddedNode struct {
	Joined bool         `json:"joined" doc:"It is a member with a vote"`
	Node   *ClusterNode `json:"node" doc:"null until it is a member"`
	Join   []string     `json:"join" doc:"Peer addresses to start it with"`
}

// Transfer moves the leadership. Without To it goes to the voter that is most up to date.
type Transfer struct {
	To string `json:"to,omitempty" maxLength:"64" doc:"Id of the node that is to lead"`
}

// Backup describes a backup: what Cairn said of the state when it was copied.
type Backup struct {
	Site      string `json:"site"`
	Epoch     uint64 `json:"epoch"`
	Index     uint64 `json:"index"`
	Term      uint64 `json:"term"`
	Format    int    `json:"format"`
	Files     int    `json:"files"`
	Bytes     int64  `json:"bytes"`
	CreatedAt string `json:"created_at"`
}

// Restored says what a restore did, or would do in a dry run. Site, Epoch and Index are those of the site: after the
// restore, or as it stands in a dry run.
type Restored struct {
	DryRun bool   `json:"dry_run"`
	Site   string `json:"site"`
	Epoch  uint64 `json:"epoch"`
	Index  uint64 `json:"index"`
	Backup Backup `json:"backup"`
}

// Operations are for the site's operators: admins of the default namespace.
type Operations interface {
	Cluster(ctx context.Context, c Caller) (Cluster, error)
	AddNode(ctx context.Context, c Caller, req AddNode) (AddedNode, error)
	RemoveNode(ctx context.Context, c Caller, id string) (Done[struct{}], error)
	TransferLeadership(ctx context.Context, c Caller, req Transfer) (Done[Cluster], error)
	// Backup writes the site's state to w. Nothing is written when the caller may not have it.
	Backup(ctx context.Context, c Caller, w io.Writer) error
	// Restore replaces the state of the whole site by the backup in r, which is checked to its end before anything
	// changes; a dry run only checks. The epoch rises.
	Restore(ctx context.Context, c Caller, r io.Reader, dryRun bool) (Restored, error)
	// Reembed queues the experiences whose vectors the present encoder did not make; a dry run only counts them.
	Reembed(ctx context.Context, c Caller, dryRun bool) (Done[Reembedding], error)
}

// Reembedding is how far the vectors are those of the encoder in use.
type Reembedding struct {
	Embedders   []string `json:"embedders" doc:"Embedders whose vectors the node makes"`
	Experiences int      `json:"experiences" doc:"Experiences that take part in recalls"`
	Stale       int      `json:"stale" doc:"Of these, how many have no vectors by these embedders"`
	Queued      int      `json:"queued" doc:"How many this call queued"`
	Waiting     int      `json:"waiting" doc:"Embedding jobs that are not done"`
	Failed      int      `json:"failed" doc:"Of these, how many gave up; see GET /v1/jobs?status=dead"`
}
