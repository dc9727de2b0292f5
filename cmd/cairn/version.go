package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

type versionCmd struct{}

// buildVersion is set by the linker for a release.
var buildVersion = ""

// Run prints the version.
func (versionCmd) Run(a *app) error {
	v := struct {
		Version string `json:"version"`
		Commit  string `json:"commit"`
		Go      string `json:"go"`
		OS      string `json:"os"`
		Arch    string `json:"arch"`
	}{version(), commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH}
	return a.show(v, func(w io.Writer) {
		fmt.Fprintf(w, "cairn %s (%s, %s, %s/%s)\n", v.Version, v.Commit, v.Go, v.OS, v.Arch)
	})
}

// version is the release, the module's version, or "dev".
func version() string {
	if buildVersion != "" {
		return buildVersion
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// commit is the revision the binary was built from, "unknown" when the build does not say.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return "unknown"
}
