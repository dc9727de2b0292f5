#!/bin/sh
# Builds the peers of `cairn-bench cluster` in a folder outside the repository: one program that is an etcd server, a load
# client for it, and a log store of raft-boltdb. Nothing of it is needed to build, test or run Cairn.
#
#   cmd/cairn-bench/peers/cluster.sh [FOLDER]     default: $CAIRN_PEERS, else cairn-peers under the temporary folder
#
# When it cannot be built, the rows that need it are reported as not run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=${1:-${CAIRN_PEERS:-${TMPDIR:-/tmp}/cairn-peers}}
mkdir -p "$root/cluster" && cd "$root/cluster"
cp "$here/cluster_peer.go.txt" main.go
[ -f go.mod ] || printf 'module peers\n\ngo 1.26\n' >go.mod
# raft-boltdb does not build with raft 1.8 and its metrics library; of raft it needs only the type of an entry.
go get go.etcd.io/etcd/server/v3@v3.7 go.etcd.io/etcd/client/v3@v3.7 github.com/hashicorp/raft@v1.7.3 \
	github.com/hashicorp/raft-boltdb/v2@v2.3.1 github.com/hashicorp/go-metrics@v0.5.4
go mod tidy
CGO_ENABLED=0 go build -o ../clusterpeer .
echo "built $root/clusterpeer"
