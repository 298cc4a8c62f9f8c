import { COMPONENT_NAMES, NAMESPACE_NODE, NAMESPACE_SYSTEM } from '#shared/kube/api-names.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { apiVersionOf, DAEMON_SETS, DEPLOYMENTS } from '#shared/kube/resource.ts';
import type { Manifest } from '#cli/manifests/parse-manifests.ts';
import type { Finding } from './finding.ts';
import { workloadMissing } from './messages.ts';

/** Always installed. */
const WORKLOADS = [
  { resource: DEPLOYMENTS, namespace: NAMESPACE_SYSTEM, name: COMPONENT_NAMES.webhook },
  { resource: DAEMON_SETS, namespace: NAMESPACE_NODE, name: COMPONENT_NAMES.agent },
];

/** The webhook's Deployment and the agents' DaemonSet. What may not be read is not treated as missing. */
export async function readWorkloads(
  client: KubeClient,
): Promise<{ readonly manifests: readonly Manifest[]; readonly findings: readonly Finding[] }> {
  const found = await Promise.all(
    WORKLOADS.map(async (address) => ({ ...address, outcome: await getObject(client, address) })),
  );
  return {
    manifests: found.flatMap(({ resource, outcome }): readonly Manifest[] => {
      if (outcome.kind !== 'ok') return [];
      return [{ apiVersion: apiVersionOf(resource), kind: resource.kind, raw: outcome.object, where: 'cluster' }];
    }),
    findings: found.flatMap(({ resource: { kind }, namespace, name, outcome }) =>
      outcome.kind === 'notFound' ? [workloadMissing(kind, namespace, name)] : [],
    ),
  };
}
