package embedded

import "testing"

func TestOneTypo(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"migrat", "migart", true}, {"migrat", "migrta", true}, {"migrat", "mgrat", true}, {"migrat", "miggrat", true},
		{"migrat", "migrot", true}, {"migrat", "migrats", true}, {"migrat", "migrat", false},
		{"migrat", "imgart", false}, {"migrat", "migrant5", false}, {"port80", "port81", false}, {"v12", "v123", false}, {"oclock", "o'clock", true},
	} {
		if oneTypo(c.a, c.b) != c.want || oneTypo(c.b, c.a) != c.want {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.want)
		}
	}
}
