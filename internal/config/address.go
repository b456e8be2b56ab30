package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/tenant/document"
)

// URL is an absolute http or https URL without a trailing slash.
type URL string

// String leaves out a password that the URL carries.
func (u URL) String() string { return withoutPassword(string(u)) }

// LogValue is String: logs hold no password.
func (u URL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// GoString is String, quoted.
func (u URL) GoString() string { return strconv.Quote(u.String()) }

// MarshalText is String: no encoding holds a password.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// Reveal is the URL itself, with a password that it may carry.
func (u URL) Reveal() string { return string(u) }

func (u *URL) parse(text string) error {
	parsed, ok := document.Address(text)
	if !ok || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return errors.New("is not a URL: set it to an address that begins with https:// or http://")
	}
	*u = URL(strings.TrimRight(text, "/"))
	return nil
}

func (u URL) isHTTPS() bool { return strings.HasPrefix(strings.ToLower(string(u)), "https://") }

// Database is where the rows are: sqlite: and a file, or a postgres:// URL.
type Database string

// String leaves out the password.
func (d Database) String() string { return withoutPassword(string(d)) }

// LogValue is String: logs hold no password.
func (d Database) LogValue() slog.Value { return slog.StringValue(d.String()) }

// GoString is String, quoted.
func (d Database) GoString() string { return strconv.Quote(d.String()) }

// MarshalText is String: no encoding holds a password.
func (d Database) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Reveal is the address itself, with its password.
func (d Database) Reveal() string { return string(d) }

// SQLiteFile is the file of an SQLite database; ok is false for PostgreSQL.
func (d Database) SQLiteFile() (file string, ok bool) {
	return strings.CutPrefix(string(d), "sqlite:")
}

func (d *Database) parse(text string) error {
	file, sqlite := strings.CutPrefix(text, "sqlite:")
	switch {
	case sqlite && file != "":
	case sqlite:
		return errors.New("names no file: set it to sqlite: and a file, such as sqlite:data/agent.db")
	case strings.HasPrefix(text, "postgres://"), strings.HasPrefix(text, "postgresql://"):
		if u, err := url.Parse(text); err != nil || u.Hostname() == "" && u.Query().Get("host") == "" {
			return errors.New("is not a PostgreSQL URL: set it to postgres://user:password@host/database (percent-encode special characters of the password)")
		}
	default:
		return errors.New("names no known database: set it to sqlite: and a file, or to postgres://user:password@host/database")
	}
	*d = Database(text)
	return nil
}

// withoutPassword masks what an address holds in its user part and its query.
func withoutPassword(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return mask
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	query := u.Query()
	for _, key := range []string{"password", "sslpassword"} {
		if query.Has(key) {
			query.Del(key)
			u.RawQuery = query.Encode()
		}
	}
	return u.String()
}

// TrustedProxies are the peers whose X-Forwarded-For is believed: ranges of IPv4 and of
// IPv6 addresses, none of them of IPv4 addresses mapped into IPv6.
type TrustedProxies []netip.Prefix

// String lists the ranges.
func (t TrustedProxies) String() string {
	parts := make([]string, len(t))
	for i, prefix := range t {
		parts[i] = prefix.String()
	}
	return strings.Join(parts, ",")
}

func (t *TrustedProxies) parse(text string) error {
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		prefixes, err := proxies(entry)
		if err != nil {
			return fmt.Errorf("holds the entry %q: set each to an address, a range such as 10.0.0.0/8, loopback, linklocal or uniquelocal", entry)
		}
		*t = append(*t, prefixes...)
	}
	return nil
}

// proxies expands one entry of TRUST_PROXY; docs/spec/02-inbound.md, "Order of checks".
func proxies(entry string) ([]netip.Prefix, error) {
	switch entry {
	case "loopback":
		return parsePrefixes("127.0.0.0/8", "::1/128")
	case "linklocal":
		return parsePrefixes("169.254.0.0/16", "fe80::/10")
	case "uniquelocal":
		return parsePrefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
	}
	if strings.Contains(entry, "/") {
		return parsePrefixes(entry)
	}
	address, err := netip.ParseAddr(entry)
	if err != nil || address.Zone() != "" {
		return nil, errors.New("not an address")
	}
	address = address.Unmap()
	return []netip.Prefix{netip.PrefixFrom(address, address.BitLen())}, nil
}

func parsePrefixes(texts ...string) ([]netip.Prefix, error) {
	prefixes := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		if prefix, err = unmapped(prefix); err != nil {
			return nil, err
		}
		prefixes[i] = prefix.Masked()
	}
	return prefixes, nil
}

// mappedBits is the length of the prefix that IPv4 addresses have within IPv6 (RFC 4291,
// section 2.5.5.2).
const mappedBits = 96

// unmapped writes a range of IPv4 addresses within IPv6 as the IPv4 range that it is:
// as it stands it would hold no peer.
func unmapped(prefix netip.Prefix) (netip.Prefix, error) {
	switch {
	case !prefix.Addr().Is4In6():
		return prefix, nil
	case prefix.Bits() < mappedBits:
		return netip.Prefix{}, errors.New("more than the IPv4 addresses")
	}
	return netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-mappedBits), nil
}
