package embed

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

var errTensors = errors.New("safetensors file is damaged")

// tensor is one entry of a safetensors file. data aliases the file.
type tensor struct {
	dtype string
	shape []int
	data  []byte
}

// readTensors parses a safetensors file: u64 header length, JSON header, data. It checks that every tensor lies in the
// data and has the size its shape and type ask for.
func readTensors(b []byte) (map[string]tensor, error) {
	if len(b) < 8 {
		return nil, fmt.Errorf("%w: %d bytes", errTensors, len(b))
	}
	n := binary.LittleEndian.Uint64(b)
	if n > uint64(len(b)-8) {
		return nil, fmt.Errorf("%w: header of %d bytes in a file of %d", errTensors, n, len(b))
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(b[8:8+n], &header); err != nil {
		return nil, fmt.Errorf("%w: header: %w", errTensors, err)
	}
	data := b[8+n:]
	out := make(map[string]tensor, len(header))
	for name, raw := range header {
		if name == "__metadata__" {
			continue
		}
		t, err := readTensor(raw, data)
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		out[name] = t
	}
	return out, nil
}

func readTensor(raw json.RawMessage, data []byte) (tensor, error) {
	var h struct {
		Dtype   string    `json:"dtype"`
		Shape   []int     `json:"shape"`
		Offsets [2]uint64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		return tensor{}, fmt.Errorf("%w: %w", errTensors, err)
	}
	size := map[string]uint64{"F32": 4, "I8": 1, "U8": 1}[h.Dtype]
	if size == 0 {
		return tensor{}, fmt.Errorf("%w: type %q", errTensors, h.Dtype)
	}
	for _, d := range h.Shape {
		if d < 0 || d > math.MaxInt32 || size > math.MaxInt32 {
			return tensor{}, fmt.Errorf("%w: shape %v", errTensors, h.Shape)
		}
		size *= uint64(d)
	}
	a, z := h.Offsets[0], h.Offsets[1]
	if a > z || z > uint64(len(data)) || z-a != size {
		return tensor{}, fmt.Errorf("%w: bytes %d to %d for shape %v", errTensors, a, z, h.Shape)
	}
	return tensor{h.Dtype, h.Shape, data[a:z]}, nil
}

// floats returns a copy of an F32 tensor of the given shape.
func floats(ts map[string]tensor, name string, shape ...int) ([]float32, error) {
	t, err := typed(ts, name, "F32", shape...)
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(t.data)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:]))
	}
	return out, nil
}

func typed(ts map[string]tensor, name, dtype string, shape ...int) (tensor, error) {
	t, ok := ts[name]
	if !ok {
		return tensor{}, fmt.Errorf("%w: no tensor %q", errTensors, name)
	}
	same := t.dtype == dtype && len(t.shape) == len(shape)
	for i := range shape {
		same = same && t.shape[i] == shape[i]
	}
	if !same {
		return tensor{}, fmt.Errorf("%w: tensor %q is %s%v, want %s%v", errTensors, name, t.dtype, t.shape, dtype, shape)
	}
	return t, nil
}
