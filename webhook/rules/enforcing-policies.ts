import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import { defaultPolicy } from '#shared/kube/admission/default-policy.ts';
import { WEBHOOK_ENTRIES } from '#shared/kube/api-names.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { isRecord } from '#shared/kube/decode/wire-object.ts';
import {
  ADMISSION_POLICIES,
  ADMISSION_POLICY_BINDINGS,
  MUTATING_POLICIES,
  MUTATING_POLICY_BINDINGS,
  type Resource,
} from '#shared/kube/resource.ts';
import type { ReadOwn } from '#webhook/cluster-state/read-own.ts';

const RESOURCES: readonly Resource[] = [
  ADMISSION_POLICIES,
  ADMISSION_POLICY_BINDINGS,
  MUTATING_POLICIES,
  MUTATING_POLICY_BINDINGS,
];

const NAMES_OF_PODS: readonly string[] = [WEBHOOK_ENTRIES.priority, `warnings.${WEBHOOK_ENTRIES.priority}`];

interface Installed {
  readonly name: string;
  readonly resource: Resource;
}

const DEFAULTS = defaultPolicy();
const RULES = rulePolicies();
/** The policies and bindings of the rules and defaults, as this version ships them. */
export const SHIPPED_POLICIES: readonly KubeObject[] = [...DEFAULTS, ...RULES];

const JUDGING = RULES.map(addressOf);
/** The policies and bindings that apply defaults and rules to pods. */
const OF_PODS = [...DEFAULTS, ...RULES.filter(({ metadata: { name } }) => NAMES_OF_PODS.includes(name ?? ''))];

function addressOf({ kind, metadata: { name = '' } }: KubeObject): Installed {
  const resource = RESOURCES.find((each) => each.kind === kind);
  if (resource === undefined) throw new Error(`cannot look for ${kind} "${name}": it is not an admission policy`);
  return { name, resource };
}

/** The objects missing for the enforcement of rules, as `KIND NAME`. Rejects when they cannot be read. */
export async function missingPolicies(read: ReadOwn, signal: AbortSignal): Promise<readonly string[]> {
  const found = await readAll(JUDGING, read, signal);
  return JUDGING.flatMap(({ name, resource }, index) =>
    found[index] === undefined ? [`${resource.kind} ${name}`] : [],
  );
}

/**
 * The objects that keep the API server from applying defaults and rules to pods by itself, as `KIND NAME`: they are
 * missing, or differ from those of this version, such as a binding that a user limited to some namespaces. Rejects if
 * they cannot be read.
 */
export async function unlikeShipped(read: ReadOwn, signal: AbortSignal): Promise<readonly string[]> {
  const found = await readAll(OF_PODS.map(addressOf), read, signal);
  return OF_PODS.flatMap(({ kind = '', metadata: { name = '' }, spec }, index) =>
    isShipped(found[index]?.['spec'], spec) ? [] : [`${kind} ${name}`],
  );
}

/** Equal, ignoring empty objects that the API server adds as defaults. */
function isShipped(found: unknown, shipped: unknown): boolean {
  if (Array.isArray(shipped)) {
    return (
      Array.isArray(found) &&
      found.length === shipped.length &&
      shipped.every((each, index) => isShipped(found[index], each))
    );
  }
  if (!isRecord(shipped) || !isRecord(found)) return found === shipped;
  const added = Object.entries(found).filter(([key]) => !(key in shipped));
  return (
    Object.entries(shipped).every(([key, value]) => isShipped(found[key], value)) &&
    added.every(([, value]) => isRecord(value) && Object.keys(value).length === 0)
  );
}

function readAll(
  installed: readonly Installed[],
  read: ReadOwn,
  signal: AbortSignal,
): Promise<readonly (KubeObject | undefined)[]> {
  return Promise.all(installed.map((address) => read(address, { signal })));
}
