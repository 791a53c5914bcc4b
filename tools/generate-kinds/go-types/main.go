// Prints what Go's reflection knows of the built-in kinds, as JSON: every type reachable from a registered one, its
// fields in order with the Go type and whether they are left out when empty. The OpenAPI documents say none of this,
// and it shows: in the bytes that a server answers and in what it says about ill-typed fields.
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// A Field is one JSON member of a struct. Those of embedded structs stand among their owner's.
type Field struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// The embedded structs that the field comes from, as messages name them.
	Via       string `json:"via,omitempty"`
	OmitEmpty bool   `json:"omitEmpty,omitempty"`
	// Where Protobuf has it: its number, after those of the embedded messages that it is in. Empty if it does not.
	Number   string `json:"number,omitempty"`
	OmitZero bool   `json:"omitZero,omitempty"`
}

// A Type is a named type: a struct, one that reads its own JSON, or another name for what Of says.
type Type struct {
	Of     string  `json:"of,omitempty"`
	Custom bool    `json:"custom,omitempty"`
	Fields []Field `json:"fields,omitempty"`
}

var types = map[string]*Type{}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func main() {
	must(apiextensions.AddToScheme(scheme.Scheme))
	must(apiregistration.AddToScheme(scheme.Scheme))
	must(apidiscovery.AddToScheme(scheme.Scheme))
	must(metav1.AddMetaToScheme(scheme.Scheme))
	kinds := map[string]string{}
	for gvk, t := range scheme.Scheme.AllKnownTypes() {
		if gvk.Version == "__internal" {
			continue
		}
		kinds[gvk.Group+"/"+gvk.Version+"/"+gvk.Kind] = name(t)
	}
	must(json.NewEncoder(os.Stdout).Encode(map[string]any{"kinds": kinds, "types": types}))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// name spells a type as Go does, but with the import path before a type's name, and notes named types on the way.
func name(t reflect.Type) string {
	if t.Name() == "" {
		switch t.Kind() {
		case reflect.Pointer:
			return "*" + name(t.Elem())
		case reflect.Slice:
			return "[]" + name(t.Elem())
		case reflect.Map:
			return "map[" + name(t.Key()) + "]" + name(t.Elem())
		default:
			return t.String()
		}
	}
	if t.PkgPath() == "" {
		return t.Name()
	}
	full := t.PkgPath() + "." + t.Name()
	if types[full] == nil {
		known := &Type{}
		types[full] = known
		switch {
		case reflect.PointerTo(t).Implements(unmarshaler):
			known.Custom = true
		case t.Kind() == reflect.Struct:
			known.Fields = fields(t, "", "", nil)
		default:
			known.Of = underlying(t)
		}
	}
	return full
}

func underlying(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "[]" + name(t.Elem())
	case reflect.Map:
		return "map[" + name(t.Key()) + "]" + name(t.Elem())
	default:
		return t.Kind().String()
	}
}

// number reads a field's number from its tag; inside what has none, nothing has one.
func number(f reflect.StructField, within string) string {
	parts := strings.Split(f.Tag.Get("protobuf"), ",")
	if len(parts) < 2 || within == "none" {
		return "none"
	}
	return within + parts[1]
}

func fields(t reflect.Type, via string, within string, found []Field) []Field {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == "-" || !f.IsExported() {
			continue
		}
		if f.Anonymous && tag == "" {
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			inner := number(f, within)
			if inner != "none" {
				inner += "."
			}
			found = fields(embedded, via+f.Name+".", inner, found)
			continue
		}
		options := "," + rest + ","
		found = append(found, Field{
			Name:      tag,
			Type:      name(f.Type),
			Via:       via,
			OmitEmpty: strings.Contains(options, ",omitempty,"),
			OmitZero:  strings.Contains(options, ",omitzero,"),
			Number:    strings.TrimPrefix(number(f, within), "none"),
		})
	}
	return found
}
