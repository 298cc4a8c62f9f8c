import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { itemsOf } from '#shared/kube/decode/wire-object.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { refusalsOf } from '#test/cluster/node/parts/answers-of-accounts.ts';
import { queueScene } from '#test/cluster/scheduler/queues/queue-scene.ts';
import { removalScene } from '#test/cluster/scheduler/removal-scene.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { endTerminatedPods } from '#test/cluster/support/end-terminated-pods.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { at, pod, textAt } from '#test/contract/harness.ts';
import { evictedByUs, type TimedLine, type WildHistory, wildMistakes } from './wild-history.ts';
import { notePods, runBoundPods, wildLoad } from './wild-load.ts';
import { WildProcesses } from './wild-processes.ts';

/** `PLIMSOLL_WILD_MINUTES=5` for a short run; `PLIMSOLL_WILD_FIRST` for other objects. */
const MINUTES = Number(process.env['PLIMSOLL_WILD_MINUTES'] ?? '30');
const SEED = Number(process.env['PLIMSOLL_WILD_FIRST'] ?? '1');
const NODES = 4;
const FAULT_EVERY_MS = 40_000;
const SETTLED_WITHIN_MS = 180_000;
const API = '/apis/plimsoll.dev/v1alpha1';
const SPECS = {
  'team-a': { guaranteed: { cpu: '12' } },
  'team-b': { guaranteed: { cpu: '8' }, max: { cpu: '20', memory: '64Gi' } },
  'team-c': { guaranteed: { cpu: '4' }, weight: 2, max: { pods: '25' } },
};
const TEAMS = Object.keys(SPECS);
const RESCHEDULING = {
  apiVersion: 'plimsoll.dev/v1alpha1',
  kind: 'ReschedulingPolicy',
  metadata: { name: 'all' },
  spec: {
    mode: 'Enforce',
    aggressiveness: 'High',
    schedule: { period: '1m' },
    underused: { low: { cpu: 60 }, target: { cpu: 80 } },
  },
};
const why = whyNoOwnCluster(process.env);

