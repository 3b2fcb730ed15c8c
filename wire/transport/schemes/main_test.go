package schemes

import (
	"testing"

	"go.uber.org/goleak"
)

// given has the descriptors that the test inherited.
var given = inherited()

func TestMain(m *testing.M) {
	runHelper()
	goleak.VerifyTestMain(m)
}
