package delegation

import (
	"errors"
	"fmt"
)

// maxDepth is how deep delegations may be nested.
const maxDepth = 2

// nest limits a delegation inside another to what that one leaves it: it shrinks with each agent in a chain.
func (l *Ledger) nest(d *Delegation, outer Delegation) error {
	d.Root, d.Depth = outer.Root, outer.Depth+1
	switch {
	case outer.State != Running || outer.Cancel != "":
		return errors.New("the delegation that you work for is ending: delegate nothing")
	case d.Depth > maxDepth:
		return fmt.Errorf("your task is %d delegations deep, and %d is the maximum: do it yourself, or say in "+
			"your answer what is left", outer.Depth, maxDepth)
	case d.Mode == Edit && outer.Mode != Edit:
		return errors.New("you may only read, and so may your child: omit mode")
	}
	left := outer.Budget
	if left.Seconds > 0 {
		left.Seconds = max(1, left.Seconds-int(l.now().Sub(outer.Started).Seconds()))
	}
	d.Budget, d.Detach = d.Budget.within(left), false
	return nil
}
