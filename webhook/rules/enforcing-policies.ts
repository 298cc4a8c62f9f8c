import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { ADMISSION_POLICIES, ADMISSION_POLICY_BINDINGS } from '#shared/kube/resource.ts';
import { ERRORS } from '#webhook/messages.ts';

const INSTALLED = rulePolicies().map(({ kind, metadata: { name = '' } }) => {
  return { name, resource: kind === ADMISSION_POLICIES.kind ? ADMISSION_POLICIES : ADMISSION_POLICY_BINDINGS };
});

/** The objects missing for the enforcement of rules, as `KIND NAME`. Rejects when they cannot be read. */
export async function missingPolicies(client: KubeClient, signal: AbortSignal): Promise<readonly string[]> {
  const found = await Promise.all(INSTALLED.map((address) => getObject(client, address, { signal })));
  return INSTALLED.flatMap(({ name, resource }, index) => {
    const outcome = found[index];
    if (outcome === undefined || outcome.kind === 'ok') return [];
    if (outcome.kind === 'notFound') return [`${resource.kind} ${name}`];
    throw new Error(ERRORS.read(`${resource.kind} "${name}"`, outcome.message));
  });
}
