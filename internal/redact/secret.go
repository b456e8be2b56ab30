package redact

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/redact/glyph"
)

// findSecrets takes out what stands behind the name of a secret: Bearer xyz,
// token=xyz, "password": "xyz", and the value of a header that carries credentials.
func (f *finder) findSecrets() {
	t := f.text
	for i := 0; i < len(t); i++ {
		var start, end int
		switch t[i] {
		case '=':
			if isSecretName(nameBefore(t, i)) {
				start, end = valueAfter(t, i+1)
			}
		case ':':
			start, end = behindColon(t, i)
		case ' ':
			start, end = behindBearer(t, i)
		}
		if end > start && !isMarked(t[start:]) {
			f.take(start, end, secret)
			i = end - 1
		}
	}
}

// behindColon is the value behind a key of JSON, quoted once or more, or the whole line
// behind the name of a header.
func behindColon(t string, i int) (start, end int) {
	name := nameBefore(t, i)
	if i > 0 && glyph.Is(t[i-1], glyph.Quote) && isSecretName(name) {
		return valueAfter(t, i+1)
	}
	switch strings.ToLower(name) {
	case "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key":
		start = glyph.Run(t, i+1, glyph.Space)
		for end = start; end < len(t) && !glyph.Is(t[end], glyph.Newline|glyph.Quote) && t[end] != glyph.Taken; end++ {
		}
		return start, end
	}
	return 0, 0
}

// behindBearer is the token behind the word before i. The word is an ordinary one too:
// in small letters it counts only before something that is no word.
func behindBearer(t string, i int) (start, end int) {
	const name = "bearer"
	begin := i - len(name)
	if begin < 0 || !strings.EqualFold(t[begin:i], name) || begin > 0 && glyph.Is(t[begin-1], glyph.Alnum) {
		return 0, 0
	}
	start = glyph.Run(t, i, glyph.Space)
	end = start
	for end < len(t) && (glyph.Is(t[end], glyph.Word|glyph.Dot|glyph.Equals|glyph.Slash) || t[end] == '+' || t[end] == '~') {
		end++
	}
	end = start + len(strings.TrimRight(t[start:end], "."))
	if t[begin] == 'b' && glyph.Run(t, start, glyph.Lower) == end && end-start < longWord+5 {
		return 0, 0
	}
	return start, end
}

// nameBefore is the name that ends before i, without the quotes round it.
func nameBefore(t string, i int) string {
	for i > 0 && (glyph.Is(t[i-1], glyph.Quote) || t[i-1] == '\\') {
		i--
	}
	return t[glyph.Back(t, i, glyph.Word):i]
}

// valueAfter is the value that begins at i: to the closing quote, or to the end of the
// word. The quotes stay.
func valueAfter(t string, i int) (start, end int) {
	start = i
	for start < len(t) && (glyph.Is(t[start], glyph.Space) || t[start] == '\\') {
		start++
	}
	if start < len(t) && glyph.Is(t[start], glyph.Quote) {
		return start + 1, quotedEnd(t, start)
	}
	if i > 0 && t[i-1] == '=' && start > i {
		return 0, 0 // "token = x" in prose
	}
	for end = start; end < len(t) && !glyph.Is(t[end], glyph.Space|glyph.Newline|glyph.Quote) && !glyph.In("&,;)}<>", t[end]) && t[end] != glyph.Taken; end++ {
	}
	return start, end
}

// quotedEnd is where what is quoted ends, whose quote is at i. In JSON within JSON the
// quotes are escaped themselves.
func quotedEnd(t string, i int) int {
	nested := i > 0 && t[i-1] == '\\'
	for end := i + 1; end < len(t); end++ {
		switch {
		case t[end] == t[i], nested && strings.HasPrefix(t[end:], `\`+t[i:i+1]), glyph.Is(t[end], glyph.Newline):
			return end
		case t[end] == '\\':
			end++
		}
	}
	return len(t)
}

// parted takes out what stands between the words of a name.
var parted = strings.NewReplacer("_", "", "-", "")

// isSecretName reports whether a name says that its value is a secret: the last word
// counts, so MANYCHAT_API_TOKEN and clientSecret do, and tokens does not.
func isSecretName(name string) bool {
	if len(name) < len("pwd") {
		return false
	}
	name = strings.ToLower(parted.Replace(name))
	for _, last := range []string{"password", "passwd", "pwd", "passphrase", "secret", "token", "apikey", "accesskey", "privatekey", "authorization", "cookie"} {
		if strings.HasSuffix(name, last) {
			return true
		}
	}
	return false
}

// isMarked reports whether the text begins with something that stands for a secret
// already.
func isMarked(t string) bool {
	for _, marker := range []string{phone, email, link, media, number, token, secret, flow, Mark, "[redacted]", "[subscriber]"} {
		if strings.HasPrefix(t, marker) {
			return true
		}
	}
	return false
}
