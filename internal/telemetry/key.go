package telemetry

import "strings"

// private are the keys whose values never reach a log line, whatever they hold
// (docs/spec/01-principles.md, C5), in small letters and without marks: subscriber_id,
// subscriber-id and subscriberId are one.
var private = map[string]bool{
	"name": true, "firstname": true, "lastname": true, "fullname": true, "middlename": true, "nickname": true,
	"username": true, "displayname": true, "contactname": true, "customername": true, "profilename": true,
	"text": true, "texts": true, "message": true, "messages": true, "body": true, "content": true, "caption": true,
	"lastinputtext": true, "lastinput": true, "reply": true, "replies": true, "note": true, "notes": true,
	"prompt": true, "transcript": true, "birthday": true, "gender": true,
	"flow": true, "mediaurl": true, "media": true, "profilepic": true, "profilepicture": true, "profilepicurl": true,
	"avatar": true, "avatarurl": true, "livechaturl": true, "customfields": true, "userref": true, "psid": true,
}

// longestKey is how long a key of this program may be.
const longestKey = 64

// isPrivate reports whether a key says that its value is nobody else's business.
func isPrivate(key string) bool {
	if len(key) > longestKey {
		return true // no key of ours
	}
	var room [longestKey]byte
	plain := room[:0]
	for i := range len(key) {
		switch c := key[i]; {
		case c >= 'A' && c <= 'Z':
			plain = append(plain, c+'a'-'A')
		case c != '_' && c != '-' && c != '.' && c != ' ':
			plain = append(plain, c)
		}
	}
	if private[string(plain)] || endsPrivate(plain) {
		return true
	}
	for i := range plain {
		if beginsPrivate(plain[i:]) {
			return true
		}
	}
	return false
}

// beginsPrivate reports whether a key begins with what makes every key private that
// holds it, such as whatsapp_phone and reply_to_email. It runs for every letter of every
// key of a line.
func beginsPrivate(key []byte) bool {
	if len(key) < len("phone") {
		return false // the shortest
	}
	switch key[0] {
	case 's':
		return begins(key, "subscriber") || begins(key, "secret")
	case 'p':
		return begins(key, "phone") || begins(key, "passw")
	case 'e':
		return begins(key, "email")
	case 'a':
		return begins(key, "authorization")
	case 'c':
		return begins(key, "cookie")
	case 'f':
		return begins(key, "flowns")
	}
	return false
}

// endsPrivate reports whether a key ends in what makes it private: ai_token does, and
// tokens_in counts.
func endsPrivate(key []byte) bool {
	switch key := string(key); {
	case strings.HasSuffix(key, "n"):
		return strings.HasSuffix(key, "token")
	case strings.HasSuffix(key, "y"):
		return strings.HasSuffix(key, "apikey") || strings.HasSuffix(key, "accesskey") || strings.HasSuffix(key, "privatekey")
	}
	return false
}

func begins(key []byte, with string) bool {
	return len(key) >= len(with) && string(key[:len(with)]) == with
}

// isLinkKey reports whether a key names a link.
func isLinkKey(key string) bool {
	return len(key) >= len("url") && (strings.EqualFold(key[len(key)-3:], "url") || strings.EqualFold(key, "href") || strings.EqualFold(key, "link"))
}

// isMeasure reports whether a key says that its number is a time or a size.
func isMeasure(key string) bool {
	for _, unit := range [...]string{"_us", "_ms", "_ns", "_bytes", "_micros"} {
		if strings.HasSuffix(key, unit) {
			return true
		}
	}
	return false
}
