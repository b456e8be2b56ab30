// Package flow is the flows of the business in the emulated account: what a contact sees
// of them, and the pictures in them, which are drawn here.
package flow

import (
	"fmt"
	"hash/fnv"
	"html"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// MediaPath is where the page finds the pictures.
const MediaPath = "/sandbox/media"

// Picture is what a flow's medium is a picture of. Each is drawn here: nothing comes from
// the internet.
type Picture string

// The pictures.
const (
	Image Picture = "image"
	Map   Picture = "map"
	Video Picture = "video" // its first frame
	File  Picture = "file"  // its first page
)

// Pictures lists them.
func Pictures() []Picture { return []Picture{Image, Map, Video, File} }

// The size of a picture, in its own units, and how much of its title fits.
const (
	pictureWidth, pictureHeight = 320, 200
	titleLines, titleRunes      = 2, 30
)

// Serve serves one picture as SVG: its name says of what, its query the title.
func Serve(w http.ResponseWriter, r *http.Request) {
	name, isSVG := strings.CutSuffix(r.PathValue("file"), ".svg")
	if p := Picture(name); isSVG && slices.Contains(Pictures(), p) {
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = w.Write([]byte(p.draw(r.URL.Query().Get("title")))) // a browser that is gone needs no picture
		return
	}
	http.NotFound(w, r)
}

// draw draws a picture. The same title gives the same picture, in colours of its own.
func (p Picture) draw(title string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(title)) // a hash takes every write
	hue := h.Sum32() % 360
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">`, pictureWidth, pictureHeight)
	fmt.Fprintf(&b, `<title>%s</title><rect width="%d" height="%d" fill="hsl(%d,35%%,86%%)"/>`,
		html.EscapeString(title), pictureWidth, pictureHeight, hue)
	b.WriteString(strings.NewReplacer(
		"DARK", fmt.Sprintf("hsl(%d,40%%,35%%)", hue),
		"MID", fmt.Sprintf("hsl(%d,45%%,60%%)", (hue+40)%360),
	).Replace(motifs()[p]))
	lines := lines(title)
	fmt.Fprintf(&b, `<rect y="%d" width="%d" height="%d" fill="#fff" fill-opacity=".88"/>`,
		pictureHeight-24*len(lines)-10, pictureWidth, 24*len(lines)+10)
	for i, line := range lines {
		fmt.Fprintf(&b, `<text x="14" y="%d" font-family="sans-serif" font-size="18" fill="#222">%s</text>`,
			pictureHeight-24*(len(lines)-1-i)-12, html.EscapeString(line))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// motifs are what the pictures show above their titles.
func motifs() map[Picture]string {
	return map[Picture]string{
		Image: `<circle cx="250" cy="48" r="24" fill="#fff"/><path d="M0 200 90 76l70 84 50-52 110 92z" fill="MID"/><path d="M0 200 50 120l110 80z" fill="DARK"/>`,
		Map: `<path d="M0 60h320M0 120h320M80 0v200M200 0v200" stroke="#fff" stroke-width="14"/>` +
			`<path d="M20 20l60 40h120v60h60" fill="none" stroke="DARK" stroke-width="5" stroke-dasharray="9 6"/>` +
			`<circle cx="20" cy="20" r="8" fill="DARK"/><path d="M260 124l-15-26a17 17 0 1 1 30 0z" fill="MID" stroke="DARK" stroke-width="3"/>`,
		Video: `<path d="M0 200 120 60l80 70 40-30 80 100z" fill="MID"/><circle cx="160" cy="84" r="36" fill="#000" fill-opacity=".55"/><path d="M148 64l34 20-34 20z" fill="#fff"/>`,
		File: `<path d="M110 18h74l26 26v130H110z" fill="#fff" stroke="DARK" stroke-width="3"/><path d="M184 18v26h26" fill="none" stroke="DARK" stroke-width="3"/>` +
			`<path d="M126 64h68M126 82h68M126 100h44" stroke="MID" stroke-width="6"/>`,
	}
}

// lines breaks a title between words. What does not fit ends in an ellipsis.
func lines(title string) []string {
	out := []string{""}
	for _, word := range strings.Fields(title) {
		last := len(out) - 1
		switch joined := strings.TrimSpace(out[last] + " " + word); {
		case utf8.RuneCountInString(joined) <= titleRunes || out[last] == "" && len(out) == titleLines:
			out[last] = joined
		case len(out) < titleLines:
			out = append(out, word)
		default:
			out[last] += " …"
			return clipped(out)
		}
	}
	return clipped(out)
}

// clipped cuts the words that are longer than a line.
func clipped(lines []string) []string {
	for i, line := range lines {
		if r := []rune(line); len(r) > titleRunes+2 {
			lines[i] = string(r[:titleRunes]) + "…"
		}
	}
	return lines
}
