//go:build tools

// Package tools names the programs that tests use, so that go.mod and go.sum pin them.
package tools

import (
	_ "github.com/distribution/distribution/v3/cmd/registry"
	_ "github.com/google/go-containerregistry/cmd/crane"
	_ "helm.sh/helm/v4/cmd/helm"
)
