package wire

import (
	"net/url"
	"strings"
)

// IsKey reports whether a credential can stand in a header: none of them holds anything
// but visible characters of ASCII.
func IsKey(key string) bool {
	return !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Address reads the http or https address that an API's paths are put behind; nil: it is
// none, or has a query or a fragment, behind which no path can be.
func Address(base string) *url.URL {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil
	}
	return u
}
