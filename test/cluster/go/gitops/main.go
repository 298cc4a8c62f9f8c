// Compares manifests with what the API server holds, by the code of Argo CD and of Flux.
//
//	gitops KUBECONFIG < manifests   a JSON list of objects, each with its namespace
//
// Prints, as JSON, how many objects each way of comparison looked at and what it found to differ.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/argoproj/gitops-engine/pkg/diff"
	"github.com/fluxcd/pkg/ssa"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	openapi "k8s.io/kube-openapi/pkg/util/proto"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	argoManager = "argocd-controller"
	fluxManager = "kustomize-controller"
)

type difference struct {
	By     string `json:"by"`
	Object string `json:"object"`
	// What is there, and what would be there after the next apply.
	Live      any `json:"live"`
	Predicted any `json:"predicted"`
}

type report struct {
	Compared    map[string]int `json:"compared"`
	Differences []difference   `json:"differences"`
}

// One way to compare: nil where nothing differs.
type comparison func(ctx context.Context, manifest, live *unstructured.Unstructured) (*difference, error)

type cluster struct {
	dynamic dynamic.Interface
	mapper  meta.RESTMapper
	parser  *managedfields.GvkParser
	flux    *ssa.ResourceManager
}

func main() {
	found, err := run(context.Background(), os.Args[1])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(found)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig string) (*report, error) {
	var manifests []map[string]any
	if err := json.NewDecoder(os.Stdin).Decode(&manifests); err != nil {
		return nil, fmt.Errorf("manifests: %w", err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = -1, -1
	at, err := connect(config)
	if err != nil {
		return nil, err
	}
	return at.compare(ctx, manifests)
}

func connect(config *rest.Config) (*cluster, error) {
	known, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	groups, err := restmapper.GetAPIGroupResources(known)
	if err != nil {
		return nil, err
	}
	document, err := known.OpenAPISchema()
	if err != nil {
		return nil, err
	}
	models, err := openapi.NewOpenAPIData(document)
	if err != nil {
		return nil, err
	}
	parser, err := managedfields.NewGVKParser(models, false)
	if err != nil {
		return nil, err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	caller, err := client.New(config, client.Options{Mapper: mapper})
	if err != nil {
		return nil, err
	}
	owner := ssa.Owner{Field: fluxManager, Group: "kustomize.toolkit.fluxcd.io"}
	return &cluster{objects, mapper, parser, ssa.NewResourceManager(caller, nil, owner)}, nil
}

func (c *cluster) compare(ctx context.Context, manifests []map[string]any) (*report, error) {
	ways := map[string]comparison{
		"Argo CD":                   c.argo(),
		"Argo CD, server-side":      c.argo(diff.WithServerSideDiff(true), diff.WithServerSideDryRunner(diff.NewK8sServerSideDryRunner(c))),
		"Argo CD, structured merge": c.argo(diff.WithStructuredMergeDiff(true)),
		"Flux":                      c.fluxDiff,
	}
	found := &report{map[string]int{}, []difference{}}
	for _, content := range manifests {
		manifest := &unstructured.Unstructured{Object: content}
		live, err := c.live(ctx, manifest)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", nameOf(manifest), err)
		}
		for way, differs := range ways {
			it, err := differs(ctx, manifest.DeepCopy(), live.DeepCopy())
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", way, nameOf(manifest), err)
			}
			found.Compared[way]++
			if it != nil {
				it.By, it.Object = way, nameOf(manifest)
				found.Differences = append(found.Differences, *it)
			}
		}
	}
	return found, nil
}

func (c *cluster) argo(options ...diff.Option) comparison {
	options = append(options, diff.WithGVKParser(c.parser), diff.WithManager(argoManager))
	return func(_ context.Context, manifest, live *unstructured.Unstructured) (*difference, error) {
		result, err := diff.Diff(manifest, live, options...)
		if err != nil || !result.Modified {
			return nil, err
		}
		return &difference{Live: json.RawMessage(result.NormalizedLive), Predicted: json.RawMessage(result.PredictedLive)}, nil
	}
}

func (c *cluster) fluxDiff(ctx context.Context, manifest, _ *unstructured.Unstructured) (*difference, error) {
	change, live, predicted, err := c.flux.Diff(ctx, manifest, ssa.DefaultDiffOptions())
	if err != nil || change.Action == ssa.UnchangedAction {
		return nil, err
	}
	return &difference{Live: live, Predicted: predicted}, nil
}

// ApplyResource is what Argo CD asks for a server-side apply, always a dry run here.
func (c *cluster) ApplyResource(ctx context.Context, manifest *unstructured.Unstructured, _ cmdutil.DryRunStrategy, force, _, _ bool, manager string) (string, error) {
	resource, err := c.resource(manifest.GroupVersionKind(), manifest.GetNamespace())
	if err != nil {
		return "", err
	}
	options := metav1.ApplyOptions{FieldManager: manager, Force: true, DryRun: []string{metav1.DryRunAll}}
	predicted, err := resource.Apply(ctx, manifest.GetName(), manifest, options)
	if err != nil {
		return "", err
	}
	text, err := predicted.MarshalJSON()
	return string(text), err
}

func (c *cluster) live(ctx context.Context, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	resource, err := c.resource(manifest.GroupVersionKind(), manifest.GetNamespace())
	if err != nil {
		return nil, err
	}
	return resource.Get(ctx, manifest.GetName(), metav1.GetOptions{})
}

func (c *cluster) resource(kind schema.GroupVersionKind, namespace string) (dynamic.ResourceInterface, error) {
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return c.dynamic.Resource(mapping.Resource).Namespace(namespace), nil
	}
	return c.dynamic.Resource(mapping.Resource), nil
}

func nameOf(object *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())
}
