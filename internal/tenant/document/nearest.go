package document

import (
	"strings"
	"unicode"
)

// Nearest returns the candidate that a misspelt word most likely meant, and whether
// one is near enough: as many edits (insert, delete, replace, swap neighbours) as a
// third of the word, at most three; case and separators do not count.
func Nearest(word string, candidates []string) (string, bool) {
	best, distance := "", 4
	word = plain(word)
	for _, c := range candidates {
		if n := edits(word, plain(c)); n < distance && n <= max(1, len(c)/3) {
			best, distance = c, n
		}
	}
	return best, best != ""
}

func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// edits is the optimal string alignment distance in bytes.
func edits(a, b string) int {
	if abs(len(a)-len(b)) > 3 {
		return 4
	}
	previous, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(next[j-1]+1, row[j]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], previous[j-2]+1)
			}
		}
		previous, row, next = row, next, previous
	}
	return row[len(b)]
}

func abs(n int) int {
	return max(n, -n)
}
