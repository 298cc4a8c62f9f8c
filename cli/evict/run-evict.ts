import { podName } from '#shared/domain/base/texts.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { type EvictionOutcome, evictPod } from '#shared/kube/events/evict-pod.ts';
import { PODS } from '#shared/kube/resource.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { type NamespacedName, splitName } from '#cli/cluster/find-pod.ts';
import { printLine } from '#cli/output/table.ts';
import { type DryRunStrategy, InputError, type ProcessIo } from '#cli/process-io.ts';
import {
  anotherPod,
  budgetForbids,
  cannotEvict,
  cannotRead,
  evicted,
  GONE,
  mayHaveWorked,
  NOTHING_SENT,
  podNotFound,
  SEVERAL_BUDGETS,
  tryAgain,
} from './messages.ts';

export interface EvictOptions extends Pick<ClusterOptions, 'kubeconfig' | 'context'> {
  readonly namespace?: string;
  readonly gracePeriod?: number;
  readonly dryRun: DryRunStrategy;
}

const EXIT_REFUSED = 1;

/**
 * Carries out `plimsoll evict`: exit code 1 if the API server does not evict the pod. Rejects with an InputError if there
 * is no such pod.
 */
export async function runEvict(wanted: string, options: EvictOptions, io: ProcessIo): Promise<void> {
  const { withCluster } = await import('#cli/cluster/open-cluster.ts');
  await withCluster(options, async ({ client, namespace = 'default' }) => {
    const pod = splitName(wanted, 'pod', options.namespace ?? namespace);
    const uid = await readUid(client, pod);
    const refusal =
      options.dryRun === 'client' ? undefined : refusalOf(await evict(client, { ...pod, uid }, options), pod);
    if (refusal === undefined) {
      io.print(printLine(evicted(pod.name, options.dryRun)));
      if (options.dryRun === 'client') io.tell(NOTHING_SENT);
      return;
    }
    io.tell(printLine(cannotEvict(podName(pod), refusal)).trimEnd());
    io.exit(EXIT_REFUSED);
  });
}

/** The UID identifies the current pod, so that a successor of the same name is never evicted. */
async function readUid(client: KubeClient, pod: NamespacedName): Promise<string> {
  const found = await getObject(client, { resource: PODS, ...pod });
  if (found.kind === 'ok') return found.object.metadata.uid ?? '';
  throw new InputError(found.kind === 'notFound' ? podNotFound(podName(pod)) : cannotRead(podName(pod), found.message));
}

function evict(
  client: KubeClient,
  pod: NamespacedName & { readonly uid: string },
  { gracePeriod, dryRun }: EvictOptions,
): Promise<EvictionOutcome> {
  const grace = gracePeriod === undefined ? {} : { gracePeriodSeconds: gracePeriod };
  return evictPod(client, { ...pod, ...grace, dryRun: dryRun === 'server' });
}

/** Why the pod was not evicted, in words; `undefined` if it was. */
function refusalOf(outcome: EvictionOutcome, pod: NamespacedName): string | undefined {
  switch (outcome.kind) {
    case 'evicted':
      return undefined;
    case 'tooManyRequests':
      return `${reasonOf(outcome)}${tryAgain(outcome.retryAfterSeconds)}`;
    case 'severalBudgets':
      return SEVERAL_BUDGETS;
    case 'uidMismatch':
      return anotherPod(podName(pod));
    case 'notFound':
      return GONE;
    case 'serverError':
    case 'timeout':
    case 'unreachable':
      return mayHaveWorked(outcome.message, `${pod.name} -n ${pod.namespace}`);
    default:
      return outcome.message;
  }
}

function reasonOf({ budget, message }: Extract<EvictionOutcome, { kind: 'tooManyRequests' }>): string {
  return budget === undefined ? message : budgetForbids(budget);
}
