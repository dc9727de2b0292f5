package consensus

import (
	"math"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// diskWatch remembers how full the data disk was when it last looked.
type diskWatch struct {
	fs      vfs.FS
	dir     string
	percent int
	used    atomic.Uint64 // float64 bits of the used share
	left    atomic.Uint64 // bytes available
}

// look reads the filling. A file system that cannot tell counts as empty:
// refusing writes for that would be worse.
func (d *diskWatch) look() {
	usage, err := d.fs.GetDiskUsage(d.dir)
	if err != nil || usage.TotalBytes == 0 {
		d.used.Store(0)
		d.left.Store(0)
		return
	}
	d.left.Store(usage.AvailBytes)
	// What root keeps for itself is not available to us, so it counts as used.
	d.used.Store(math.Float64bits(1 - float64(usage.AvailBytes)/float64(usage.TotalBytes)))
}

func (d *diskWatch) usedRatio() float64 { return math.Float64frombits(d.used.Load()) }

func (d *diskWatch) full() bool { return d.usedRatio() >= float64(d.percent)/100 }
