package telemetry_test

import (
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// What nobody reported stays so, and is never zero.
func Example() {
	two := int64(12_000)
	fmt.Println(telemetry.Plus(nil, nil) == nil, telemetry.Figure(*telemetry.Plus(&two, &two)))
	cost, euro := 1.25, "EUR"
	fmt.Println(telemetry.Sum{Cost: &cost, Currency: &euro}.Price(), telemetry.Bytes(1100))
	// Output:
	// true 24,000
	// 1.25 EUR 1.1 KB
}
