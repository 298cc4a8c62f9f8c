import type { KubeClient } from '#shared/kube/client.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { createObject, getObject, listObjects } from '#shared/kube/objects.ts';
import type { Outcome } from '#shared/kube/outcome.ts';
import { DEPLOYMENTS, NODE_PRESSURES, PODS } from '#shared/kube/resource.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { mebibytes, type Narrator } from '#sandbox/narrator.ts';
import { THRESHOLD_MI } from '#sandbox/node-policy.ts';
import type { PlannedPod, Scenario } from './plan-scenario.ts';
import { deploymentOf, groundRules, type Manifest, podOf } from './scenario-objects.ts';
import type { ToldEvent } from './tell-events.ts';
import type { Happenings } from './verdict.ts';

export interface ScenarioPorts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly narrator: Narrator;
  readonly nodeName: string;
  /** Bytes of the node's memory that are free now. */
  readonly availableBytes: () => number;
  /** Telling Events so far. */
  readonly told: readonly ToldEvent[];
  readonly signal: AbortSignal;
}

const POLL_MS = 50;
const START_DEADLINE_MS = 15_000;
/** The hog needs some eight seconds to fill the node; then it goes within two, or something is wrong. */
const EVICTION_DEADLINE_MS = 25_000;
const REPORT_EVERY_MS = 1_000;
const MEBIBYTE = 1024 * 1024;

/** Plays the scenario against the API server, telling it as it goes; resolves with what happened. */
export async function runScenario(ports: ScenarioPorts, scenario: Scenario): Promise<Happenings> {
  await setGroundRules(ports);
  const services = await startServices(ports, scenario.services);
  const refused = await tryRefused(ports, scenario.refused);
  const shortage = await letHogGrow(ports, scenario.hog);
  if (shortage.evictedAt !== undefined) await waitForRelief(ports, scenario.hog);
  return {
    refused,
    evicted: ports.told
      .filter(({ kind, reason }) => kind === 'Pod' && reason === 'Evicted')
      .map(({ name, note }) => ({ pod: name, because: note })),
    survived: await survivors(ports, services),
    secondsToEvict: secondsBetween(shortage),
  };
}

async function setGroundRules({ client, narrator }: ScenarioPorts): Promise<void> {
  for (const manifest of groundRules()) expectOk(await create(client, manifest), 'set up the demo');
  narrator.say('Set up teams team-a and team-b, classes critical, standard and batch, and a quota on critical');
}

function create(client: KubeClient, { resource, namespace, object }: Manifest): Promise<Outcome<KubeObject>> {
  return createObject(client, { resource, ...(namespace !== undefined && { namespace }) }, object);
}

interface StartedService {
  readonly planned: PlannedPod;
  readonly podUid: string;
}

async function startServices(ports: ScenarioPorts, planned: readonly PlannedPod[]): Promise<readonly StartedService[]> {
  for (const each of planned) {
    const { namespace } = each;
    const created = await create(ports.client, { resource: DEPLOYMENTS, namespace, object: deploymentOf(each) });
    expectOk(created, `start ${each.name}`);
    ports.narrator.say(
      `${describe(each)}: asks for ${each.requestMi}Mi of memory, will use about ${each.holdsMi + 10}Mi`,
    );
  }
  return Promise.all(planned.map((each) => waitForService(ports, each)));
}

async function waitForService(ports: ScenarioPorts, planned: PlannedPod): Promise<StartedService> {
  const pod = await poll(ports, START_DEADLINE_MS, async () => (await podsOf(ports, planned)).find(isReady));
  if (pod === undefined) throw new Error(`Could not start ${planned.namespace}/${planned.name}: its pod is not ready`);
  return { planned, podUid: pod.metadata.uid ?? '' };
}

async function podsOf({ client }: ScenarioPorts, { namespace, name }: PlannedPod): Promise<readonly KubeObject[]> {
  const listed = await listObjects(client, { resource: PODS, namespace }, { labelSelector: `app=${name}` });
  return listed.kind === 'ok' ? listed.object.items : [];
}

interface WireStatus {
  readonly phase?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  readonly containerStatuses?: readonly { readonly restartCount: number }[];
}

function statusOf(pod: KubeObject): WireStatus {
  return pod['status'] ?? {};
}

