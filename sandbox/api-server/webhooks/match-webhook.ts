import type { Attributes } from '#sandbox/api-server/admission.ts';
import { celValue } from '#sandbox/api-server/cel/expression.ts';
import type { Fields, KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { Condition, WebhookRule, Webhook } from './webhook.ts';

/** How a webhook or a policy selects requests. */
type Matching = Pick<Webhook, 'rules' | 'namespaceSelector' | 'objectSelector'>;

/** Whether a webhook's rules and selectors match a request; conditions come later, because they may fail. */
export function isWanted(
  webhook: Matching,
  attributes: Attributes,
  namespaceLabels: ReadonlyMap<string, string>,
): boolean {
  if (!webhook.rules.some((rule) => matchesRule(rule, attributes))) return false;
  if (isExempt(attributes)) return false;
  const isNamespaced = attributes.namespace !== '';
  if (isNamespaced && !webhook.namespaceSelector.isEmpty && !webhook.namespaceSelector.matches(namespaceLabels))
    return false;
  return (
    webhook.objectSelector.isEmpty ||
    [attributes.object, attributes.previous].some((object) => hasLabels(webhook, object))
  );
}

/** Webhooks and policies are never called for the objects that register them. */
function isExempt({ type }: Attributes): boolean {
  return type.group === 'admissionregistration.k8s.io';
}

function hasLabels(webhook: Matching, object: KubeObject | undefined): boolean {
  return object !== undefined && webhook.objectSelector.matches(new Map(Object.entries(object.metadata.labels ?? {})));
}

function matchesRule(
  { apiGroups, apiVersions, operations, resources, scope }: WebhookRule,
  { type, operation, subresource }: Attributes,
): boolean {
  const isInScope = scope === '*' || (scope === 'Namespaced') === type.namespaced;
  return (
    isInScope &&
    includes(operations, operation) &&
    includes(apiGroups, type.group) &&
    includes(apiVersions, type.version) &&
    resources.some((resource) => matchesResource(resource, type.plural, subresource))
  );
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value);
}

/** `*` and `pods` leave subresources out; `pods/*`, `*\/eviction` and `*\/*` name them. */
function matchesResource(pattern: string, plural: string, subresource: string): boolean {
  const [resource = '', sub] = pattern.split('/');
  if (resource !== '*' && resource !== plural) return false;
  return sub === undefined ? subresource === '' : sub === '*' || sub === subresource;
}

/** The result of a webhook's match conditions: any false one skips it, even if others fail. */
export type ConditionOutcome =
  { readonly kind: 'met' } | { readonly kind: 'unmet' } | { readonly kind: 'failed'; readonly message: string };

/** Evaluates the conditions against what the webhook would be sent. */
export function checkConditions(conditions: readonly Condition[], request: Fields): ConditionOutcome {
  if (conditions.length === 0) return { kind: 'met' };
  const { object, oldObject, ...rest } = request;
  const variables = {
    object: celValue(object),
    oldObject: celValue(oldObject),
    request: celValue(rest),
    authorizer: null,
  };
  const failures: string[] = [];
  for (const { name, expression } of conditions) {
    try {
      if (expression.evaluate(variables) !== true) return { kind: 'unmet' };
    } catch (error) {
      failures.push(
        `expression for match condition ${JSON.stringify(name)} failed: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
  return failures.length === 0 ? { kind: 'met' } : { kind: 'failed', message: failures.join(', ') };
}
