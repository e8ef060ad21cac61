package daemontest_test

import (
	"fmt"
	"net/http"

	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// A daemon answers, fails as it is told to, and knows what it was asked. In a test, Start ends it with the test.
func Example() {
	d, err := daemontest.Listen(daemontest.Options{Generation: daemontest.Middle})
	if err != nil {
		panic(err)
	}
	defer d.Close()
	d.Fail(daemontest.Fault{Path: "/health", Kind: daemontest.Status, Code: http.StatusServiceUnavailable, Times: 1})
	for range 2 {
		r, err := http.Get(d.URL() + "/health")
		if err != nil {
			panic(err)
		}
		r.Body.Close()
		fmt.Println(r.Status)
	}
	fmt.Println(len(d.Requests("/health")), "requests")
	// Output:
	// 503 Service Unavailable
	// 200 OK
	// 2 requests
}
