// operator <kubeconfig> <namespace> <user agent> ready|latency: a controller of Widgets as controller-runtime's users write
// it. `ready` gives each a ConfigMap and a status. `latency` writes nothing and says, when it is told to stop, how long
// after spec.at each reconcile has begun, in µs, as JSON in one line.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

type widgets struct{ client.Client }

func (r widgets) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var widget Widget
	if err := r.Get(ctx, request.NamespacedName, &widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	config := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: widget.Namespace, Name: widget.Name}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, &config, func() error {
		config.Data = map[string]string{"size": strconv.FormatInt(widget.Spec.Size, 10)}
		return controllerutil.SetControllerReference(&widget, &config, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	changed := meta.SetStatusCondition(&widget.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Reconciled", ObservedGeneration: widget.Generation,
	})
	if !changed && widget.Status.Size == widget.Spec.Size && widget.Status.ObservedGeneration == widget.Generation {
		return ctrl.Result{}, nil
	}
	widget.Status.Size = widget.Spec.Size
	widget.Status.ObservedGeneration = widget.Generation
	return ctrl.Result{}, r.Status().Update(ctx, &widget)
}

type latencies struct {
	client.Client
	mutex sync.Mutex
	found []int64
}

func (r *latencies) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	now := time.Now().UnixMicro()
	var widget Widget
	if err := r.Get(ctx, request.NamespacedName, &widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if widget.Spec.At > 0 {
		r.mutex.Lock()
		r.found = append(r.found, now-widget.Spec.At)
		r.mutex.Unlock()
	}
	return ctrl.Result{}, nil
}

func run(kubeconfig, namespace, userAgent, mode string) error {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.UserAgent = userAgent
	config.QPS = -1 // no limit of the client's own
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return err
	}
	scheme.AddKnownTypes(groupVersion, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Metrics:                       server.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "widgets",
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	builder := ctrl.NewControllerManagedBy(manager).For(&Widget{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 10})
	measured := &latencies{Client: manager.GetClient(), found: []int64{}}
	if mode == "latency" {
		err = builder.Complete(measured)
	} else {
		err = builder.Owns(&corev1.ConfigMap{}).Complete(widgets{manager.GetClient()})
	}
	if err != nil {
		return err
	}
	if err := manager.Start(ctrl.SetupSignalHandler()); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(measured.found)
}

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
