package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"cairn/node/api"
)

// Cluster reads the state of the Raft group.
func (c *Client) Cluster(ctx context.Context) (api.Cluster, error) {
	return get[api.Cluster](ctx, c, path("cluster"), nil)
}

// AddNode asks what a new node is to be started with, and how far it is with joining.
func (c *Client) AddNode(ctx context.Context, req api.AddNode) (api.AddedNode, error) {
	return read[api.AddedNode](ctx, c, call{method: http.MethodPost, path: path("cluster", "nodes"), body: req})
}

// RemoveNode takes a node out of the site.
func (c *Client) RemoveNode(ctx context.Context, id string) (api.Done[struct{}], error) {
	return write[struct{}](ctx, c, call{method: http.MethodDelete, path: path("cluster", "nodes", id)})
}

// TransferLeadership makes another node the leader.
func (c *Client) TransferLeadership(ctx context.Context, req api.Transfer) (api.Done[api.Cluster], error) {
	return write[api.Cluster](ctx, c, call{method: http.MethodPost, path: path("cluster", "transfer"), body: req})
}

// Backup copies the site's state to w. What was written before an error is no backup. It is not repeated.
func (c *Client) Backup(ctx context.Context, w io.Writer) error {
	resp, err := c.stream(ctx, http.MethodGet, path("backup"), nil, http.NoBody)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(w, resp.Body); err != nil {
		return fmt.Errorf("GET %s: %w", path("backup"), err)
	}
	return nil
}

// Reembed queues what has no vectors of the encoder in use; a dry run only counts it.
func (c *Client) Reembed(ctx context.Context, dryRun bool) (api.Done[api.Reembedding], error) {
	q := url.Values{}
	if dryRun {
		q.Set("dry_run", "true")
	}
	return write[api.Reembedding](ctx, c, call{method: http.MethodPost, path: path("reembed"), query: q})
}

// Restore replaces the state of the whole site by the backup in r; a dry run only checks it. It is not repeated: after an
// error without an answer, Cluster shows by its epoch whether it was done.
func (c *Client) Restore(ctx context.Context, r io.Reader, dryRun bool) (api.Restored, error) {
	q := url.Values{"dry_run": {strconv.FormatBool(dryRun)}}
	resp, err := c.stream(ctx, http.MethodPost, path("restore"), q, r)
	if err != nil {
		return api.Restored{}, err
	}
	a, err := readAnswer(resp)
	if err != nil {
		return api.Restored{}, fmt.Errorf("POST %s: %w", path("restore"), err)
	}
	var out api.Restored
	return out, decode(call{method: http.MethodPost, path: path("restore")}, a, &out)
}

// stream sends one request whose body or answer may be of any size. The answer is a success and must be closed.
func (c *Client) stream(ctx context.Context, method, path string, q url.Values, body io.Reader) (*http.Response, error) {
	u := c.base.String() + path
	if len(q) > 0 {
		u += "?" + q.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, u, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", c.agent)
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/octet-stream")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if resp.StatusCode < 400 {
		return resp, nil
	}
	a, err := readAnswer(resp)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil, decodeError(a)
}

func readAnswer(resp *http.Response) (answer, error) {
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
	return answer{status: resp.StatusCode, header: resp.Header, body: body}, err
}
