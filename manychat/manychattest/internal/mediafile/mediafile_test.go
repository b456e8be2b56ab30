package mediafile_test

import (
	"bytes"
	"encoding/binary"
	"image/jpeg"
	"testing"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/mediafile"
)

// Holds docs/reference/manychat-platform.md, section 7, "serve the media files":
// they are files that a decoder takes.
func TestStandinsAreValid(t *testing.T) {
	picture, ok := mediafile.Standin("original_0.jpeg")
	if _, err := jpeg.Decode(bytes.NewReader(picture)); err != nil || !ok {
		t.Errorf("the picture: %v", err)
	}
	video, ok := mediafile.Standin("original_0.mp4")
	if !ok || string(video[4:8]) != "ftyp" || binary.BigEndian.Uint32(video) != 24 || len(video) != 32 {
		t.Errorf("the video: %q", video)
	}
	if _, ok := mediafile.Standin("other.ogg"); ok {
		t.Error("a foreign name must not be served")
	}
}

// The voice note is three Ogg pages whose lengths and checksums hold.
func TestSilenceIsOgg(t *testing.T) {
	data, _ := mediafile.Standin("original_0.ogg")
	pages := 0
	for len(data) > 0 {
		if string(data[:4]) != "OggS" {
			t.Fatalf("page %d begins with %q", pages, data[:4])
		}
		segments := int(data[26])
		size := 27 + segments
		for _, n := range data[27 : 27+segments] {
			size += int(n)
		}
		page := bytes.Clone(data[:size])
		sum := binary.LittleEndian.Uint32(page[22:])
		clear(page[22:26])
		if got := crc(page); got != sum {
			t.Errorf("page %d: checksum %08x, want %08x", pages, sum, got)
		}
		data, pages = data[size:], pages+1
	}
	if pages != 3 {
		t.Errorf("got %d pages", pages)
	}
}

// crc is Ogg's checksum by long division over bits, to check the fast one.
func crc(data []byte) uint32 {
	var reg uint64
	for _, b := range append(bytes.Clone(data), 0, 0, 0, 0) {
		for bit := 7; bit >= 0; bit-- {
			reg = reg<<1 | uint64(b>>bit&1)
			if reg&(1<<32) != 0 {
				reg ^= 0x104c11db7
			}
		}
	}
	return uint32(reg)
}