function isReady(pod: KubeObject): boolean {
  return (statusOf(pod).conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
}

async function tryRefused({ client, narrator }: ScenarioPorts, planned: PlannedPod): Promise<Happenings['refused']> {
  const { namespace, name } = planned;
  narrator.say(`${describe(planned)}: asks for ${planned.requestMi}Mi, more than the quota of its team leaves`);
  const outcome = await create(client, { resource: PODS, namespace, object: podOf(planned) });
  if (outcome.kind === 'ok') {
    narrator.say(`${describe(planned)}: let in`);
    return [];
  }
  narrator.say(`${describe(planned)}: refused: ${outcome.message}`);
  return [{ pod: `${namespace}/${name}`, reason: outcome.message }];
}

interface Shortage {
  readonly shortAt: number | undefined;
  readonly evictedAt: number | undefined;
}

async function letHogGrow(ports: ScenarioPorts, hog: PlannedPod): Promise<Shortage> {
  const { client, clock, narrator } = ports;
  const { namespace, name } = hog;
  const created = await create(client, { resource: PODS, namespace, object: podOf(hog) });
  expectOk(created, `start ${name}`);
  narrator.say(`${describe(hog)}: asks for ${hog.requestMi}Mi and grows by ${hog.growsMiPerSecond}Mi a second`);
  let shortAt: number | undefined;
  let reportAt = clock.monotonic() + REPORT_EVERY_MS;
  const evictedAt = await poll(ports, EVICTION_DEADLINE_MS, async () => {
    const now = clock.monotonic();
    const available = ports.availableBytes();
    if (shortAt === undefined && available < THRESHOLD_MI * MEBIBYTE) {
      shortAt = now;
      narrator.say(`The node is short of memory: ${mebibytes(available)} available, threshold ${THRESHOLD_MI}Mi`);
    }
    if (now >= reportAt) {
      reportAt = now + REPORT_EVERY_MS;
      if (shortAt === undefined) narrator.say(`Memory available: ${mebibytes(available)}${await nextInLine(ports)}`);
    }
    if (hasBeenKilled(ports)) return 'killed';
    return (await isLeaving(ports, hog)) ? now : undefined;
  });
  return { shortAt, evictedAt: evictedAt === 'killed' ? undefined : evictedAt };
}

/** The agent's published view of who would go first. */
async function nextInLine({ client, nodeName }: ScenarioPorts): Promise<string> {
  const pressure = await getObject(client, { resource: NODE_PRESSURES, name: nodeName });
  if (pressure.kind !== 'ok') return '';
  const { next } = (pressure.object['status'] ?? {}) as { readonly next?: readonly NextInLine[] };
  const [first] = next ?? [];
  return first === undefined ? '' : `; first to go: ${first.pod}, ${first.because?.text ?? 'no reason given'}`;
}

interface NextInLine {
  readonly pod: string;
  readonly because?: { readonly text: string };
}

/** Without an agent the kernel decides in the end: that is no eviction. */
function hasBeenKilled({ told }: ScenarioPorts): boolean {
  return told.some(({ reason }) => reason === 'SystemOOM');
}

async function isLeaving({ client }: ScenarioPorts, { namespace, name }: PlannedPod): Promise<boolean> {
  const pod = await getObject(client, { resource: PODS, namespace, name });
  if (pod.kind === 'notFound') return true;
  return (
    pod.kind === 'ok' &&
    (pod.object.metadata.deletionTimestamp !== undefined || statusOf(pod.object).phase === 'Failed')
  );
}

/** The story ends when the memory is back and the agent's Event has arrived. */
async function waitForRelief(ports: ScenarioPorts, hog: PlannedPod): Promise<void> {
  const name = `${hog.namespace}/${hog.name}`;
  await poll(ports, START_DEADLINE_MS, () => {
    const isTold = ports.told.some((event) => event.reason === 'Evicted' && event.name === name);
    return Promise.resolve(isTold && ports.availableBytes() > THRESHOLD_MI * MEBIBYTE ? true : undefined);
  });
  ports.narrator.say(`Memory available: ${mebibytes(ports.availableBytes())}; the shortage is over`);
}

async function survivors(ports: ScenarioPorts, services: readonly StartedService[]): Promise<readonly string[]> {
  const checked = await Promise.all(
    services.map(async (service) => ((await hasSurvived(ports, service)) ? [service] : [])),
  );
  const names = checked.flat().map(({ planned }) => `${planned.namespace}/${planned.name}`);
  ports.narrator.say(`Still running, never restarted: ${names.join(', ') || 'nobody'}`);
  return names;
}

async function hasSurvived(ports: ScenarioPorts, { planned, podUid }: StartedService): Promise<boolean> {
  const pod = (await podsOf(ports, planned)).find(({ metadata }) => metadata.uid === podUid);
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || !isReady(pod)) return false;
  return (statusOf(pod).containerStatuses ?? []).every(({ restartCount }) => restartCount === 0);
}

function describe({ namespace, name, priorityClass }: PlannedPod): string {
  return `${namespace}/${name} (${priorityClass})`;
}

function secondsBetween({ shortAt, evictedAt }: Shortage): number | undefined {
  if (shortAt === undefined || evictedAt === undefined) return undefined;
  return Math.round(Math.max(0, evictedAt - shortAt)) / 1000;
}

/** Asks until there is an answer; `undefined` when the deadline or the end of the sandbox comes first. */
async function poll<T>(
  { clock, signal }: ScenarioPorts,
  deadlineMs: number,
  ask: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const giveUpAt = clock.monotonic() + deadlineMs;
  while (!signal.aborted && clock.monotonic() < giveUpAt) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await clock.sleep(POLL_MS, signal);
  }
  return undefined;
}

function expectOk(outcome: Outcome<unknown>, what: string): void {
  if (outcome.kind !== 'ok') throw new Error(`Could not ${what}: ${outcome.message}`);
}
