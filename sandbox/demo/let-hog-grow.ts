import { createObject, getObject } from '#shared/kube/client/objects.ts';
import { NODE_PRESSURES, PODS } from '#shared/kube/resource.ts';
import { mebibytes } from '#sandbox/narrator.ts';
import { THRESHOLD_MI } from '#sandbox/node-policy.ts';
import type { PlannedPod } from './plan-scenario.ts';
import { isLeaving, describe, poll, type ScenarioPorts } from './scenario-ports.ts';
import { podOf } from './scenario-objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';

/** When the node became short of memory and when the hog was evicted; monotonic milliseconds. */
export interface HogTimes {
  readonly shortAt: number | undefined;
  readonly evictedAt: number | undefined;
}

/** The hog needs about eight seconds to fill the node; then it must be evicted within two. */
const DEADLINE_MS = 25_000;
const REPORT_EVERY_MS = 1_000;
const THRESHOLD_BYTES = THRESHOLD_MI * 1024 * 1024;

/** Starts the hog and prints how the node fills, until the hog is evicted or killed. */
export async function letHogGrow(ports: ScenarioPorts, hog: PlannedPod): Promise<HogTimes> {
  const { client, clock, narrator } = ports;
  const created = await createObject(client, { resource: PODS, namespace: hog.namespace }, podOf(hog));
  expectOk(created, `start ${hog.name}`);
  narrator.say(`${describe(hog)}: asks for ${hog.requestMi}Mi and grows by ${hog.growsMiPerSecond}Mi a second`);
  const tellMemory = createMemoryTeller(ports);
  let shortAt: number | undefined;
  const evictedAt = await poll(ports, DEADLINE_MS, async () => {
    const now = clock.monotonic();
    const available = ports.availableBytes();
    if (shortAt !== undefined) return whetherGone(ports, hog, now);
    if (available >= THRESHOLD_BYTES) await tellMemory(now, available);
    else {
      shortAt = now;
      narrator.say(`The node is short of memory: ${mebibytes(available)} available, threshold ${THRESHOLD_MI}Mi`);
    }
    return whetherGone(ports, hog, now);
  });
  return { shortAt, evictedAt: evictedAt === 'killed' ? undefined : evictedAt };
}

/** Resolves when the memory is back and the agent's Event has arrived. */
export async function waitForRelief(ports: ScenarioPorts, hog: PlannedPod): Promise<void> {
  const name = `${hog.namespace}/${hog.name}`;
  await poll(ports, DEADLINE_MS, () => {
    const isShown = ports.shown.some((event) => event.reason === 'Evicted' && event.name === name);
    return Promise.resolve(isShown && ports.availableBytes() > THRESHOLD_BYTES ? true : undefined);
  });
  ports.narrator.say(`Memory available: ${mebibytes(ports.availableBytes())}; the shortage is over`);
}

/** Prints once a second what is available, and which pod would be evicted next whenever that changes. */
function createMemoryTeller(ports: ScenarioPorts): (now: number, available: number) => Promise<void> {
  let reportAt = -Infinity;
  let toldNext: string | undefined;
  return async (now, available) => {
    if (now < reportAt) return;
    reportAt = now + REPORT_EVERY_MS;
    ports.narrator.say(`Memory available: ${mebibytes(available)}`);
    const next = await nextInLine(ports);
    if (next === undefined || next.pod === toldNext) return;
    toldNext = next.pod;
    ports.narrator.say(`Next to be evicted: ${next.pod}: ${next.because?.text ?? 'no reason given'}`);
  };
}

interface NextInLine {
  readonly pod: string;
  readonly because?: { readonly text: string };
}

/** The agent's published view of which pod would be evicted next. */
async function nextInLine({ client, nodeName }: ScenarioPorts): Promise<NextInLine | undefined> {
  const pressure = await getObject(client, { resource: NODE_PRESSURES, name: nodeName });
  if (pressure.kind !== 'ok') return undefined;
  const status: { readonly next?: readonly NextInLine[] } = pressure.object['status'] ?? {};
  return status.next?.[0];
}

/** The time when the hog was evicted. Without an agent the kernel kills it in the end: that is not an eviction. */
async function whetherGone(ports: ScenarioPorts, hog: PlannedPod, now: number): Promise<number | 'killed' | undefined> {
  if (ports.shown.some(({ reason }) => reason === 'SystemOOM')) return 'killed';
  const { namespace, name } = hog;
  const pod = await getObject(ports.client, { resource: PODS, namespace, name });
  const isGone = pod.kind === 'notFound' || (pod.kind === 'ok' && isLeaving(pod.object));
  return isGone ? now : undefined;
}
