package web

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"cairn/node/api"
)

const tagOperations = "Operations"

const (
	backupPath  = "/v1/backup"
	restorePath = "/v1/restore"
	backupMedia = "application/octet-stream"
)

// registerOperations has what the site's operators do.
func (s *Server) registerOperations() {
	get(s, route{path: "/v1/cluster", id: "get-cluster", summary: "The Raft group", tag: tagOperations},
		func(ctx context.Context, c api.Caller, _ *struct{ ReadParams }) (api.Cluster, error) {
			return s.svc.Cluster(ctx, c)
		})
	get(s, route{method: http.MethodPost, path: "/v1/cluster/nodes", id: "add-node", tag: tagOperations, body: true,
		summary: "What a new node is to be started with, and how far it is with joining"},
		func(ctx context.Context, c api.Caller, in *struct {
			ReadParams
			Body api.AddNode
		}) (api.AddedNode, error) {
			return s.svc.AddNode(ctx, c, in.Body)
		})
	remove(s, route{path: "/v1/cluster/nodes/{id}", id: "remove-node", summary: "Take a node out of the site; it ends itself", tag: tagOperations},
		func(ctx context.Context, c api.Caller, in *changeParams, _ api.Write) (api.Done[struct{}], error) {
			return s.svc.RemoveNode(ctx, c, in.ID)
		})
	write(s, route{method: http.MethodPost, path: "/v1/cluster/transfer", id: "transfer-leadership", summary: "Make another node the leader", tag: tagOperations, body: true, bodyOptional: true},
		func(ctx context.Context, c api.Caller, in *struct {
			WriteParams
			Body *api.Transfer
		}, _ api.Write) (api.Done[api.Cluster], error) {
			var req api.Transfer
			if in.Body != nil {
				req = *in.Body
			}
			return s.svc.TransferLeadership(ctx, c, req)
		})
	write(s, route{method: http.MethodPost, path: "/v1/reembed", id: "reembed", tag: tagOperations,
		summary: "Embed what has no vectors of the encoder in use; ?dry_run=true counts it"},
		func(ctx context.Context, c api.Caller, in *struct {
			WriteParams
			DryRun bool `query:"dry_run" doc:"Only count"`
		}, _ api.Write) (api.Done[api.Reembedding], error) {
			return s.svc.Reembed(ctx, c, in.DryRun)
		})
	s.registerModels()
	s.handle(http.MethodGet+" "+backupPath, routing{}, s.backup)
	s.describe(backupOperation())
	s.handle(http.MethodPost+" "+restorePath, routing{upload: true}, s.restore)
	s.describe(restoreOperation())
}

// backup streams a copy of the state. It ends with a checksum over all before it, so half of one is not taken for whole;
// a failure on the way cuts the connection.
func (s *Server) backup(w http.ResponseWriter, r *http.Request) {
	out := &firstWrite{w: w}
	if p := knownQuery(r); p != nil {
		p.write(w)
		return
	}
	err := s.svc.Backup(r.Context(), enteredOf(r.Context()).caller, out)
	switch {
	case err == nil:
		out.begin()
	case !out.begun:
		s.refused(r.Context(), err).write(w)
	default:
		s.log.WarnContext(r.Context(), "backup ended early", "error", err)
		panic(http.ErrAbortHandler) // the server closes the connection, so that the client sees an error
	}
}

// firstWrite sends the headers of a backup with its first byte: before it, a refusal can still be answered.
type firstWrite struct {
	w     http.ResponseWriter
	begun bool
}

func (f *firstWrite) begin() {
	if f.begun {
		return
	}
	f.begun = true
	f.w.Header().Set("Content-Type", backupMedia)
	f.w.Header().Set("Content-Disposition", `attachment; filename="cairn.backup"`)
}

func (f *firstWrite) Write(p []byte) (int, error) {
	f.begin()
	return f.w.Write(p)
}

// restore takes a backup as the body. The service reads it to its end before it changes anything.
func (s *Server) restore(w http.ResponseWriter, r *http.Request) {
	if p := knownQuery(r, "dry_run"); p != nil {
		p.write(w)
		return
	}
	dryRun := false
	if text := r.URL.Query().Get("dry_run"); text != "" {
		var err error
		if dryRun, err = strconv.ParseBool(text); err != nil {
			invalid("query.dry_run", "must be true or false", text).write(w)
			return
		}
	}
	done, err := s.svc.Restore(r.Context(), enteredOf(r.Context()).caller, r.Body, dryRun)
	if err != nil {
		w.Header().Set("Connection", "close") // the rest of the body is not worth reading
		s.refused(r.Context(), err).write(w)
		return
	}
	w.Header().Set("Cairn-Index", strconv.FormatUint(done.Index, 10))
	sendJSON(w, done)
}

// knownQuery refuses parameters that a route outside huma does not have.
func knownQuery(r *http.Request, known ...string) *Problem {
next:
	for name := range r.URL.Query() {
		for _, k := range known {
			if name == k {
				continue next
			}
		}
		return invalid("query."+name, "is not a known parameter", nil)
	}
	return nil
}

func backupOperation() huma.Operation {
	return huma.Operation{
		Method: http.MethodGet, Path: backupPath, OperationID: "backup", Summary: "A copy of the site's state, while writes go on",
		Tags: []string{tagOperations}, Security: []map[string][]string{{"key": {}}},
		Responses: map[string]*huma.Response{"200": {Description: "The backup; it ends with a checksum", Content: binary()}},
	}
}

func restoreOperation() huma.Operation {
	return huma.Operation{
		Method: http.MethodPost, Path: restorePath, OperationID: "restore", Summary: "Replace the state of the whole site by a backup",
		Description: "The backup is checked to its end on every node before anything changes. The site's epoch rises; feeds get a gap.",
		Tags:        []string{tagOperations}, Security: []map[string][]string{{"key": {}}},
		Parameters: []*huma.Param{{
			Name: "dry_run", In: "query", Description: "Only check the backup", Schema: &huma.Schema{Type: huma.TypeBoolean},
		}},
		RequestBody: &huma.RequestBody{Required: true, Content: binary()},
		Responses: map[string]*huma.Response{"200": {
			Description: "What was restored: site, epoch, index and the backup's description",
			Content:     map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject}}},
		}},
	}
}

func binary() map[string]*huma.MediaType {
	return map[string]*huma.MediaType{backupMedia: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
}
