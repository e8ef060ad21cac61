package privacy_test

import (
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

func ExampleRedact() {
	fmt.Println(privacy.Redact("postgres://ines:curlew-11.42@db.example/boats is the staging database"))
	// Output: postgres://ines:[redacted:password]@db.example/boats is the staging database
}

// What is private is taken out of what the user said, and out of an answer that repeats it.
func ExampleWithoutPrivate() {
	kept, private := privacy.WithoutPrivate("Call Robin <private>on 0151 442 88 10</private> tomorrow.")
	fmt.Println(kept)
	fmt.Println(privacy.Clean("I would ring on 0151 442 88 10 before noon.", private))
	// Output:
	// Call Robin  tomorrow.
	// I would ring [private] before noon.
}
