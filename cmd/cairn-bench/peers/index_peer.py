"""The Python peers of `cairn-bench index`.

Started without arguments it reads one JSON request a line and answers with one JSON line; vectors and results travel in
files of little-endian float32 and uint32. Everything runs on one thread. `seconds` is the process's own CPU time of the call
that is measured, `wall` the time on the clock.
"""

import json
import os
import sys
import time
import zipfile

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"


def wink(source, target):
    """Writes the words of the npm package in their order, each with 100 values of unit length."""
    import numpy as np

    with open(source, encoding="utf-8") as f:
        data = json.load(f)
    rows = np.array([data["vectors"][w][:100] for w in data["words"]], dtype=np.float32)
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows[size[:, 0] > 0] / size[size[:, 0] > 0]
    rows.astype("<f4").tofile(target)


def unpack(jar, ending, target):
    with zipfile.ZipFile(jar) as z:
        for name in z.namelist():
            if name.endswith(ending):
                with open(target, "wb") as f:
                    f.write(z.read(name))
                return
    raise SystemExit(f"no file ending in {ending}")


class Timer:
    def __enter__(self):
        self.cpu, self.clock = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_):
        self.cpu, self.clock = time.process_time() - self.cpu, time.perf_counter() - self.clock

    def answer(self, **more):
        return {"seconds": self.cpu, "wall": self.clock, **more}


