package main

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "bench.riata.dev", Version: "v1"}

type WidgetSpec struct {
	Image     string                      `json:"image"`
	Replicas  int64                       `json:"replicas"`
	Zone      string                      `json:"zone,omitempty"`
	Hosts     []string                    `json:"hosts,omitempty"`
	Env       []corev1.EnvVar             `json:"env,omitempty"`
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`
}

type WidgetStatus struct {
	ReadyReplicas      int64              `json:"readyReplicas,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec   `json:"spec"`
	Status            WidgetStatus `json:"status,omitempty"`
}

func (w *Widget) DeepCopyObject() runtime.Object {
	out := *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Hosts = append([]string(nil), w.Spec.Hosts...)
	w.Spec.Resources.DeepCopyInto(&out.Spec.Resources)
	if w.Spec.Env != nil {
		out.Spec.Env = make([]corev1.EnvVar, len(w.Spec.Env))
		for i := range w.Spec.Env {
			w.Spec.Env[i].DeepCopyInto(&out.Spec.Env[i])
		}
	}
	if w.Status.Conditions != nil {
		out.Status.Conditions = make([]metav1.Condition, len(w.Status.Conditions))
		for i := range w.Status.Conditions {
			w.Status.Conditions[i].DeepCopyInto(&out.Status.Conditions[i])
		}
	}
	return &out
}
