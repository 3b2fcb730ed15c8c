package schemes

import (
	"testing"

	"go.uber.org/goleak"
)

// given are the descriptors that we were started with.
var given = inherited()

func TestMain(m *testing.M) {
	runHelper()
	goleak.VerifyTestMain(m)
}
