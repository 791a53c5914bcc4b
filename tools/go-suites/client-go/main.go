// A client-go program against the server in KUBECONFIG, in Protobuf: informers sync and tell of changes, and of two
// candidates one leads, then the other. Exits with an error that says what did not happen.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

const patience = 100 * time.Second

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	check("read KUBECONFIG", err)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	client, err := kubernetes.NewForConfig(config)
	check("make a client", err)
	followChanges(ctx, client)
	electLeaders(ctx, client)
	fmt.Println("informers have synced and reported changes; two leaders have led")
}

func followChanges(ctx context.Context, client kubernetes.Interface) {
	factory := informers.NewSharedInformerFactory(client, 0)
	told := make(chan string, 100)
	tell := func(what string) func(any) {
		return func(object any) {
			if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = gone.Obj
			}
			if it, ok := object.(*corev1.ConfigMap); ok && it.Name == "followed" {
				told <- what + " " + it.Data["state"]
			}
		}
	}
	maps := factory.Core().V1().ConfigMaps()
	_, err := maps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    tell("added"),
		UpdateFunc: func(_, now any) { tell("updated")(now) },
		DeleteFunc: tell("deleted"),
	})
	check("add a handler", err)
	factory.Apps().V1().Deployments().Informer()
	factory.Core().V1().Pods().Informer()
	factory.Coordination().V1().Leases().Informer()
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			fail("the informer of %v to sync", kind)
		}
	}
	own := client.CoreV1().ConfigMaps("default")
	object := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "followed"},
		Data:       map[string]string{"state": "1"},
		BinaryData: map[string][]byte{"bytes": {0, 255}},
	}
	object, err = own.Create(ctx, object, metav1.CreateOptions{})
	check("create", err)
	expect(told, "added 1")
	object.Data["state"] = "2"
	_, err = own.Update(ctx, object, metav1.UpdateOptions{})
	check("update", err)
	expect(told, "updated 2")
	listed, err := maps.Lister().ConfigMaps("default").Get("followed")
	check("read from the cache", err)
	if string(listed.BinaryData["bytes"]) != "\x00\xff" {
		fail("the bytes to be as written, got %v", listed.BinaryData)
	}
	check("delete", own.Delete(ctx, "followed", metav1.DeleteOptions{}))
	expect(told, "deleted 2")
}

func electLeaders(ctx context.Context, client kubernetes.Interface) {
	leads := make(chan string, 10)
	first, resign := context.WithCancel(ctx)
	go campaign(first, client, "first", leads)
	expect(leads, "first")
	go campaign(ctx, client, "second", leads)
	resign()
	expect(leads, "second")
}

func campaign(ctx context.Context, client kubernetes.Interface, name string, leads chan<- string) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: "leader"},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		},
		LeaseDuration:   3 * time.Second,
		RenewDeadline:   2 * time.Second,
		RetryPeriod:     200 * time.Millisecond,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { leads <- name },
			OnStoppedLeading: func() {},
		},
	})
}

func expect(told <-chan string, wanted string) {
	select {
	case got := <-told:
		if got != wanted {
			fail("%q, got %q", wanted, got)
		}
	case <-time.After(patience):
		fail("%q within %v", wanted, patience)
	}
}

func check(what string, err error) {
	if err != nil {
		fail("to %s: %v", what, err)
	}
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "expected "+format+"\n", args...)
	os.Exit(1)
}
