package language

// OneTypo reports whether two words differ by one letter that is too many, missing or another, or by two neighbours
// that are swapped. Digits are no typos: other numbers are other things.
func OneTypo(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if a == b || len(b)-len(a) > 1 {
		return false
	}
	first := 0
	for first < len(a) && a[first] == b[first] {
		first++
	}
	digit := func(s string, i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }
	if digit(a, first) || digit(b, first) {
		return false
	}
	if len(a) < len(b) {
		return a[first:] == b[first+1:]
	}
	return a[first+1:] == b[first+1:] ||
		first+1 < len(a) && a[first] == b[first+1] && a[first+1] == b[first] && a[first+2:] == b[first+2:]
}
