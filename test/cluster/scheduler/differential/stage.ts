import { expect } from 'vitest';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import { at } from '#test/contract/harness.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import type { IncomingPod } from './stage-cluster.ts';
import type { SeenPod, StageView } from './stage-view.ts';
import {
  budgetObject,
  claimsOf,
  incomingObject,
  type Made,
  nodeObjects,
  runningObject,
  type Setting,
} from './stage-objects.ts';

/** What became of one pod that came, when nothing moved any more. */
export interface Step {
  readonly pod: string;
  /** The scenario's name of the node; absent if it was not placed. */
  readonly node?: string;
  /** Of a pod that was not placed. */
  readonly nominated?: string;
  readonly waitedMs: number;
  /** Pods of the scenario whose deletion began meanwhile, sorted. */
  readonly victims: readonly string[];
  /** Members that each budget could spare when the pod came. */
  readonly spare: Readonly<Record<string, number>>;
  readonly message: string;
  /** Whether a pod of the other scheduler was placed meanwhile, which may have been in the room that this pod waited for. */
  readonly isOvertaken: boolean;
}

/** Above the longest back-off of kube-scheduler here, so that a pod that may be tried again has been. */
const QUIET_MS = 5_000;
const STEP_WITHIN_MS = 90_000;
const POLL_MS = 200;
const AT_ONCE = 8;
const MERGE = 'application/merge-patch+json';

/** Creates an object; admission and the service account may need a moment to know what it names. */
export async function make(client: KubeClient, { path, body, status }: Made): Promise<void> {
  await eventually(async () => {
    const outcome = await client.request({ method: 'POST', path, body });
    if (outcome.kind !== 'ok' && outcome.status !== 409) throw new Error(`cannot create ${path}: ${outcome.message}`);
  }, STEP_WITHIN_MS);
  if (status === undefined) return;
  const name = String(at(body, 'metadata.name'));
  const patched = await client.request({
    method: 'PATCH',
    path: `${path}/${name}/status`,
    contentType: MERGE,
    body: { status },
  });
  expect(patched).toMatchObject({ kind: 'ok' });
}

/** Makes nodes and running pods, and begins the deletion of those that leave. */
export async function build(client: KubeClient, setting: Setting): Promise<void> {
  const { id, cluster } = setting;
  const { nodes, running, budgets } = cluster;
  await make(client, { path: '/api/v1/namespaces', body: { metadata: { name: id } } });
  const all = (objects: readonly Made[]): Promise<unknown> => inFlight(AT_ONCE, objects, (each) => make(client, each));
  await all(nodes.flatMap((each) => nodeObjects(setting, each)));
  await all([...running, ...cluster.incoming].flatMap((each) => claimsOf(setting, each)));
  await all(running.map((each) => runningObject(setting, each)));
  await all(budgets.map((each) => budgetObject(setting, each)));
}

/** Waits until volumes are bound and budgets counted; then the deletion of the pods that leave begins. */
export async function settle(client: KubeClient, { id, cluster }: Setting): Promise<void> {
  const paths = [
    `/api/v1/namespaces/${id}/persistentvolumeclaims`,
    `/apis/policy/v1/namespaces/${id}/poddisruptionbudgets`,
  ];
  const isThere = (each: unknown): boolean =>
    at(each, 'status.phase') === 'Bound' || at(each, 'status.observedGeneration') === 1;
  for (const path of paths)
    await eventually(async () => {
      const items = at(await client.request({ path }), 'object.items') as readonly unknown[];
      expect(items.filter((each) => !isThere(each))).toEqual([]);
    }, STEP_WITHIN_MS);
  const leaving = cluster.running.filter((each) => each.leaving !== undefined);
  await inFlight(AT_ONCE, leaving, ({ name }) =>
    client.request({ method: 'DELETE', path: `/api/v1/namespaces/${id}/pods/${name}` }),
  );
}

/** Removes pods and nodes, so that the next scenarios do not run beside them. */
export async function clear(client: KubeClient, { id }: Setting): Promise<void> {
  const now = { body: { gracePeriodSeconds: 0 } };
  await client.request({ method: 'DELETE', path: `/api/v1/namespaces/${id}/pods`, ...now });
  await client.request({ method: 'DELETE', path: '/api/v1/nodes', query: { labelSelector: `stage=${id}` } });
}

/** Lets the pods come one after another, each when nothing moves any more. */
export async function play(client: KubeClient, view: StageView, setting: Setting): Promise<readonly Step[]> {
  const steps: Step[] = [];
  for (const incoming of setting.cluster.incoming) steps.push(await playOne({ client, view, setting }, incoming));
  return steps;
}

interface Playing {
  readonly client: KubeClient;
  readonly view: StageView;
  readonly setting: Setting;
}

async function playOne({ client, view, setting }: Playing, incoming: IncomingPod): Promise<Step> {
  const { id, cluster } = setting;
  const leaving = new Set(cluster.running.filter((each) => each.leaving !== undefined).map(({ name }) => name));
  const before = view.pods(id).filter(({ isTerminating, name }) => !isTerminating && !leaving.has(name));
  const spare = cluster.budgets.map(
    ({ app, minAvailable }) =>
      [app, before.filter((each) => each.isReady && each.app === app).length - minAvailable] as const,
  );
  const waitingBefore = waitingForOther(view, setting, incoming.name);
  const since = systemClock.now();
  await make(client, incomingObject(setting, incoming));
  const found = await rested(view, id, incoming.name, since);
  const alive = new Set(
    view
      .pods(id)
      .filter(({ isTerminating }) => !isTerminating)
      .map(({ name }) => name),
  );
  return {
    pod: incoming.name,
    ...(found.pod?.node !== undefined && { node: found.pod.node.slice(id.length + 1) }),
    ...(found.pod?.node === undefined &&
      found.pod?.nominated !== undefined && { nominated: found.pod.nominated.slice(id.length + 1) }),
    waitedMs: found.at - since,
    victims: before
      .map(({ name }) => name)
      .filter((name) => !alive.has(name))
      .sort(),
    spare: Object.fromEntries(spare),
    message: found.pod?.message ?? '',
    isOvertaken: waitingForOther(view, setting, incoming.name).length < waitingBefore.length,
  };
}

/** Pods of the other scheduler without a node, apart from one. */
function waitingForOther(view: StageView, { id, cluster }: Setting, except: string): readonly SeenPod[] {
  const others = cluster.incoming.filter(({ name, isForOther }) => isForOther && name !== except);
  return view.pods(id).filter((each) => each.node === undefined && others.some(({ name }) => name === each.name));
}

interface Rested {
  readonly pod: SeenPod | undefined;
  /** When it was placed, or the time now. */
  readonly at: number;
}

/** Waits until the pod is placed, or was refused and nothing has moved for a while, and no pod is about to end. */
async function rested(view: StageView, id: string, name: string, since: number): Promise<Rested> {
  let placedAt: number | undefined;
  for (;;) {
    const now = systemClock.now();
    const pod = view.pods(id).find((each) => each.name === name);
    if (pod?.node !== undefined) placedAt ??= now;
    if (isAtRest(view, id, pod) || now - since > STEP_WITHIN_MS) return { pod, at: placedAt ?? now };
    await letTimePass(POLL_MS, 'watched');
  }
}

function isAtRest(view: StageView, id: string, pod: SeenPod | undefined): boolean {
  if (pod === undefined || view.isEnding(id)) return false;
  return pod.node !== undefined || (pod.isRefused && systemClock.now() - view.changedAt(id) > QUIET_MS);
}
