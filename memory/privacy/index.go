package privacy

// An index finds strings in a text by their first two bytes.
type index[T any] struct {
	lists [][]T // the first is empty
	of    [1 << 16]uint8
}

func (x *index[T]) add(first, second byte, what T) {
	if x.lists == nil {
		x.lists = make([][]T, 1)
	}
	list := &x.of[int(first)<<8|int(second)]
	if *list == 0 {
		*list = uint8(len(x.lists))
		x.lists = append(x.lists, nil)
	}
	x.lists[*list] = append(x.lists[*list], what)
}

// at returns what begins with two bytes.
func (x *index[T]) at(first, second byte) []T {
	if list := x.of[int(first)<<8|int(second)]; list != 0 { // mostly nothing does
		return x.lists[list]
	}
	return nil
}
