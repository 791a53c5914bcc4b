// Applies three sets one after the other with wrangler, and tells when each began and ended:
//
//	apply-set <kubeconfig> <namespace> <user agent> <live|cached> <set.json>...
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/rancher/wrangler/v3/pkg/apply"
	"github.com/sirupsen/logrus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

type step struct {
	From  int64   `json:"from"`
	To    int64   `json:"to"`
	CPUMs float64 `json:"cpuMs"`
}

type cachedKind struct {
	informer cache.SharedIndexInformer
	kind     schema.GroupVersionKind
}

func (c cachedKind) Informer() cache.SharedIndexInformer       { return c.informer }
func (c cachedKind) GroupVersionKind() schema.GroupVersionKind { return c.kind }

var kinds = map[schema.GroupVersionKind]string{
	{Version: "v1", Kind: "ConfigMap"}:                 "configmaps",
	{Version: "v1", Kind: "Secret"}:                    "secrets",
	{Version: "v1", Kind: "Service"}:                   "services",
	{Version: "v1", Kind: "ServiceAccount"}:            "serviceaccounts",
	{Group: "apps", Version: "v1", Kind: "Deployment"}: "deployments",
}

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, namespace, userAgent, mode string, files []string) error {
	logrus.SetLevel(logrus.WarnLevel)
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	config.UserAgent = userAgent
	applier, err := apply.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	applier = applier.WithContext(ctx).WithSetID("bench-" + namespace).WithDefaultNamespace(namespace)
	if mode == "live" {
		applier = applier.WithDynamicLookup()
	} else {
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return err
		}
		factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, nil)
		var held []apply.InformerGetter
		for kind, resource := range kinds {
			informer := factory.ForResource(kind.GroupVersion().WithResource(resource)).Informer()
			held = append(held, cachedKind{informer, kind})
		}
		factory.Start(ctx.Done())
		factory.WaitForCacheSync(ctx.Done())
		applier = applier.WithCacheTypes(held...)
	}
	var steps []step
	for _, file := range files {
		objects, err := read(file)
		if err != nil {
			return err
		}
		from, cpu := time.Now(), cpuMs()
		if err := applier.ApplyObjects(objects...); err != nil {
			return err
		}
		steps = append(steps, step{from.UnixMicro(), time.Now().UnixMicro(), cpuMs() - cpu})
		// So that caches have seen what was written, and the audit log can tell the steps apart.
		time.Sleep(500 * time.Millisecond)
	}
	return json.NewEncoder(os.Stdout).Encode(steps)
}

func read(file string) ([]runtime.Object, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []map[string]any
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	objects := make([]runtime.Object, 0, len(list))
	for _, object := range list {
		objects = append(objects, &unstructured.Unstructured{Object: object})
	}
	return objects, nil
}

func cpuMs() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6
}
