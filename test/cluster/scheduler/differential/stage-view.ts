import { letTimePass } from '#test/build/waiting.ts';
import { at } from '#test/contract/harness.ts';
import { seededJitter } from '#test/fakes/jitter.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { createReflector } from '#shared/kube/reflector/reflector.ts';
import { PODS } from '#shared/kube/resource.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import type { RunningPod } from './stage-cluster.ts';
import { ROLE, type Setting } from './stage-objects.ts';

/** What the API server shows of a pod. */
export interface SeenPod {
  readonly stage: string;
  readonly name: string;
  readonly uid: string;
  readonly app: string;
  readonly node: string | undefined;
  readonly nominated: string | undefined;
  readonly isReady: boolean;
  readonly isTerminating: boolean;
  /** When its grace period is over. */
  readonly deadline: number;
  /** kube-scheduler has tried it and found no room. */
  readonly isRefused: boolean;
  readonly message: string;
}

/** The pods of all stages, kept up to date, and the kubelets of their nodes, which end terminating pods. */
export interface StageView {
  pods(stage: string): readonly SeenPod[];
  /** When a pod of the stage last changed. */
  changedAt(stage: string): number;
  /** Whether a pod is terminating that will end by itself. */
  isEnding(stage: string): boolean;
}

const PERIOD_MS = 200;

/** Follows the pods until `signal` aborts; `running` is awaited at the end. */
export async function viewStages(
  client: KubeClient,
  settings: readonly Setting[],
  signal: AbortSignal,
): Promise<{ readonly view: StageView; readonly running: Promise<unknown> }> {
  const log = createLog({ component: 'test', level: 'silent', format: 'json' });
  const reflector = createReflector({
    client,
    resource: PODS,
    slim: seenPod,
    clock: systemClock,
    random: seededJitter(),
    log,
  });
  const changed = new Map<string, number>();
  const stages = new Map<string, Map<string, SeenPod>>(settings.map(({ id }) => [id, new Map()]));
  const endsAt = endTimes(settings);
  reflector.onChange(({ kind, key, value }) => {
    const [stage = ''] = key.split('/');
    changed.set(stage, systemClock.now());
    if (kind === 'deleted') stages.get(stage)?.delete(key);
    else stages.get(stage)?.set(key, value);
  });
  const following = reflector.run(signal);
  await reflector.synced;
  const pods = (stage: string): readonly SeenPod[] => [...(stages.get(stage)?.values() ?? [])];
  const view: StageView = {
    pods,
    changedAt: (stage) => changed.get(stage) ?? 0,
    isEnding: (stage) => pods(stage).some((each) => each.isTerminating && endsAt(each) < Infinity),
  };
  const ending = endPods(client, { settings, view, endsAt }, signal);
  return { view, running: Promise.all([following, ending]) };
}

function seenPod(raw: unknown): SeenPod | undefined {
  const conditions = (at(raw, 'status.conditions') ?? []) as readonly Record<string, string>[];
  const scheduled = conditions.find(({ type }) => type === 'PodScheduled');
  const deletion = at(raw, 'metadata.deletionTimestamp');
  const role = at(raw, `metadata.labels.${ROLE}`);
  if (typeof role !== 'string') return undefined;
  return {
    stage: String(at(raw, 'metadata.namespace')),
    name: role,
    uid: String(at(raw, 'metadata.uid')),
    app: String(at(raw, 'metadata.labels.app')),
    node: at(raw, 'spec.nodeName') as string | undefined,
    nominated: at(raw, 'status.nominatedNodeName') as string | undefined,
    isReady: conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
    isTerminating: deletion !== undefined,
    deadline: typeof deletion === 'string' ? Date.parse(deletion) : Infinity,
    isRefused: scheduled?.['status'] === 'False',
    message: scheduled?.['message'] ?? '',
  };
}

/** When the kubelet double ends a terminating pod: as its scenario says, else with its grace period. */
function endTimes(settings: readonly Setting[]): (pod: SeenPod) => number {
  const leaving = new Map<string, RunningPod['leaving']>();
  for (const { id, cluster } of settings)
    for (const each of cluster.running) if (each.leaving !== undefined) leaving.set(`${id}/${each.name}`, each.leaving);
  return (pod) => {
    const how = leaving.get(`${pod.stage}/${pod.name}`);
    if (how === undefined) return pod.deadline;
    return how.takesSeconds === undefined ? Infinity : pod.deadline - 1_000 * (how.graceSeconds - how.takesSeconds);
  };
}

interface Ending {
  readonly settings: readonly Setting[];
  readonly view: StageView;
  readonly endsAt: (pod: SeenPod) => number;
}

async function endPods(client: KubeClient, { settings, view, endsAt }: Ending, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const now = systemClock.now();
    const over = settings
      .flatMap(({ id }) => view.pods(id))
      .filter((each) => each.isTerminating && endsAt(each) <= now);
    for (const { stage, name, uid } of over) {
      const path = `/api/v1/namespaces/${stage}/pods/${name}`;
      await client.request({ method: 'DELETE', path, body: { gracePeriodSeconds: 0, preconditions: { uid } } });
    }
    await letTimePass(PERIOD_MS, 'double', signal);
  }
}
