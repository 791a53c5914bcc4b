// bundle-check validates an OLM bundle with the validators of operator-framework/api, those that OperatorHub.io asks for
// included. It prints one line for each finding, and exits with 1 if one of them is an error.
package main

import (
	"fmt"
	"os"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bundle-check BUNDLE")
		os.Exit(2)
	}
	bundle, err := manifests.GetBundleFromDir(os.Args[1])
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	validators := validation.DefaultBundleValidators.WithValidators(
		validation.OperatorHubV2Validator,
		validation.StandardCapabilitiesValidator,
		validation.StandardCategoriesValidator,
		validation.ObjectValidator,
		validation.GoodPracticesValidator,
	)
	failed := false
	for _, result := range validators.Validate(bundle.ObjectsToValidate()...) {
		for _, finding := range result.Errors {
			failed = true
			fmt.Println("error:", finding.Error())
		}
		for _, finding := range result.Warnings {
			fmt.Println("warning:", finding.Error())
		}
	}
	if failed {
		os.Exit(1)
	}
}
