package web

import (
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"
)

// served gives the path under which a file of the page is served.
func served(file string) string {
	at := "/" + strings.TrimPrefix(file, "ui/")
	if at == "/index.html" {
		return "/"
	}
	return at
}

func TestPageFiles(t *testing.T) {
	st := newSite(t)
	refs := regexp.MustCompile(`(?:href|src)="(/[^"#]+)"|from '(\.[^']+)'`)
	outside := regexp.MustCompile(`https?://[^\s'"<)]+`)
	inline := regexp.MustCompile(`<style|\sstyle=|<script(?:\s[^>]*)?>[^<]|\son[a-z]+="|innerHTML|eval\(`)
	err := fs.WalkDir(pageFiles, "ui", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		got := st.do("GET", served(name), "", "Authorization", "-")
		if got.status != 200 || got.header.Get("Content-Type") != mediaTypes[path.Ext(name)] || got.header.Get("ETag") == "" {
			t.Errorf("%s = %d %v", served(name), got.status, got.header)
		}
		if again := st.do("GET", served(name), "", "If-None-Match", got.header.Get("ETag")); again.status != http.StatusNotModified || again.body != "" {
			t.Errorf("%s again = %d", served(name), again.status)
		}
		if bad := inline.FindString(got.body); bad != "" {
			t.Errorf("%s holds %q, which the page's policy forbids", name, bad)
		}
		for _, url := range outside.FindAllString(got.body, -1) {
			if !strings.HasPrefix(url, "http://www.w3.org/") { // names of XML namespaces; nothing is fetched
				t.Errorf("%s refers to %s", name, url)
			}
		}
		for _, ref := range refs.FindAllStringSubmatch(got.body, -1) {
			to := ref[1]
			if to == "" {
				to = path.Join(path.Dir(served(name)), ref[2])
			}
			if found := st.do("GET", to, "", "Authorization", "-"); found.status != 200 {
				t.Errorf("%s refers to %s, which is %d", name, to, found.status)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
