import { compileExpression, type Expression } from '#sandbox/api-server/cel/expression.ts';
import { selectorOf } from '#sandbox/api-server/selectors/label-query.ts';
import {
  fieldsAt,
  isFields,
  listAt,
  numberAt,
  textAt,
  textsAt,
  type Fields,
  type KubeObject,
} from '#sandbox/api-server/wire/object.ts';
import type { Selector } from '#shared/domain/labels/label-selector.ts';
import type { Store } from '#sandbox/api-server/storage/store.ts';

/** One entry of a webhook configuration, prepared for matching and calling. */
export interface Webhook {
  /** Configuration and entry, unique among all. */
  readonly id: string;
  readonly name: string;
  readonly configuration: string;
  readonly isMutating: boolean;
  readonly rules: readonly WebhookRule[];
  readonly namespaceSelector: Selector;
  readonly objectSelector: Selector;
  readonly conditions: readonly Condition[];
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly isReinvoked: boolean;
  /** Whether a dry run may call it: `None` and `NoneOnDryRun` both allow that. */
  readonly timeoutSeconds: number;
  readonly client: WebhookClient;
}

export interface WebhookRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly string[];
  readonly resources: readonly string[];
  readonly scope: string;
}

export interface Condition {
  readonly name: string;
  readonly expression: Expression;
}

/** The address of a webhook: a URL, or a Service that the override table maps to loopback. */
export interface WebhookClient {
  readonly url: string | undefined;
  readonly service:
    { readonly namespace: string; readonly name: string; readonly path: string; readonly port: number } | undefined;
  /** PEM. */
  readonly ca: string | undefined;
}

/** The variables of a match condition. */
export const CONDITION_VARIABLES = ['object', 'oldObject', 'request', 'authorizer'];

/** The entries of one stored configuration, in their order. */
export function webhooksOf(configuration: KubeObject): Webhook[] {
  const isMutating = configuration.kind === 'MutatingWebhookConfiguration';
  return listAt(configuration, 'webhooks').map((entry) => webhookOf(configuration.metadata.name, entry, isMutating));
}

function webhookOf(configuration: string, entry: Fields, isMutating: boolean): Webhook {
  const name = textAt(entry, 'name');
  return {
    id: `${configuration}/${name}`,
    name,
    configuration,
    isMutating,
    rules: listAt(entry, 'rules').map(ruleOf),
    namespaceSelector: selectorOf(entry['namespaceSelector'] ?? {}),
    objectSelector: selectorOf(entry['objectSelector'] ?? {}),
    conditions: listAt(entry, 'matchConditions').map(conditionOf),
    failurePolicy: textAt(entry, 'failurePolicy') === 'Ignore' ? 'Ignore' : 'Fail',
    isReinvoked: textAt(entry, 'reinvocationPolicy') === 'IfNeeded',
    timeoutSeconds: numberAt(entry, 'timeoutSeconds') ?? 10,
    client: clientOf(fieldsAt(entry, 'clientConfig')),
  };
}

/** One rule of a webhook or policy: which operations on which resources. */
export function ruleOf(rule: Fields): WebhookRule {
  return {
    apiGroups: textsAt(rule, 'apiGroups'),
    apiVersions: textsAt(rule, 'apiVersions'),
    operations: textsAt(rule, 'operations'),
    resources: textsAt(rule, 'resources'),
    scope: textAt(rule, 'scope') || '*',
  };
}

/** Registration refuses expressions that do not compile, so here one means a broken store. */
function conditionOf(condition: Fields): Condition {
  const compiled = compileExpression(textAt(condition, 'expression'), CONDITION_VARIABLES);
  const name = textAt(condition, 'name');
  if (compiled.ok) return { name, expression: compiled.expression };
  const fail = (): never => {
    throw new Error(compiled.message);
  };
  return { name, expression: { evaluate: fail } };
}

function clientOf(client: Fields): WebhookClient {
  const service = client['service'];
  const bundle = textAt(client, 'caBundle');
  return {
    url: typeof client['url'] === 'string' ? client['url'] : undefined,
    service: isFields(service)
      ? {
          namespace: textAt(service, 'namespace'),
          name: textAt(service, 'name'),
          path: textAt(service, 'path'),
          port: numberAt(service, 'port') ?? 443,
        }
      : undefined,
    ca: bundle === '' ? undefined : Buffer.from(bundle, 'base64').toString(),
  };
}

/** The registered webhooks of one kind, by configuration name, then as written. */
export interface WebhookRegistry {
  readonly mutating: () => readonly Webhook[];
  readonly validating: () => readonly Webhook[];
}

/** Follows the stored configurations; a change counts for the next request. */
export function webhookRegistry(store: Store): WebhookRegistry {
  return {
    mutating: compiled(store, 'mutatingwebhookconfigurations'),
    validating: compiled(store, 'validatingwebhookconfigurations'),
  };
}

function compiled(store: Store, plural: string): () => readonly Webhook[] {
  const collection = store.collection(`${plural}.admissionregistration.k8s.io`);
  let webhooks: readonly Webhook[] | undefined;
  collection.onChange(() => {
    webhooks = undefined;
  });
  return () => (webhooks ??= collection.values().flatMap(({ object }) => webhooksOf(object)));
}
