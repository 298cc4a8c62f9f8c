import { otherGates } from '#shared/kube/annotations/annotations.ts';
import { QUEUE_GATE } from '#shared/kube/api-names.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { PODS } from '#shared/kube/resource.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { listAll } from '#cli/cluster/list-all.ts';
import { type Manifest, nameOf, namespaceOf } from '#cli/manifests/parse-manifests.ts';
import { printLine } from '#cli/output/table.ts';
import { type DryRunStrategy, InputError, type ProcessIo } from '#cli/process-io.ts';
import { cannotRelease, NOTHING_WAITS, released, TOGETHER } from './messages.ts';

export interface ReleaseOptions extends Pick<ClusterOptions, 'kubeconfig' | 'context'> {
  readonly namespace?: string;
  readonly allNamespaces: boolean;
  readonly dryRun: DryRunStrategy;
}

const EXIT_HELD = 1;

/** Carries out `plimsoll queue release`: exit code 1 if a pod keeps the gate. Rejects with an InputError for bad input. */
export async function runRelease(options: ReleaseOptions, io: ProcessIo): Promise<void> {
  if (options.allNamespaces && options.namespace !== undefined) throw new InputError(TOGETHER);
  const { withCluster } = await import('#cli/cluster/open-cluster.ts');
  await withCluster(options, async ({ client, namespace = 'default' }) => {
    const where = options.allNamespaces ? undefined : (options.namespace ?? namespace);
    const waiting = (await listAll(client, PODS, { slim: gatesOnly, namespace: where })).filter(
      ({ raw }) => otherGates(raw) !== undefined,
    );
    if (waiting.length === 0) io.tell(NOTHING_WAITS);
    let isAnyHeld = false;
    for (const pod of waiting) isAnyHeld = !(await release(client, pod, options.dryRun, io)) || isAnyHeld;
    if (isAnyHeld) io.exit(EXIT_HELD);
  });
}

/** What finds and patches a pod that waits. */
export function gatesOnly({ metadata, spec }: Manifest['raw']): Manifest['raw'] {
  const kept = ['name', 'namespace', 'uid'].map((field) => [field, fieldOf(metadata, field)] as const);
  return { metadata: Object.fromEntries(kept), spec: { schedulingGates: fieldOf(spec, 'schedulingGates') } };
}

/** Resolves with whether the pod no longer has the gate. */
async function release(client: KubeClient, pod: Manifest, dryRun: DryRunStrategy, io: ProcessIo): Promise<boolean> {
  const [name, namespace] = [nameOf(pod), namespaceOf(pod, '')];
  const others = otherGates(pod.raw) ?? [];
  const outcome = dryRun === 'client' ? undefined : await takeGateOff(client, pod, dryRun === 'server');
  const isReleased = outcome === undefined || outcome.kind === 'ok' || outcome.kind === 'notFound';
  if (isReleased) io.print(printLine(released(name, namespace, others, dryRun)));
  else io.tell(cannotRelease(`${namespace}/${name}`, outcome.message));
  return isReleased;
}

/**
 * A strategic merge by the name of the gate keeps gates that others add meanwhile. The UID excludes a later pod of that
 * name.
 */
export function takeGateOff(client: KubeClient, pod: Manifest, dryRun: boolean): Promise<Outcome<unknown>> {
  const uid = fieldOf(pod.raw['metadata'], 'uid');
  const patch = { metadata: { uid }, spec: { schedulingGates: [{ $patch: 'delete', name: QUEUE_GATE }] } };
  const address = { resource: PODS, namespace: namespaceOf(pod, ''), name: nameOf(pod) };
  return patchObject(client, address, patch, { type: 'strategic', dryRun });
}
