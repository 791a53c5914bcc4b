// informer <server> <events> typed|no-managed-fields|dynamic: a shared informer of Pods until so many events have come.
package main

import (
	"encoding/json"
	"log"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// CPU of the whole process in ms.
func cpuMs() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6
}

// A field of the process's status, in MB.
func statusMb(field string) float64 {
	status := must(os.ReadFile("/proc/self/status"))
	found := regexp.MustCompile(field + `:\s+(\d+)`).FindSubmatch(status)
	return must(strconv.ParseFloat(string(found[1]), 64)) / 1024
}

func heapBytes() uint64 {
	debug.FreeOSMemory() // collects garbage, too
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func report(figures map[string]any) {
	os.Stdout.Write(append(must(json.Marshal(figures)), '\n'))
}

func informerOf(config *rest.Config, how string) cache.SharedIndexInformer {
	if how == "dynamic" {
		factory := dynamicinformer.NewDynamicSharedInformerFactory(must(dynamic.NewForConfig(config)), 0)
		return factory.ForResource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Informer()
	}
	informer := informers.NewSharedInformerFactory(must(kubernetes.NewForConfig(config)), 0).Core().V1().Pods().Informer()
	if how == "no-managed-fields" {
		err := informer.SetTransform(func(object any) (any, error) {
			if accessor, err := meta.Accessor(object); err == nil {
				accessor.SetManagedFields(nil)
			}
			return object, nil
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	return informer
}

func main() {
	server, events, how := os.Args[1], must(strconv.Atoi(os.Args[2])), os.Args[3]
	informer := informerOf(&rest.Config{Host: server}, how)
	read, seen := 0, 0
	take := func(object any) {
		switch pod := object.(type) {
		case *corev1.Pod:
			read += len(pod.Name) + len(pod.Spec.NodeName)
		case *unstructured.Unstructured:
			node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
			read += len(pod.GetName()) + len(node)
		default:
			log.Fatalf("unexpected %T", object)
		}
	}
	done := make(chan struct{})
	handler := must(informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: take,
		UpdateFunc: func(_, object any) {
			take(object)
			if seen++; seen == events {
				close(done)
			}
		},
	}))
	heap := heapBytes()
	cpu := cpuMs()
	stop := make(chan struct{})
	go informer.Run(stop)
	for !handler.HasSynced() {
		time.Sleep(5 * time.Millisecond)
	}
	sync, atSync := cpuMs()-cpu, statusMb("VmRSS")
	objects := len(informer.GetStore().ListKeys())
	held := heapBytes() - heap
	report(map[string]any{
		"objects": objects, "cpuMs": sync, "heapBytes": held,
		"atSyncMb": atSync, "rssMb": statusMb("VmRSS"), "peakMb": statusMb("VmHWM"),
	})
	cpu = cpuMs()
	<-done
	report(map[string]any{"events": seen, "cpuMs": cpuMs() - cpu, "peakMb": statusMb("VmHWM"), "read": read})
}