class Peer:
    """Holds the sets and the peers' indexes of one run."""

    def __init__(self):
        self.rows, self.queries, self.built = {}, {}, {}

    def versions(self, _):
        from importlib.metadata import PackageNotFoundError, version

        out = {}
        for p in ("hnswlib", "usearch", "faiss-cpu", "onnxruntime", "tokenizers", "sqlite-vec", "tantivy"):
            try:
                out[p] = version(p)
            except PackageNotFoundError:
                pass
        return {"versions": out}

    def load(self, r):
        import numpy as np

        d = r["dims"]
        self.rows[r["set"]] = np.fromfile(r["rows"], dtype="<f4").reshape(-1, d)
        self.queries[r["set"]] = np.fromfile(r["queries"], dtype="<f4").reshape(-1, d)
        return {}

    def build(self, r):
        index, seconds = getattr(self, "build_" + r["lib"])(self.rows[r["set"]], r)
        self.built[r["lib"], r["set"]] = index
        return seconds

    def search(self, r):
        import numpy as np

        queries = self.queries[r["set"]][: r["n"]]
        found, timer = getattr(self, "search_" + r["lib"])(self.built[r["lib"], r["set"]], queries, r)
        np.ascontiguousarray(found, dtype="<u4").tofile(r["out"])
        return timer.answer()

    # hnswlib

    def build_hnswlib(self, rows, r):
        import hnswlib

        index = hnswlib.Index(space="ip", dim=rows.shape[1])
        index.init_index(max_elements=len(rows), M=r["m"], ef_construction=r["ef"], random_seed=1)
        index.set_num_threads(1)
        with Timer() as t:
            index.add_items(rows, num_threads=1)
        return index, t.answer()

    def search_hnswlib(self, index, queries, r):
        import numpy as np

        index.set_ef(r["ef"])
        if "allow" not in r:
            with Timer() as t:
                found, _ = index.knn_query(queries, k=r["k"], num_threads=1)
            return found, t
        lists = np.fromfile(r["allow"], dtype="<u4").reshape(len(queries), -1)
        out = []
        with Timer() as t:
            for q, ids in zip(queries, lists):
                # List-making: membership of a Python set is the quickest filter that the binding can call.
                allowed = set(ids.tolist())
                try:
                    found, _ = index.knn_query(q[None], k=r["k"], num_threads=1, filter=allowed.__contains__)
                    out.append(found[0])
                except RuntimeError:  # fewer than k were reached
                    out.append(np.full(r["k"], 0xFFFFFFFF, dtype=np.uint32))
        return np.array(out), t

    # usearch

    def build_usearch(self, rows, r):
        from usearch.index import Index

        index = Index(ndim=rows.shape[1], metric="ip", dtype=r["dtype"], connectivity=r["m"], expansion_add=r["ef"])
        import numpy as np

        keys = np.arange(len(rows), dtype=np.uint64)
        with Timer() as t:
            index.add(keys, rows, threads=1)
        return index, t.answer()

    def search_usearch(self, index, queries, r):
        index.expansion_search = r["ef"]
        if r.get("batch"):
            with Timer() as t:
                found = index.search(queries, r["k"], threads=1)
            return found.keys, t
        out = []
        with Timer() as t:
            for q in queries:
                out.append(index.search(q, r["k"], threads=1))
        return [m.keys for m in out], t

    build_usearch_f32 = build_usearch_i8 = build_usearch
    search_usearch_f32 = search_usearch_i8 = search_usearch

    # faiss

    def build_faiss_hnsw(self, rows, r):
        import faiss

        faiss.omp_set_num_threads(1)
        index = faiss.IndexHNSWFlat(rows.shape[1], r["m"], faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = r["ef"]
        with Timer() as t:
            index.add(rows)
        return index, t.answer()

    def search_faiss_hnsw(self, index, queries, r):
        index.hnsw.efSearch = r["ef"]
        return self.search_faiss(index, queries, r)

    def build_faiss_ivfpq(self, rows, r):
        """IVF with 4-bit product codes read by the fast scan, and exact values to rank what it finds."""
        import faiss

        faiss.omp_set_num_threads(1)
        d = rows.shape[1]
        index = faiss.index_factory(d, f"IVF{r['lists']},PQ{d // 2}x4fs,RFlat", faiss.METRIC_INNER_PRODUCT)
        with Timer() as t:
            index.train(rows)
            index.add(rows)
        return index, t.answer()

    def search_faiss_ivfpq(self, index, queries, r):
        import faiss

        index.k_factor = r["factor"]
        faiss.extract_index_ivf(index.base_index).nprobe = r["ef"]
        return self.search_faiss(index, queries, r)

    def search_faiss(self, index, queries, r):
        if r.get("batch"):
            with Timer() as t:
                _, found = index.search(queries, r["k"])
            return found, t
        out = []
        with Timer() as t:
            for i in range(len(queries)):
                out.append(index.search(queries[i : i + 1], r["k"])[1][0])
        return out, t

    # sqlite-vec

    def build_sqlitevec(self, rows, r):
        import sqlite_vec

        try:
            import pysqlite3 as sqlite3
        except ImportError:
            import sqlite3

        db = sqlite3.connect(":memory:")
        db.enable_load_extension(True)
        sqlite_vec.load(db)
        db.execute(f"create virtual table v using vec0(e float[{rows.shape[1]}] distance_metric=cosine)")
        with Timer() as t:
            db.executemany("insert into v(rowid, e) values (?, ?)", ((i, x.tobytes()) for i, x in enumerate(rows)))
        return db, t.answer()

    def search_sqlitevec(self, db, queries, r):
        out = []
        with Timer() as t:
            for q in queries:
                found = db.execute("select rowid from v where e match ? and k = ?", (q.tobytes(), r["k"]))
                out.append([row[0] for row in found])
        return out, t

    # tantivy

    def keywords_build(self, r):
        import tantivy

        schema = tantivy.SchemaBuilder()
        schema.add_unsigned_field("id", stored=True)
        schema.add_text_field("text", stored=False, tokenizer_name="en_stem", index_option="freq")
        index = tantivy.Index(schema.build())
        with Timer() as t:
            writer = index.writer(heap_size=256 << 20, num_threads=1)
            with open(r["texts"], encoding="utf-8") as f:
                for i, line in enumerate(f):
                    writer.add_document(tantivy.Document(id=i, text=line.rstrip("\n")))
            writer.commit()
            writer.wait_merging_threads()
        index.reload()
        self.built["tantivy", "texts"] = index
        return t.answer()

    def keywords_search(self, r):
        index = self.built["tantivy", "texts"]
        searcher = index.searcher()
        with open(r["queries"], encoding="utf-8") as f:
            texts = [line.rstrip("\n") for line in f]
        found = []
        with Timer() as t:
            for text in texts:
                query = index.parse_query(text, ["text"])
                found.append(searcher.search(query, r["k"], count=False).hits)
        return t.answer(hits=sum(len(h) for h in found))

    # onnxruntime

    def embed_open(self, r):
        import onnxruntime
        import tokenizers

        o = onnxruntime.SessionOptions()
        o.intra_op_num_threads = o.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(r["model"], o, providers=["CPUExecutionProvider"])
        self.tokenizer = tokenizers.Tokenizer.from_file(r["tokenizer"])
        self.tokenizer.enable_truncation(256)
        self.tokenizer.no_padding()
        return {}

    def embed_run(self, r):
        import numpy as np

        with open(r["texts"], encoding="utf-8") as f:
            texts = [line.rstrip("\n") for line in f]
        names = {i.name for i in self.session.get_inputs()}
        out = []
        with Timer() as t:
            for text in texts:  # one text a call is quicker here than a padded batch
                e = self.tokenizer.encode(text)
                feed = {"input_ids": e.ids, "attention_mask": e.attention_mask, "token_type_ids": e.type_ids}
                feed = {k: np.array([v], dtype=np.int64) for k, v in feed.items() if k in names}
                v = self.session.run(None, feed)[0][0].mean(axis=0)
                out.append(v / np.linalg.norm(v))
        np.array(out, dtype="<f4").tofile(r["out"])
        return t.answer()


def serve():
    peer = Peer()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(peer, request["op"])(request)
        except Exception as e:  # a peer that fails costs its rows, not the run
            answer = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        serve()
    elif sys.argv[1] == "wink":
        wink(sys.argv[2], sys.argv[3])
    elif sys.argv[1] == "unpack":
        unpack(sys.argv[2], sys.argv[3], sys.argv[4])
