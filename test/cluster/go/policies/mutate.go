package main

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// mutator compiles as compilation.go of the API server does, from the same parts, and patches.
type mutator struct {
	policy     admissionv1.MutatingAdmissionPolicy
	matcher    matchconditions.Matcher
	compiler   *cel.CompositedCompiler
	patches    []cel.MutatingEvaluator
	interfaces admission.ObjectInterfaces
}

func compileMutating(policy admissionv1.MutatingAdmissionPolicy) (*mutator, error) {
	full := cel.OptionalVariableDeclarations{HasParams: policy.Spec.ParamKind != nil, HasAuthorizer: true}
	compiler, err := newCompiler(version.MajorMinor(1, 36), full, policy.Spec.Variables)
	if err != nil {
		return nil, err
	}
	var conditions []cel.ExpressionAccessor
	for index := range policy.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&policy.Spec.MatchConditions[index]))
	}
	matching := compiler.CompileCondition(conditions, full, environment.NewExpressions)
	if errors := matching.CompilationErrors(); len(errors) > 0 {
		return nil, errors[0]
	}
	ignore := admissionv1.Ignore
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, schedulingv1alpha2.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	out := &mutator{
		policy:     policy,
		matcher:    matchconditions.NewMatcher(matching, &ignore, "policy", "validate", policy.Name),
		compiler:   compiler,
		interfaces: admission.NewObjectInterfacesFromScheme(scheme),
	}
	full.HasPatchTypes = true
	for _, each := range policy.Spec.Mutations {
		condition := &patch.JSONPatchCondition{Expression: each.JSONPatch.Expression}
		compiled := compiler.CompileMutatingEvaluator(condition, full, environment.NewExpressions)
		if errors := compiled.CompilationErrors(); len(errors) > 0 {
			return nil, errors[0]
		}
		out.patches = append(out.patches, compiled)
	}
	return out, nil
}

func (m *mutator) matches(resource schema.GroupVersionResource) bool {
	return anyMatches(m.policy.Spec.MatchConstraints.ResourceRules, resource)
}

func (m *mutator) evaluate(
	ctx context.Context, attributes *admission.VersionedAttributes, params runtime.Object, namespace *corev1.Namespace,
) *outcome {
	out := begin(ctx, m.policy.Name, m.matcher, attributes, params)
	if !out.Matches {
		return out
	}
	bindings := cel.OptionalVariableBindings{VersionedParams: params}
	request := cel.CreateAdmissionRequest(
		attributes.Attributes, metav1.GroupVersionResource(attributes.GetResource()),
		metav1.GroupVersionKind(attributes.VersionedKind))
	for _, each := range m.patches {
		result, left, err := each.ForInput(
			m.compiler.CreateContext(ctx), attributes, request, bindings, namespace, celconfig.RuntimeCELCostBudget)
		if err == nil {
			err = result.Error
		}
		if err != nil {
			out.Errors = append(out.Errors, "expression: "+err.Error())
			continue
		}
		out.Cost = max(out.Cost, celconfig.RuntimeCELCostBudget-left)
		out.Mutated = out.Mutated || m.apply(m.compiler.CreateContext(ctx), each, attributes, bindings, namespace, out)
	}
	return out
}

// apply tells whether the object is another one afterwards.
func (m *mutator) apply(
	ctx context.Context, evaluator cel.MutatingEvaluator, attributes *admission.VersionedAttributes,
	bindings cel.OptionalVariableBindings, namespace *corev1.Namespace, out *outcome,
) bool {
	patched, err := patch.NewJSONPatcher(evaluator).Patch(ctx, patch.Request{
		MatchedResource:     attributes.GetResource(),
		VersionedAttributes: attributes,
		ObjectInterfaces:    m.interfaces,
		OptionalVariables:   bindings,
		Namespace:           namespace,
	}, celconfig.RuntimeCELCostBudget)
	if err != nil {
		out.Errors = append(out.Errors, "patch: "+err.Error())
		return false
	}
	return !apiequality.Semantic.DeepEqual(attributes.VersionedObject, patched)
}
