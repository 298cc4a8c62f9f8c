import type { Because } from '#shared/domain/model/because.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import { checkQuotas } from '#shared/domain/quota/check-quotas.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota.ts';
import { because } from './admission-code.ts';
import type { AdmissionWorld } from './admission-world.ts';
import { classQuotasOf } from './class-quotas.ts';
import { describePodHolders } from './pod-holders.ts';
import type { PodRequest } from './pod-request.ts';
import { quotaExceeded } from './quota-exceeded.ts';

/**
 * A pod for which a quota of its class has no room: the ResourceQuota plugin's verdict, which comes after us, told in
 * a way that helps. Quotas without a PriorityClass scope are left to the plugin.
 */
export function breaksResourceQuotaRule({ pod }: PodRequest, world: AdmissionWorld): Because | undefined {
  const { namespace } = pod;
  const ofClass = world.resourceQuotas(namespace).filter(limitsClasses);
  if (ofClass.length === 0) return undefined;
  const request = { operation: 'CREATE', subresource: '', pod, oldPod: undefined, isDryRun: true, now: world.now };
  const verdict = checkQuotas(request, ofClass, []);
  if (verdict.kind !== 'refused') return undefined;
  const { exceeded, because: reason, message } = verdict;
  const [first, ...more] = exceeded;
  if (first === undefined) return because('QuotaUnusable', message, reason.facts);
  const name = String(reason.facts['quota']);
  const full = ofClass.filter((quota) => quota.name === name);
  const holdersOf = (resource: string) => describeHolders(full, namespace, resource, world);
  const where = `in namespace \`${namespace}\``;
  return quotaExceeded({ kind: 'ResourceQuota', name, where, holdersOf }, pod, [first, ...more]);
}

function limitsClasses({ scopes }: ResourceQuota): boolean {
  return scopes.some(({ scopeName }) => scopeName === 'PriorityClass');
}

function describeHolders(
  full: readonly ResourceQuota[],
  namespace: string,
  resource: string,
  { knownPods, now }: AdmissionWorld,
): readonly string[] {
  const isCounted = (pod: Pod) => pod.namespace === namespace && classQuotasOf(pod, full).length > 0;
  const holders = describePodHolders(knownPods, isCounted, resource, now);
  return holders === '' ? [] : [`held by pods ${holders}`];
}
