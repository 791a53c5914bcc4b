// oci-check validates an OCI image layout with image-spec's own schemas: every index, manifest and config that
// index.json leads to, and the digest and size of every blob on the way.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/schema"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: oci-check LAYOUT")
		os.Exit(2)
	}
	if err := checkLayout(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func checkLayout(dir string) error {
	if _, err := validated(filepath.Join(dir, "oci-layout"), schema.ValidatorMediaTypeLayoutHeader); err != nil {
		return err
	}
	content, err := validated(filepath.Join(dir, "index.json"), schema.ValidatorMediaTypeImageIndex)
	if err != nil {
		return err
	}
	var index v1.Index
	if err := json.Unmarshal(content, &index); err != nil {
		return err
	}
	return checkAll(dir, index.Manifests)
}

func checkAll(dir string, descriptors []v1.Descriptor) error {
	for _, descriptor := range descriptors {
		if err := check(dir, descriptor); err != nil {
			return fmt.Errorf("%s: %w", descriptor.Digest, err)
		}
	}
	return nil
}

func check(dir string, descriptor v1.Descriptor) error {
	encoded, err := json.Marshal(descriptor)
	if err != nil {
		return err
	}
	if err := schema.ValidatorMediaTypeDescriptor.Validate(bytes.NewReader(encoded)); err != nil {
		return err
	}
	path := filepath.Join(dir, "blobs", descriptor.Digest.Algorithm().String(), descriptor.Digest.Encoded())
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if actual := digest.FromBytes(content); actual != descriptor.Digest || int64(len(content)) != descriptor.Size {
		return fmt.Errorf("holds %d bytes with digest %s, want %d bytes", len(content), actual, descriptor.Size)
	}
	switch descriptor.MediaType {
	case v1.MediaTypeImageIndex:
		if _, err := validated(path, schema.ValidatorMediaTypeImageIndex); err != nil {
			return err
		}
		var index v1.Index
		if err := json.Unmarshal(content, &index); err != nil {
			return err
		}
		return checkAll(dir, index.Manifests)
	case v1.MediaTypeImageManifest:
		if _, err := validated(path, schema.ValidatorMediaTypeManifest); err != nil {
			return err
		}
		var manifest v1.Manifest
		if err := json.Unmarshal(content, &manifest); err != nil {
			return err
		}
		return checkAll(dir, append([]v1.Descriptor{manifest.Config}, manifest.Layers...))
	case v1.MediaTypeImageConfig:
		_, err := validated(path, schema.ValidatorMediaTypeImageConfig)
		return err
	}
	fmt.Println(descriptor.MediaType, descriptor.Digest)
	return nil
}

func validated(path string, validator schema.Validator) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := validator.Validate(bytes.NewReader(content)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return content, nil
}
