// Command e2e runs those specs of the upstream Kubernetes e2e suite that a control plane alone can answer.
// It takes the upstream flags: --kubeconfig, --provider, --ginkgo.focus, --ginkgo.json-report and so on.
package main

import (
	"flag"
	"os"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"

	_ "k8s.io/kubernetes/test/e2e/apimachinery"
	_ "k8s.io/kubernetes/test/e2e/framework/metrics/init"
	_ "k8s.io/kubernetes/test/e2e/framework/node/init"
)

// outcome stands in for the testing.T that Ginkgo wants to tell about failures.
type outcome struct{ failed bool }

func (o *outcome) Fail() { o.failed = true }

func main() {
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	framework.AfterReadingAllFlags(&framework.TestContext)

	gomega.RegisterFailHandler(framework.Fail)
	suite, reporter := framework.CreateGinkgoConfig()
	var specs outcome
	if !ginkgo.RunSpecs(&specs, "Kubernetes e2e suite", suite, reporter) || specs.failed {
		os.Exit(1)
	}
}
