import { postRequest, reviewClient } from '#bench/webhook/served/review-client.ts';
import { mutateBody, putBenchObjects, validateBody } from '#bench/webhook/served/rig.ts';
import { ANNOTATION_CONFIRMED_GENERATION } from '#shared/kube/api-names.ts';
import { startSchedulerProcess, untilReady } from '#bench/scheduler/support/scheduler-process.ts';
import { groupPod, startAgent } from '#test/agent/agent-process.ts';
import { createPodGroups } from '#test/agent/pod-groups.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { apiDouble, type ApiDouble } from '#test/fakes/api-double.ts';
import { createPodReview, pod } from '#test/webhook/support/reviews.ts';
import { startShippedWebhook } from '#test/webhook/support/shipped-webhook.ts';

/** A running process and work for it that can be repeated. */
export interface Scene {
  readonly pid: number;
  /** Resolves when the process can do the next work; what it does until then is not traced. */
  readonly prepare?: () => Promise<unknown>;
  /** Resolves when the work is done. */
  readonly work: () => Promise<unknown>;
  readonly stop: () => Promise<unknown>;
}

/** What can be traced, by name. */
export const SCENES: Readonly<Record<string, () => Promise<Scene>>> = {
  mutate: () => reviewScene('/mutate', mutateBody),
  validate: () => reviewScene('/validate', validateBody),
  reservation: () => reviewScene('/validate/quota', reservationBody),
  preempt: preemptScene,
  'agent-idle': idleAgentScene,
  'agent-evicting': evictingAgentScene,
};

const PRIORITY = { priorityClassName: 'high', priority: 1_000, preemptionPolicy: 'PreemptLowerPriority' };
const ALLOWED = 200;

function putCluster(api: ApiDouble): void {
  putBenchObjects(api);
  const spec = { priorityClassNames: ['high'], hard: { pods: '100000' } };
  api.put('/apis/plimsoll.dev/v1alpha1/priorityquotas', {
    metadata: { name: 'high', uid: 'high', generation: 1 },
    spec,
  });
}

async function reviewScene(path: string, body: () => string): Promise<Scene> {
  const api = await apiDouble();
  putCluster(api);
  const webhook = await startShippedWebhook(api);
  const client = await reviewClient(webhook.port);
  const work = async (): Promise<void> => {
    const status = await client.send(postRequest(path, body()));
    if (status !== ALLOWED) throw new Error(`${path} was answered with ${status}`);
  };
  await eventually(work);
  const stop = async (): Promise<void> => {
    client.close();
    await webhook.stop();
    await api.close();
  };
  return { pid: webhook.pid, work, stop };
}

let reserved = 0;

function reservationBody(): string {
  reserved += 1;
  const name = `pod-${reserved}`;
  return createPodReview(pod(PRIORITY, { name, uid: name }));
}

async function preemptScene(): Promise<Scene> {
  const api = await apiDouble();
  putCluster(api);
  const amounts = { cpu: '1', memory: '4Gi', pods: '110' };
  api.put('/api/v1/nodes', { metadata: { name: 'n0' }, status: { allocatable: amounts, capacity: amounts } });
  api.put('/api/v1/pods', preemptedPod());
  const scheduler = await startSchedulerProcess(api.url);
  await untilReady(scheduler);
  const body = JSON.stringify({
    Pod: pod({ ...PRIORITY, containers: [ONE_CPU] }, { name: 'incoming', uid: 'incoming' }),
    NodeNameToMetaVictims: { n0: { Pods: [{ UID: 'victim' }], NumPDBViolations: 0 } },
  });
  const url = `http://127.0.0.1:${scheduler.portOf('port')}/preempt`;
  const work = async (): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body });
    if (!(await answer.text()).includes('"n0"')) throw new Error('the extender took the node away');
  };
  await eventually(work);
  const stop = async (): Promise<void> => {
    scheduler.stop();
    await api.close();
  };
  return { pid: scheduler.child.pid ?? 0, work, stop };
}

const ONE_CPU = { name: 'main', image: 'i', resources: { requests: { cpu: '1' } } };

function preemptedPod(): { readonly metadata: { readonly name: string } } {
  const spec = { ...PRIORITY, priorityClassName: 'standard', priority: 100, nodeName: 'n0', containers: [ONE_CPU] };
  return { ...pod(spec, { name: 'victim', uid: 'victim' }), status: { phase: 'Running' } } as never;
}

const PASS_MS = 200;

async function idleAgentScene(): Promise<Scene> {
  const groups = createPodGroups(3);
  const pods = groups.uids.map((uid) => groupPod(uid, 0));
  const flags = [`--path-kubepods=${groups.kubepods}`, `--period-far-ms=${PASS_MS}`, '--warm-up-ms=0'];
  const agent = await startAgent(pods, flags, { evictionHard: { 'memory.available': '1Mi' } });
  const stop = async (): Promise<void> => {
    await agent.stop();
    groups.remove();
  };
  return { pid: agent.child.pid ?? 0, work: () => letTimePass(PASS_MS, 'load'), stop };
}

const EVICTIONS = 32;
const SYSTEM_PRIORITY = 2_000_000_000;
const NEAR_PASS_MS = 50;
/** Two passes at least. */
const TERMINATION_MS = 3 * NEAR_PASS_MS;
/** For two seconds after a pod is gone, the agent waits for the relief. */
const UNTIL_RELIEF_MS = 2_500;
/** The threshold is met on every machine, which an agent takes for a mistake unless it is confirmed. */
const SHORTAGE = {
  metadata: { name: 'n1', generation: 1, annotations: { [ANNOTATION_CONFIRMED_GENERATION]: '1' } },
  spec: {
    mode: 'Enforce',
    evictionHard: { 'memory.available': '99%' },
    limits: { perMinute: EVICTIONS, perTenMinutes: EVICTIONS, perNamespacePerTenMinutes: EVICTIONS },
  },
};

/** Pods come one by one to a node that is short of memory. The one of the system, which is never evicted, stays. */
async function evictingAgentScene(): Promise<Scene> {
  const groups = createPodGroups(1 + EVICTIONS);
  const [system = '', ...uids] = groups.uids;
  const flags = [`--path-kubepods=${groups.kubepods}`, `--period-near-ms=${NEAR_PASS_MS}`, '--warm-up-ms=0'];
  const policy = ['/apis/plimsoll.dev/v1alpha1/nodepressurepolicies', SHORTAGE] as const;
  const agent = await startAgent([groupPod(system, SYSTEM_PRIORITY)], flags, undefined, undefined, [policy]);
  const { api } = agent;
  const work = async (): Promise<void> => {
    const uid = uids.shift() ?? '';
    const evicted = new Promise<void>((resolve) => {
      api.onEvicted = (_, name) => {
        if (name === uid) resolve();
      };
    });
    api.put('/api/v1/pods', groupPod(uid, 0));
    await evicted;
    await letTimePass(TERMINATION_MS, 'load');
    api.remove('/api/v1/pods', `default/${uid}`);
    await letTimePass(TERMINATION_MS, 'unseen');
  };
  const stop = async (): Promise<void> => {
    await agent.stop();
    groups.remove();
  };
  return { pid: agent.child.pid ?? 0, prepare: () => letTimePass(UNTIL_RELIEF_MS, 'unseen'), work, stop };
}
