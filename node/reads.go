package node

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"cairn/node/api"
	"cairn/node/store"
)

const (
	defaultLimit = 50
	maxLimit     = 500
	sessionWait  = 5 * time.Second
)

// Authenticate finds whose key this is.
func (n *Node) Authenticate(_ context.Context, bearer string) (api.Caller, error) {
	denied := &api.Error{Code: api.CodeUnauthenticated, Detail: "no valid API key: send Authorization: Bearer ck_..."}
	if !strings.HasPrefix(bearer, "ck_") || len(bearer) > 128 {
		return api.Caller{}, denied
	}
	v, err := n.store.View()
	if err != nil {
		return api.Caller{}, api.Unavailable("the node is shutting down", time.Second, err)
	}
	defer v.Close()
	ref, err := v.Key(sha256.Sum256([]byte(bearer)))
	if err != nil || ref == nil {
		return api.Caller{}, orDefault(err, denied)
	}
	ns, err := v.Namespace(ref.Namespace)
	if err != nil || ns == nil {
		return api.Caller{}, orDefault(err, denied)
	}
	agent, err := v.Agent(ns, ref.Agent)
	if err != nil || agent == nil {
		return api.Caller{}, orDefault(err, denied)
	}
	return api.Caller{
		Namespace: ns.ID, Agent: agent.ID, Principal: agent.Principal, Roles: agent.Roles, KeyID: ref.KeyID,
	}, nil
}

func orDefault(err, fallback error) error {
	if err != nil {
		return err
	}
	return fallback
}

// AwaitRead waits until a read with this consistency may be served.
func (n *Node) AwaitRead(ctx context.Context, r api.Read) (uint64, error) {
	target := r.Index
	switch r.Consistency {
	case "", "session":
	case "local":
		target = 0
	case "linear":
		at, err := n.group.ReadIndex(ctx)
		if err != nil {
			return 0, proposeError(err)
		}
		target = max(target, at)
	default:
		return 0, api.Invalid("query.consistency", "must be local, session or linear", r.Consistency)
	}
	if target == 0 {
		return n.index.watermark(), nil
	}
	wait, cancel := context.WithTimeout(ctx, sessionWait)
	defer cancel()
	if err := n.index.wait(wait, target); err != nil {
		return 0, api.Unavailable("the index asked for is not applied here yet", time.Second, err)
	}
	return n.index.watermark(), nil
}

// parseID reads an id. One in a path that is none names nothing that exists.
func parseID(location, s string) (store.ID, error) {
	id, err := ulid.ParseStrict(s)
	if err != nil || len(s) != ulid.EncodedSize {
		if strings.HasPrefix(location, "path.") {
			return store.ID{}, api.NotFound("id")
		}
		return store.ID{}, api.Invalid(location, "must be a ULID", clip(s))
	}
	return id, nil
}

// clip bounds a value that is shown in an error.
func clip(s string) string {
	if len(s) > 64 {
		return strings.ToValidUTF8(s[:64], "")
	}
	return s
}

// page is the caller's place in a list, checked.
type page struct {
	limit int
	after []byte
	list  string // names the list that cursors belong to: the place in one list means nothing in another
}

func checkPage(p api.Page, list string) (page, error) {
	out := page{limit: p.Limit, list: list}
	if p.Limit == 0 {
		out.limit = defaultLimit
	}
	if p.Limit < 0 || p.Limit > maxLimit {
		return out, api.Invalid("query.limit", "must be 1..500", p.Limit)
	}
	if p.Cursor != "" {
		after, ok := openCursor(list, p.Cursor)
		if !ok {
			return out, api.Invalid("query.cursor", "is not a cursor of this list", clip(p.Cursor))
		}
		out.after = after
	}
	return out, nil
}

// collect gathers a page: visit is called with a function that takes the next record and returns false when the page is
// full. keep says whether a record belongs to the list.
func collect[R, T any](p page, visit func(after []byte, fn func(suffix []byte, rec *R) bool) error, render func(rec *R) (T, bool, error)) (api.List[T], error) {
	out := api.List[T]{Items: []T{}}
	var last []byte
	var failed error
	err := visit(p.after, func(suffix []byte, rec *R) bool {
		item, keep, err := render(rec)
		if err != nil {
			failed = err
			return false
		}
		if !keep {
			return true
		}
		if len(out.Items) == p.limit {
			next := sealCursor(p.list, last)
			out.NextCursor = &next
			return false
		}
		out.Items = append(out.Items, item)
		last = suffix
		return true
	})
	if err == nil {
		err = failed
	}
	return out, err
}

// A cursor is the last key's suffix with a checksum over it and the list, so that text that never was one, and a cursor of
// another list, are refused instead of read as a place.
func sealCursor(list string, suffix []byte) string {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(slices.Clone(suffix), cursorSum(list, suffix)))
}

func openCursor(list, s string) ([]byte, bool) {
	data, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(data) <= 4 || len(data) > 256 {
		return nil, false
	}
	suffix, sum := data[:len(data)-4], binary.BigEndian.Uint32(data[len(data)-4:])
	return suffix, sum == cursorSum(list, suffix)
}

func cursorSum(list string, suffix []byte) uint32 {
	return crc32.ChecksumIEEE(append([]byte("cairn.cursor.v1\x00"+list+"\x00"), suffix...))
}
