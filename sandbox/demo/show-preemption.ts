import { createObject, getObject } from '#shared/kube/client/objects.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { PODS } from '#shared/kube/resource.ts';
import type { PlannedPod, PlannedPreemption } from './plan-scenario.ts';
import { isLeaving, isReady, describe, poll, type ScenarioPorts } from './scenario-ports.ts';
import { podOf } from './scenario-objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import type { Happenings } from './verdict.ts';

const DEADLINE_MS = 15_000;

/** Starts the pods that leave too little processor time for another, and waits until they run. */
export async function fillProcessors(ports: ScenarioPorts, { optedOut, yielding }: PlannedPreemption): Promise<void> {
  await startPod(ports, optedOut, `asks for ${optedOut.milliCpu}m CPU; its class opted out of preemption`);
  await startPod(ports, yielding, `asks for ${yielding.milliCpu}m CPU`);
  for (const pod of [optedOut, yielding]) {
    const running = await poll(ports, DEADLINE_MS, async () => ((await isRunning(ports, pod)) ? true : undefined));
    if (running === undefined) throw new Error(`cannot start ${pod.namespace}/${pod.name}: it is not ready`);
  }
}

/** Creates a pod that needs a preemption, and prints which pod was preempted, and why not the one of lowest priority. */
export async function showPreemption(
  ports: ScenarioPorts,
  { newcomer }: PlannedPreemption,
): Promise<Happenings['preempted']> {
  await startPod(ports, newcomer, `asks for ${newcomer.milliCpu}m CPU, more than is left; another pod must make room`);
  const placed = await poll(ports, DEADLINE_MS, () => isPlaced(ports, newcomer));
  const because = ports.reviews.find(({ pod }) => pod === nameOf(newcomer))?.text ?? '';
  const madeRoomFor = placed === undefined ? null : nameOf(newcomer);
  const preempted = preemptedPods(ports).map((pod) => ({ pod, madeRoomFor, because }));
  if (because !== '' && madeRoomFor !== null) tellChange(ports, preempted, because);
  return preempted;
}

/** `namespace/name` of the pod if it still runs. */
export async function findSpared(ports: ScenarioPorts, optedOut: PlannedPod): Promise<readonly string[]> {
  return (await isRunning(ports, optedOut)) ? [nameOf(optedOut)] : [];
}

function tellChange({ narrator }: ScenarioPorts, preempted: Happenings['preempted'], because: string): void {
  const made = preempted.map(({ pod, madeRoomFor }) => `${pod} made room for ${madeRoomFor}`).join(', ');
  narrator.say(`Plimsoll changed this preemption: ${because}, so ${made}`);
}

async function startPod({ client, narrator }: ScenarioPorts, planned: PlannedPod, what: string): Promise<void> {
  const created = await createObject(client, { resource: PODS, namespace: planned.namespace }, podOf(planned));
  expectOk(created, `start ${planned.name}`);
  narrator.say(`${describe(planned)}: ${what}`);
}

/** Once it is on a node and the Event of its victim has arrived. */
async function isPlaced(ports: ScenarioPorts, newcomer: PlannedPod): Promise<true | undefined> {
  const pod = await readPod(ports, newcomer);
  const spec: { readonly nodeName?: string } = pod?.['spec'] ?? {};
  return spec.nodeName !== undefined && preemptedPods(ports).length > 0 ? true : undefined;
}

function preemptedPods({ shown }: ScenarioPorts): readonly string[] {
  return shown.filter(({ kind, reason }) => kind === 'Pod' && reason === 'Preempted').map(({ name }) => name);
}

async function isRunning(ports: ScenarioPorts, planned: PlannedPod): Promise<boolean> {
  const pod = await readPod(ports, planned);
  return pod !== undefined && isReady(pod) && !isLeaving(pod);
}

async function readPod({ client }: ScenarioPorts, { namespace, name }: PlannedPod): Promise<KubeObject | undefined> {
  const found = await getObject(client, { resource: PODS, namespace, name });
  return found.kind === 'ok' ? found.object : undefined;
}

function nameOf({ namespace, name }: PlannedPod): string {
  return `${namespace}/${name}`;
}