/** Everything that is shipped, with wild objects and faults; judged by watches and the audit log. */
describe.skipIf(why !== undefined)(`wild objects on a control plane with faults${why ?? ''}`, () => {
  let port = 0;
  const own = ownCluster(async () => {
    [port = 0] = await freePorts(1);
    const verbs = { preemptVerb: 'preempt', filterVerb: 'filter' };
    const entry = { urlPrefix: `http://127.0.0.1:${port}`, ...verbs, nodeCacheCapable: true, ignorable: true };
    return { schedulerConfiguration: { extenders: [{ ...entry, httpTimeout: '2s' }] } };
  });
  const { manage, install, queue } = queueScene(own);
  const { send } = removalScene(own);
  const ended = new AbortController();
  const pods: TimedLine[] = [];
  const running: Promise<unknown>[] = [];
  let processes: WildProcesses | undefined;

  beforeAll(async () => {
    const { admin } = own();
    await install();
    for (const team of TEAMS) await manage(team, { team });
    await send('POST', '/api/v1/namespaces', { metadata: { name: 'outside' } });
    const ignored = { name: 'ignored', labels: { 'plimsoll.dev/ignore': 'true' } };
    await send('POST', '/api/v1/namespaces', { metadata: ignored });
    for (const [index, value] of [10, 100, 1_000].entries())
      await send('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: `class-${index}` }, value });
    await queue('root', { reclaim: { mode: 'Enforce' } });
    for (const [name, spec] of Object.entries(SPECS)) await queue(name, ofTeam(name, spec));
    await makeFakeNodes(admin, 'node', NODES);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(NODES), 60_000);
    running.push(notePods(admin, pods, ended.signal), runBoundPods(admin, ended.signal));
    running.push(endTerminatedPods(admin, ended.signal, 1_000));
    processes = new WildProcesses(own(), port);
    await processes.start();
    await send('POST', `${API}/reschedulingpolicies`, RESCHEDULING);
    await reclaims();
  }, 300_000);
  afterAll(async () => {
    ended.abort();
    await Promise.all([...running, processes?.stop()]);
  });

  /** So that at least some pods are evicted: one team has nearly all, and another asks for its guarantee. */
  async function reclaims(): Promise<void> {
    await send('POST', '/apis/apps/v1/namespaces/team-a/deployments', deployment(30));
    await eventually(() => expect(boundIn('team-a')).toBeGreaterThan(27), 120_000);
    for (const team of ['team-b', 'team-c'])
      await send('POST', `/apis/apps/v1/namespaces/${team}/deployments`, deployment(4));
    await eventually(() => expect(boundIn('team-b')).toBe(4), 120_000);
  }

  function boundIn(namespace: string): number {
    const bound = pods.filter(({ object }) => {
      return at(object, 'metadata.namespace') === namespace && at(object, 'spec.nodeName') !== undefined;
    });
    return new Set(bound.map(({ object }) => at(object, 'metadata.uid'))).size;
  }

  test(`keep the laws for ${MINUTES} minutes`, { timeout: (MINUTES + 10) * 60_000 }, async () => {
    const [loaded, until] = [new AbortController(), systemClock.monotonic() + MINUTES * 60_000];
    const load = wildLoad(own().admin, SEED, loaded.signal);
    for (let turn = 0; systemClock.monotonic() < until; turn += 1) {
      await letTimePass(Math.min(FAULT_EVERY_MS, until - systemClock.monotonic()), 'load');
      await processes?.fail(turn);
    }
    loaded.abort();
    const answers = await load;
    const found = await eventually(async () => {
      const now = await history();
      expect(wildMistakes(now)).toEqual([]);
      return now;
    }, SETTLED_WITHIN_MS);
    console.log(answers, `${pods.length} events of pods, ${evictedByUs(found).length} evictions of ours`);
    expect(answers.taken).toBeGreaterThan(MINUTES * 10);
    expect(evictedByUs(found).length).toBeGreaterThan(0);
    const isStarting = (time: number): boolean => processes?.isStarting(time) === true;
    expect(refusalsOf(own().cluster.auditLog, isStarting)).toEqual([]);
  });

  async function history(): Promise<WildHistory> {
    const [records, events, queues] = await Promise.all(
      [`${API}/disruptions`, '/apis/events.k8s.io/v1/events', `${API}/queues`].map((path) => send('GET', path)),
    );
    return {
      pods,
      queues: itemsOf(at(queues, 'items')) as readonly KubeObject[],
      recorded: new Set(itemsOf(at(records, 'items')).flatMap(podsOfRecord)),
      returned: new Set(itemsOf(at(events, 'items')).flatMap(returnedIn)),
      auditLog: own().cluster.auditLog,
      now: systemClock.now(),
    };
  }
});

function ofTeam(team: string, spec: object): object {
  return { ...spec, preemption: { delay: '0s' }, namespaceSelector: { matchLabels: { team } } };
}

/** A storm of one owner is one record. */
function podsOfRecord(record: unknown): readonly string[] {
  const others = itemsOf(at(record, 'status.others')).map((other) => at(other, 'podUID'));
  return [at(record, 'spec.podUID'), ...others].filter((uid) => typeof uid === 'string');
}

function returnedIn(event: unknown): readonly string[] {
  return /share of the queue is free/.test(textAt(event, 'note')) ? [textAt(event, 'regarding.uid')] : [];
}

function deployment(replicas: number): object {
  const labels = { app: 'web' };
  const requests = { cpu: '1', memory: '256Mi' };
  const containers = [{ name: 'main', image: 'registry.test/idle:1', resources: { requests } }];
  const template = {
    metadata: { labels },
    spec: { ...(pod('web') as { spec: object }).spec, schedulerName: 'default-scheduler', containers },
  };
  return { metadata: { name: 'web' }, spec: { replicas, selector: { matchLabels: labels }, template } };
}
