package main

import (
	"context"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// outcome is what one policy makes of a request. An error lets the request in, for our policies ignore failures.
type outcome struct {
	Policy  string   `json:"policy"`
	Matches bool     `json:"matches"`
	Denied  []string `json:"denied,omitempty"`
	Errors  []string `json:"errors,omitempty"`
	// Mutated where a patch changed the class or the scheduler.
	Mutated bool `json:"mutated,omitempty"`
	// Cost of all validations with their variables, and of all messages with theirs again.
	Cost        int64 `json:"cost"`
	MessageCost int64 `json:"messageCost"`
}

// evaluator compiles as plugin.go of the API server does, from the same parts.
type evaluator struct {
	policy      admissionv1.ValidatingAdmissionPolicy
	matcher     matchconditions.Matcher
	validations cel.ConditionEvaluator
	messages    cel.ConditionEvaluator
	validator   validating.Validator
}

// judge is a policy that is ready to be asked.
type judge interface {
	matches(resource schema.GroupVersionResource) bool
	evaluate(ctx context.Context, attributes *admission.VersionedAttributes, params runtime.Object,
		namespace *corev1.Namespace) *outcome
}

// newCompiler knows the variables. The version is the oldest Kubernetes whose expressions the policy may use.
func newCompiler(
	oldest *version.Version, declared cel.OptionalVariableDeclarations, variables []admissionv1.Variable,
) (*cel.CompositedCompiler, error) {
	compiler, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(oldest))
	if err != nil {
		return nil, err
	}
	for _, each := range variables {
		variable := &validating.Variable{Name: each.Name, Expression: each.Expression}
		if result := compiler.CompileAndStoreVariable(variable, declared, environment.NewExpressions); result.Error != nil {
			return nil, fmt.Errorf("variable %s: %w", each.Name, result.Error)
		}
	}
	return compiler, nil
}

func compile(policy admissionv1.ValidatingAdmissionPolicy) (*evaluator, error) {
	hasParams := policy.Spec.ParamKind != nil
	full := cel.OptionalVariableDeclarations{HasParams: hasParams, HasAuthorizer: true}
	plain := cel.OptionalVariableDeclarations{HasParams: hasParams}
	compiler, err := newCompiler(version.MajorMinor(1, 30), full, policy.Spec.Variables)
	if err != nil {
		return nil, err
	}
	var conditions, validations, messages []cel.ExpressionAccessor
	for index := range policy.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&policy.Spec.MatchConditions[index]))
	}
	for _, each := range policy.Spec.Validations {
		validations = append(validations,
			&validating.ValidationCondition{Expression: each.Expression, Message: each.Message, Reason: each.Reason})
		messages = append(messages, &validating.MessageExpressionCondition{MessageExpression: each.MessageExpression})
	}
	ignore := admissionv1.Ignore
	out := &evaluator{
		policy:      policy,
		validations: compiler.CompileCondition(validations, full, environment.NewExpressions),
		messages:    compiler.CompileCondition(messages, plain, environment.NewExpressions),
	}
	matching := compiler.CompileCondition(conditions, full, environment.NewExpressions)
	for _, each := range []cel.ConditionEvaluator{matching, out.validations, out.messages} {
		if errors := each.CompilationErrors(); len(errors) > 0 {
			return nil, errors[0]
		}
	}
	out.matcher = matchconditions.NewMatcher(matching, &ignore, "policy", "validate", policy.Name)
	annotations := compiler.CompileCondition(nil, full, environment.NewExpressions)
	out.validator = validating.NewValidator(out.validations, out.matcher, annotations, out.messages, &ignore, nil)
	return out, nil
}

func (e *evaluator) matches(resource schema.GroupVersionResource) bool {
	return anyMatches(e.policy.Spec.MatchConstraints.ResourceRules, resource)
}

func anyMatches(rules []admissionv1.NamedRuleWithOperations, resource schema.GroupVersionResource) bool {
	for _, rule := range rules {
		if slices.Contains(rule.APIGroups, resource.Group) && slices.Contains(rule.Resources, resource.Resource) {
			return true
		}
	}
	return false
}

// begin evaluates the match conditions of a policy.
func begin(
	ctx context.Context, policy string, matcher matchconditions.Matcher, attributes *admission.VersionedAttributes,
	params runtime.Object,
) *outcome {
	out := &outcome{Policy: policy}
	match := matcher.Match(ctx, attributes, params, nil)
	if match.Error != nil {
		out.Errors = append(out.Errors, "matchConditions: "+match.Error.Error())
		return out
	}
	out.Matches = match.Matches
	return out
}

func (e *evaluator) evaluate(
	ctx context.Context, attributes *admission.VersionedAttributes, params runtime.Object, namespace *corev1.Namespace,
) *outcome {
	out := begin(ctx, e.policy.Name, e.matcher, attributes, params)
	if !out.Matches {
		return out
	}
	result := e.validator.Validate(
		ctx, attributes.GetResource(), attributes, params, namespace, celconfig.RuntimeCELCostBudget, nil)
	for _, decision := range result.Decisions {
		switch decision.Evaluation {
		case validating.EvalDeny:
			out.Denied = append(out.Denied, decision.Message)
		case validating.EvalError:
			out.Errors = append(out.Errors, decision.Message)
		}
	}
	e.measure(ctx, attributes, params, namespace, out)
	return out
}

func (e *evaluator) measure(
	ctx context.Context, attributes *admission.VersionedAttributes, params runtime.Object, namespace *corev1.Namespace,
	out *outcome,
) {
	request := cel.CreateAdmissionRequest(
		attributes.Attributes, metav1.GroupVersionResource(attributes.GetResource()),
		metav1.GroupVersionKind(attributes.VersionedKind))
	bindings := cel.OptionalVariableBindings{VersionedParams: params}
	spent := func(condition cel.ConditionEvaluator, kind string) int64 {
		results, left, err := condition.ForInput(
			ctx, attributes, request, bindings, cel.CreateNamespaceObject(namespace), celconfig.RuntimeCELCostBudget)
		if err != nil {
			out.Errors = append(out.Errors, kind+": "+err.Error())
			return celconfig.RuntimeCELCostBudget
		}
		for _, each := range results {
			if each.Error != nil && kind == "messages" {
				out.Errors = append(out.Errors, kind+": "+each.Error.Error())
			}
		}
		return celconfig.RuntimeCELCostBudget - left
	}
	out.Cost = spent(e.validations, "validations")
	out.MessageCost = spent(e.messages, "messages")
}
