package gate

import (
	"iter"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// netBits is the length of the IPv6 prefix that shares a budget: a network is a /64
// (RFC 4291, section 2.5.4), and one machine in it takes any of its addresses.
const netBits = 64

// proxies are the peers whose forwarding headers are believed.
type proxies []netip.Prefix

// origin is where a request comes from.
type origin struct {
	client netip.Addr // IPv4 or IPv6 without a zone; the zero Addr when the peer has none
	https  bool       // a trusted proxy says that the client used https
}

// origin is the socket peer, unless the peer is trusted: then its headers say who asks.
// What an untrusted peer sends in them changes nothing.
func (p proxies) origin(r *http.Request) origin {
	peer := parseAddress(r.RemoteAddr)
	if !p.trust(peer) {
		return origin{client: peer}
	}
	client, hops := p.client(peer, r.Header.Values("X-Forwarded-For"))
	return origin{client, usedHTTPS(r.Header, hops)}
}

// client walks X-Forwarded-For from the right, where the nearest proxy wrote, over the
// trusted addresses to the first other one; with trusted ones alone it is the left-most.
// hops is how many trusted addresses it met. An entry that is no address ends the walk,
// an empty one too: nobody vouches for what is left of it, so the address is the trusted
// one that passed it on.
func (p proxies) client(peer netip.Addr, lines []string) (client netip.Addr, hops int) {
	client = peer
	for entry := range fromRight(lines) {
		address := parseAddress(entry)
		if !address.IsValid() {
			break
		}
		client = address
		if !p.trust(address) {
			break
		}
		hops++
	}
	return client, hops
}

func (p proxies) trust(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(address) })
}

// matchesNone reports whether a range can hold no peer, since [parseAddress] never
// returns an address that is in it.
func matchesNone(prefix netip.Prefix) bool { return !prefix.IsValid() || prefix.Addr().Is4In6() }

// usedHTTPS reports whether the client used https, by the word of the trusted proxy that
// it connected to: hops values left of the right-most, or the left-most when there are
// fewer, since a proxy may replace what the one before it wrote. The header is
// X-Forwarded-Proto; without it, the proto of Forwarded (RFC 7239).
func usedHTTPS(h http.Header, hops int) bool {
	if lines := h.Values("X-Forwarded-Proto"); len(lines) > 0 {
		return strings.EqualFold(leftOf(lines, hops), "https")
	}
	for pair := range strings.SplitSeq(leftOf(h.Values("Forwarded"), hops), ";") {
		name, value, _ := strings.Cut(strings.Trim(pair, blank), "=")
		if strings.EqualFold(name, "proto") {
			return strings.EqualFold(strings.Trim(value, `"`), "https")
		}
	}
	return false
}

func leftOf(lines []string, hops int) (entry string) {
	for entry = range fromRight(lines) {
		if hops == 0 {
			break
		}
		hops--
	}
	return entry
}

// blank is the white space that may surround an entry of a header.
const blank = " \t"

// fromRight yields the comma-separated entries of a header's lines, the last one first.
func fromRight(lines []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, line := range slices.Backward(lines) {
			for comma := len(line); comma >= 0; {
				line = line[:comma]
				comma = strings.LastIndexByte(line, ',')
				if !yield(strings.Trim(line[comma+1:], blank)) {
					return
				}
			}
		}
	}
}

// parseAddress reads an address with or without a port, IPv6 in brackets or bare. A zone
// is dropped, and IPv4 mapped into IPv6 is IPv4. What is none of these is the zero Addr.
func parseAddress(text string) netip.Addr {
	var address netip.Addr
	inner, bracketed := strings.CutPrefix(text, "[")
	bare, closed := strings.CutSuffix(inner, "]")
	switch {
	case bracketed && closed:
		if address, _ = netip.ParseAddr(bare); !address.Is6() {
			return netip.Addr{}
		}
	case bracketed, strings.Count(text, ":") == 1:
		withPort, _ := netip.ParseAddrPort(text)
		address = withPort.Addr()
	default:
		address, _ = netip.ParseAddr(text)
	}
	return address.Unmap().WithZone("")
}

// holder is the address that a client's requests are counted under.
func holder(client netip.Addr) netip.Addr {
	if !client.Is6() {
		return client
	}
	return netip.PrefixFrom(client, netBits).Masked().Addr()
}
