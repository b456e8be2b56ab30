package address

import "strings"

// Is reports whether a string can be where a link leads: it has a scheme, or is a
// host, a path, an anchor or an e-mail address.
func Is(s string) bool {
	if strings.Contains(s, "://") || scheme(s) != "" {
		return true
	}
	if strings.ContainsAny(s, " \t") {
		return false
	}
	if s[0] == '/' || s[0] == '#' && len(s) > 1 {
		return true
	}
	host, _, _ := strings.Cut(s, "/")
	host, _, _ = strings.Cut(host, "?")
	if _, domain, ok := strings.Cut(host, "@"); ok {
		host = domain
	}
	return isHost(host)
}

// scheme returns the scheme of an address for which phones show the rest alone.
func scheme(s string) string {
	for _, name := range []string{"mailto:", "tel:", "sms:"} {
		if strings.HasPrefix(s, name) {
			return name
		}
	}
	return ""
}

// Shown is what is written of an address: all of it, unless it is an e-mail
// address or a number, or leads to a place in the page that the contact is not on.
func Shown(s string) string {
	if strings.HasPrefix(s, "#") && !strings.Contains(s, "://") {
		return ""
	}
	if name := scheme(s); name != "" && !strings.Contains(s, "?") {
		return s[len(name):]
	}
	return s
}

// Same reports whether a label says no more than the address it stands for.
func Same(label, address string) bool {
	if label == "" || label == address || label+"/" == address {
		return true
	}
	if strings.Contains(label, "://") {
		return false
	}
	if _, rest, ok := strings.Cut(address, "://"); ok {
		rest = strings.TrimSuffix(rest, "/")
		label = strings.TrimSuffix(label, "/")
		return strings.EqualFold(label, rest) || strings.EqualFold(label, strings.TrimPrefix(rest, "www."))
	}
	return strings.NewReplacer(" ", "", "-", "", "(", "", ")", "", "/", "", ".", "").Replace(label) == address
}
