import { expect } from 'vitest';
import { API_VERSION } from '#shared/kube/api-names.ts';
import { at, type Harness, pod, uniqueName } from '#test/contract/harness.ts';
import { takesQosClass } from '#test/cluster/support/control-plane/binaries.ts';
import { eventually } from '#test/build/waiting.ts';
import { onlyIn, POLICIES } from './cluster-objects.ts';

const PATIENCE_MS = 30_000;
/** How the API server's own refusals of pods begin. */
export const BY_COMPILED_RULES = "ValidatingAdmissionPolicy 'priority.plimsoll.dev'";

/**
 * A pod that the compiled rules refuse without any policy: it states a QoS class that does not follow from its requests.
 * From 1.37 on, one above the ceiling of a policy of its namespace.
 */
export function refusedPod(name: string): object {
  if (takesQosClass(process.env)) return { ...pod(name), status: { qosClass: 'Guaranteed' } };
  return pod(name, { priorityClassName: 'system-cluster-critical' });
}

/** The policy that it takes. */
export function ceilingOf(api: Harness): object {
  return { namespaceSelector: onlyIn(api), maxPriority: 1_999_999_999 };
}

/** Waits until the API server refuses a pod by the compiled rules itself, whether a webhook answers or not. */
export async function untilRulesInForce(api: Harness): Promise<void> {
  const ceiling = await storedCeiling(api);
  await eventually(async () => {
    const { status, body } = await api.post(api.core('pods'), refusedPod('probe'), { query: { dryRun: 'All' } });
    expect([status, at(body, 'message')]).toEqual([403, expect.stringContaining('ValidatingAdmissionPolicy')]);
  }, PATIENCE_MS);
  if (ceiling !== undefined) await api.remove(ceiling);
}

async function storedCeiling(api: Harness): Promise<string | undefined> {
  if (takesQosClass(process.env)) return undefined;
  const name = uniqueName('ceiling');
  const spec = ceilingOf(api);
  await api.post(POLICIES, { apiVersion: API_VERSION, kind: 'PriorityPolicy', metadata: { name }, spec });
  return `${POLICIES}/${name}`;
}

/** Waits until the API server itself refuses a pod by the compiled rules of policies; before, only a webhook does. */
export async function untilPolicyInForce(api: Harness, spec: object): Promise<void> {
  await eventually(async () => {
    const { status, body } = await api.post(api.core('pods'), pod('probe', spec), { query: { dryRun: 'All' } });
    expect([status, at(body, 'message')]).toEqual([403, expect.stringContaining(BY_COMPILED_RULES)]);
  }, PATIENCE_MS);
}
