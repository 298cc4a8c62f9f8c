// Command policies evaluates admission policies with the code of the API server and tells what it costs. It
// reads one JSON document per line, a setup or a request, and answers every request with one line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"path"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
)

// input is a setup where it has policies, else a request.
type input struct {
	Policies []admissionv1.ValidatingAdmissionPolicy `json:"policies"`
	Mutating []admissionv1.MutatingAdmissionPolicy   `json:"mutating"`
	Params   map[string]any                          `json:"params"`

	Kind            string            `json:"kind"`
	Object          json.RawMessage   `json:"object"`
	OldObject       json.RawMessage   `json:"oldObject"`
	Namespace       string            `json:"namespace"`
	NamespaceLabels map[string]string `json:"namespaceLabels"`
	User            string            `json:"user"`
	Groups          []string          `json:"groups"`
	// Node is that of the token of a service account.
	Node string `json:"node"`
}

// answer is undecodable where the API server would not have taken the object to admission at all.
type answer struct {
	Undecodable string     `json:"undecodable,omitempty"`
	Outcomes    []*outcome `json:"outcomes,omitempty"`
}

var resources = map[string]schema.GroupVersionResource{
	"Pod":                   corev1.SchemeGroupVersion.WithResource("pods"),
	"ReplicationController": corev1.SchemeGroupVersion.WithResource("replicationcontrollers"),
	"Deployment":            appsv1.SchemeGroupVersion.WithResource("deployments"),
	"StatefulSet":           appsv1.SchemeGroupVersion.WithResource("statefulsets"),
	"DaemonSet":             appsv1.SchemeGroupVersion.WithResource("daemonsets"),
	"ReplicaSet":            appsv1.SchemeGroupVersion.WithResource("replicasets"),
	"Job":                   batchv1.SchemeGroupVersion.WithResource("jobs"),
	"CronJob":               batchv1.SchemeGroupVersion.WithResource("cronjobs"),
	"Event":                 corev1.SchemeGroupVersion.WithResource("events"),
	"events.k8s.io/Event":   eventsv1.SchemeGroupVersion.WithResource("events"),
	"PodGroup":              schedulingv1alpha2.SchemeGroupVersion.WithResource("podgroups"),
	"Workload":              schedulingv1alpha2.SchemeGroupVersion.WithResource("workloads"),
}

func emptyObject(kind string) runtime.Object {
	switch kind {
	case "Pod":
		return &corev1.Pod{}
	case "ReplicationController":
		return &corev1.ReplicationController{}
	case "Deployment":
		return &appsv1.Deployment{}
	case "StatefulSet":
		return &appsv1.StatefulSet{}
	case "DaemonSet":
		return &appsv1.DaemonSet{}
	case "ReplicaSet":
		return &appsv1.ReplicaSet{}
	case "Job":
		return &batchv1.Job{}
	case "CronJob":
		return &batchv1.CronJob{}
	case "Event":
		return &corev1.Event{}
	case "events.k8s.io/Event":
		return &eventsv1.Event{}
	case "PodGroup":
		return &schedulingv1alpha2.PodGroup{}
	case "Workload":
		return &schedulingv1alpha2.Workload{}
	}
	return nil
}

func main() {
	reader := bufio.NewReaderSize(os.Stdin, 1<<20)
	writer := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(writer)
	var evaluators []judge
	var params runtime.Object
	for {
		line, err := reader.ReadBytes('\n')
		if err == io.EOF {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		var in input
		if err := json.Unmarshal(line, &in); err != nil {
			log.Fatalf("cannot read a line: %v", err)
		}
		if in.Policies != nil || in.Mutating != nil {
			evaluators, params = setUp(in)
			continue
		}
		if err := encoder.Encode(answerTo(in, evaluators, params)); err != nil {
			log.Fatal(err)
		}
		// Whoever asks one at a time waits for the answer; whoever sends many does not pay for each.
		if reader.Buffered() == 0 {
			if err := writer.Flush(); err != nil {
				log.Fatal(err)
			}
		}
	}
}

func setUp(in input) ([]judge, runtime.Object) {
	var evaluators []judge
	for _, policy := range in.Policies {
		compiled, err := compile(policy)
		if err != nil {
			log.Fatalf("cannot compile %s: %v", policy.Name, err)
		}
		evaluators = append(evaluators, compiled)
	}
	for _, policy := range in.Mutating {
		compiled, err := compileMutating(policy)
		if err != nil {
			log.Fatalf("cannot compile %s: %v", policy.Name, err)
		}
		evaluators = append(evaluators, compiled)
	}
	return evaluators, &unstructured.Unstructured{Object: integers(in.Params).(map[string]any)}
}

// integers makes whole numbers int64, as the API server's own decoder does.
func integers(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		for key, item := range typed {
			typed[key] = integers(item)
		}
	case []any:
		for index, item := range typed {
			typed[index] = integers(item)
		}
	case float64:
		if whole := int64(typed); float64(whole) == typed {
			return whole
		}
	}
	return value
}

func answerTo(in input, evaluators []judge, params runtime.Object) answer {
	attributes, namespace, err := decode(in)
	if err != nil {
		return answer{Undecodable: err.Error()}
	}
	var out answer
	for _, each := range evaluators {
		if each.matches(resources[in.Kind]) {
			out.Outcomes = append(out.Outcomes, each.evaluate(context.Background(), attributes, params, namespace))
		}
	}
	return out
}

func decode(in input) (*admission.VersionedAttributes, *corev1.Namespace, error) {
	object, err := decodeObject(in.Kind, in.Object)
	if err != nil {
		return nil, nil, err
	}
	operation := admission.Create
	var old runtime.Object
	if len(in.OldObject) > 0 {
		operation = admission.Update
		if old, err = decodeObject(in.Kind, in.OldObject); err != nil {
			return nil, nil, err
		}
	}
	kind := object.GetObjectKind().GroupVersionKind()
	by := &user.DefaultInfo{Name: in.User, Groups: in.Groups}
	if in.Node != "" {
		by.Extra = map[string][]string{"authentication.kubernetes.io/node-name": {in.Node}}
	}
	record := admission.NewAttributesRecord(
		object, old, kind, in.Namespace, "", resources[in.Kind], "", operation, nil, false, by)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: in.Namespace, Labels: in.NamespaceLabels}}
	return &admission.VersionedAttributes{
		Attributes: record, VersionedKind: kind, VersionedObject: object, VersionedOldObject: old,
	}, namespace, nil
}

func decodeObject(kind string, raw json.RawMessage) (runtime.Object, error) {
	object := emptyObject(kind)
	if object == nil {
		return nil, fmt.Errorf("no such kind: %s", kind)
	}
	if err := json.Unmarshal(raw, object); err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(resources[kind].GroupVersion().WithKind(path.Base(kind)))
	return object, nil
}
