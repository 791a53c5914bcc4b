// webhook <folder>: a webhook server as controller-runtime's users write it, with the certificate in the folder. It
// defaults a field of Widgets and of Pods, and denies what breaks a rule. Prints the port that it listens on.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

type widgets struct{}

func (widgets) Default(_ context.Context, widget *Widget) error {
	if widget.Spec.Zone == "" {
		widget.Spec.Zone = "a"
	}
	return nil
}

func (widgets) ValidateCreate(_ context.Context, widget *Widget) (admission.Warnings, error) {
	return checkWidget(nil, widget)
}

func (widgets) ValidateUpdate(_ context.Context, old, widget *Widget) (admission.Warnings, error) {
	return checkWidget(old, widget)
}

func (widgets) ValidateDelete(context.Context, *Widget) (admission.Warnings, error) { return nil, nil }

func checkWidget(old, widget *Widget) (admission.Warnings, error) {
	var found field.ErrorList
	if old != nil && old.Spec.Zone != widget.Spec.Zone {
		found = append(found, field.Invalid(field.NewPath("spec", "zone"), widget.Spec.Zone, "is immutable"))
	}
	if widget.Spec.Replicas > 100 {
		found = append(found, field.Invalid(field.NewPath("spec", "replicas"), widget.Spec.Replicas, "must be at most 100"))
	}
	return nil, invalid(groupVersion.WithKind("Widget").GroupKind(), widget.Name, found)
}

type pods struct{}

func (pods) Default(_ context.Context, pod *corev1.Pod) error {
	if pod.Spec.PriorityClassName == "" {
		pod.Spec.PriorityClassName = "standard"
	}
	return nil
}

func (pods) ValidateCreate(_ context.Context, pod *corev1.Pod) (admission.Warnings, error) {
	return checkPod(pod)
}

func (pods) ValidateUpdate(_ context.Context, _, pod *corev1.Pod) (admission.Warnings, error) {
	return checkPod(pod)
}

func (pods) ValidateDelete(context.Context, *corev1.Pod) (admission.Warnings, error) { return nil, nil }

func checkPod(pod *corev1.Pod) (admission.Warnings, error) {
	var found field.ErrorList
	for i, container := range pod.Spec.Containers {
		if !strings.HasPrefix(container.Image, "registry.example.com/") {
			path := field.NewPath("spec", "containers").Index(i).Child("image")
			found = append(found, field.Invalid(path, container.Image, "must come from registry.example.com"))
		}
	}
	return nil, invalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), pod.Name, found)
}

func invalid(kind schema.GroupKind, name string, found field.ErrorList) error {
	if len(found) == 0 {
		return nil
	}
	return apierrors.NewInvalid(kind, name, found)
}

func run(folder string) error {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return err
	}
	scheme.AddKnownTypes(groupVersion, &Widget{})
	port, err := freePort()
	if err != nil {
		return err
	}
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: folder})
	server.Register("/mutate-widgets", admission.WithDefaulter(scheme, widgets{}))
	server.Register("/validate-widgets", admission.WithValidator(scheme, widgets{}))
	server.Register("/mutate-pods", admission.WithDefaulter(scheme, pods{}))
	server.Register("/validate-pods", admission.WithValidator(scheme, pods{}))
	go func() {
		for isReady := server.StartedChecker(); isReady(nil) != nil; {
			time.Sleep(10 * time.Millisecond)
		}
		fmt.Println(port)
	}()
	return server.Start(ctrl.SetupSignalHandler())
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
