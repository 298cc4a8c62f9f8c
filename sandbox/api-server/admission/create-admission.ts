import { isDeepStrictEqual } from 'node:util';
import { runPolicies, type PolicyPorts } from '#sandbox/api-server/policies/run-policies.ts';
import {
  copyObject,
  fieldsAt,
  fieldsOf,
  listAt,
  textAt,
  type Fields,
  type KubeObject,
} from '#sandbox/api-server/wire/object.ts';
import type { Store } from '#sandbox/api-server/storage/store.ts';
import {
  runMutating,
  runValidating,
  type WebhookRounds,
  type WebhookPorts,
} from '#sandbox/api-server/webhooks/webhook-phases.ts';
import type { Admission, Attributes } from '#sandbox/api-server/admission.ts';
import { forbidden, notFound } from '#sandbox/api-server/errors/errors.ts';
import { statusError } from '#sandbox/api-server/errors/status-error.ts';
import { NAMESPACES } from '#sandbox/api-server/storage-names.ts';
import { priorityPlugin, type PriorityPlugin, chargeQuotas } from './priority-and-quota.ts';

/**
 * The admission chain in the order of Kubernetes 1.36: in-tree mutators, mutating webhooks, all of it once more if a
 * webhook changed the object; later the validating policies, the validating webhooks and, last, the quota.
 */
export function createAdmission(store: Store, webhooks: WebhookPorts, policies: PolicyPorts): Admission {
  const priority = priorityPlugin(store);
  return {
    mutate: (attributes) => mutate({ store, webhooks, priority }, attributes),
    validate: async (attributes) => {
      priority.validate(attributes);
      runPolicies(policies, attributes);
      await runValidating(webhooks, attributes);
      return () => chargeQuotas(store, attributes, webhooks.clock.now());
    },
  };
}

interface Chain {
  readonly store: Store;
  readonly webhooks: WebhookPorts;
  readonly priority: PriorityPlugin;
}

async function mutate(chain: Chain, attributes: Attributes): Promise<Attributes['object']> {
  runInTree(chain, attributes);
  if (chain.webhooks.registry.mutating().length === 0) return attributes.object;
  const rounds: WebhookRounds = { isSecond: false, called: new Set(), dueAgain: new Set() };
  const first = await runMutating(chain.webhooks, attributes, rounds);
  if (first === undefined || isDeepStrictEqual(first, attributes.object)) return first;
  return secondRound(chain, { ...attributes, object: copyObject(first) }, rounds);
}

/** If an in-tree plugin changes something now, every webhook called before must be called again. */
async function secondRound(chain: Chain, attributes: Attributes, rounds: WebhookRounds): Promise<Attributes['object']> {
  const before = attributes.object === undefined ? undefined : copyObject(attributes.object);
  runInTree(chain, attributes);
  if (!isDeepStrictEqual(before, attributes.object)) for (const id of rounds.called) rounds.dueAgain.add(id);
  return runMutating(chain.webhooks, attributes, { ...rounds, isSecond: true });
}

function runInTree({ store, priority }: Chain, attributes: Attributes): void {
  checkNamespaceLifecycle(store, attributes);
  completePod(attributes);
  priority.mutate(attributes);
}

const IMMORTAL = new Set(['default', 'kube-system', 'kube-public']);
const SUBJECT = { group: '', plural: 'namespaces', kind: 'Namespace' };

/**
 * Refuses new objects in a missing or terminating namespace, and the deletion of the three namespaces that must stay.
 * apiserver `pkg/admission/plugin/namespace/lifecycle/admission.go`. Throws 403 and 404.
 */
function checkNamespaceLifecycle(store: Store, attributes: Attributes): void {
  const { type, operation, namespace, name } = attributes;
  const isNamespace = type.group === '' && type.plural === 'namespaces';
  if (isNamespace) {
    if (operation === 'DELETE' && IMMORTAL.has(name))
      throw forbidden(SUBJECT, name, 'this namespace may not be deleted');
    return;
  }
  if (namespace !== '' && operation === 'CREATE') checkNamespace(store, attributes);
}

function checkNamespace(store: Store, { type, namespace, name, object }: Attributes): void {
  const found = store.collection(NAMESPACES).get(namespace)?.object;
  if (found === undefined) throw notFound(SUBJECT, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const shownName = name || (object?.metadata.generateName ?? '');
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const { status } = forbidden(type, shownName, why);
  const message = `namespace ${namespace} is being terminated`;
  const causes = [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }];
  throw statusError({ ...status, details: { ...status.details, causes } });
}

const TOLERATION_SECONDS = 300;
const DEFAULT_TOLERATIONS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/**
 * What the ServiceAccount and DefaultTolerationSeconds plugins write into a pod; the tolerations also on every update. Tokens are not mounted: the
 * sandbox's node runs processes without volumes.
 */
function completePod({ type, subresource, operation, object }: Attributes): void {
  if (type.group !== '' || type.plural !== 'pods' || subresource !== '' || object === undefined) return;
  const spec = { ...fieldsAt(object, 'spec') };
  if (operation === 'CREATE' && !isMirror(object)) {
    spec['serviceAccountName'] = textAt(spec, 'serviceAccountName') || 'default';
    spec['serviceAccount'] = spec['serviceAccountName'];
  }
  const tolerations = listAt(spec, 'tolerations');
  const added = DEFAULT_TOLERATIONS.filter((key) => !tolerations.some((toleration) => covers(toleration, key)));
  if (added.length > 0) spec['tolerations'] = [...tolerations, ...added.map(defaultToleration)];
  fieldsOf(object)['spec'] = spec;
}

function isMirror({ metadata }: KubeObject): boolean {
  return metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;
}

function covers(toleration: Fields, key: string): boolean {
  const effect = textAt(toleration, 'effect');
  const own = textAt(toleration, 'key');
  return (own === key || own === '') && (effect === 'NoExecute' || effect === '');
}

function defaultToleration(key: string): Fields {
  return { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: TOLERATION_SECONDS };
}
