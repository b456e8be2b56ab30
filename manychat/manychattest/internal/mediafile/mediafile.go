// Package mediafile names, makes and serves the media files of contacts.
package mediafile

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"image/jpeg"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// The hosts that media of contacts lives on (platform notes, 4.6).
const (
	S3Host   = "manybot-files.s3.eu-central-1.amazonaws.com" // WhatsApp and Telegram
	MetaHost = "lookaside.fbsbx.com"                         // Messenger and Instagram
)

var extensions = map[phone.Kind]string{phone.KindVoice: "ogg", phone.KindImage: "jpeg", phone.KindVideo: "mp4"}

var contentTypes = map[string]string{".ogg": "audio/ogg", ".jpeg": "image/jpeg", ".mp4": "video/mp4"}

// Source says whose file it is. N makes the name differ from all others.
type Source struct {
	PageID  string
	Channel manychat.Channel
	Contact string
	At      time.Time
	N       int64
}

// URL is the public address of a new file, in ManyChat's form on WhatsApp.
func URL(s Source, k phone.Kind) string {
	h := fnv.New128a()
	fmt.Fprintf(h, "%s/%s/%d/%d", s.PageID, s.Contact, s.At.UnixNano(), s.N)
	name := fmt.Sprintf("original_%x.%s", h.Sum(nil), extensions[k])
	if s.Channel == manychat.Messenger || s.Channel == manychat.Instagram {
		return "https://" + MetaHost + "/" + name
	}
	return fmt.Sprintf("https://%s/%s/wa/%s/%s", S3Host, s.PageID, s.At.UTC().Format("2006/01/02"), name)
}

// Name is the file's name within a URL or path.
func Name(url string) string { return path.Base(url) }

// Handler serves the files that find knows, under any path that ends in their
// name, without authentication.
func Handler(find func(name string) ([]byte, bool)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := find(Name(r.URL.Path))
		if !ok || (r.Method != http.MethodGet && r.Method != http.MethodHead) {
			http.NotFound(w, r)
			return
		}
		if t := contentTypes[path.Ext(r.URL.Path)]; t != "" {
			w.Header().Set("Content-Type", t)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	})
}

// Standin is a small file for a name that a URL of this package gave out: a picture
// that decodes, a second of silence, or the opening boxes of a video without frames.
func Standin(name string) (data []byte, ok bool) {
	if !strings.HasPrefix(name, "original_") {
		return nil, false
	}
	switch path.Ext(name) {
	case ".jpeg":
		return picture(), true
	case ".ogg":
		return silence(), true
	case ".mp4":
		return []byte("\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isommp42\x00\x00\x00\x08mdat"), true
	}
	return nil, false
}

func picture() []byte {
	img := image.NewGray(image.Rect(0, 0, 32, 32))
	for i := range 32 {
		img.SetGray(i, i, color.Gray{Y: 200})
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		return nil // unreachable: a buffer takes every write
	}
	return b.Bytes()
}
