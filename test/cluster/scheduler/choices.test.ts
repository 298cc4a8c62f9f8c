import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import { decodeNode } from '#shared/kube/decode/decode-objects.ts';
import { decodeWith } from '#shared/kube/reflector/reflector.ts';
import { countReadyNodes } from '#test/cluster/support/fake-nodes.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { installShippedSet, startShipped } from '#test/cluster/support/shipped-set.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { at } from '#test/contract/harness.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { setAside, untilKnown, untilScores } from './ask-extender.ts';
import { BY_DEFAULT, BY_OPTION, type ChoiceCase, PROTECTED } from './choice-cases.ts';
import type { SeedPod } from '#test/shared/domain/preemption/seed-cluster.ts';
import { needlessPreemptions, podWritesOf, readPodHistory } from './preemption-history.ts';
import { inHalfADay } from './pressures-by-hand.ts';
import { namedVictims, type RecordedQuestions, recordQuestions } from './recorded-questions.ts';
import { CLASSES, classOf, PODS, type SeedStage, seedStage } from './seed-stage.ts';
import { eventually } from '#test/build/waiting.ts';

const PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const PATIENCE_MS = 30_000;
const OPTIONS = ['--budgets=Hard', '--tie-break=qos', '--usage-aware=true'];
/** No pod of these cases outranks it. */
const CRITICAL = { priorityClassName: 'system-cluster-critical' };
const MARKER = { namespace: 'default', kind: 'ReplicaSet', name: 'marker' };
const why = whyNoOwnCluster(process.env);

/** Each case has nodes of its own, so all of a table play at the same time. */
describe.skipIf(why !== undefined)(`whom kube-scheduler with the extender preempts${why ?? ''}`, () => {
  let port = 0;
  let questions: RecordedQuestions;
  const own = ownCluster(async () => {
    [port = 0] = await freePorts(1);
    questions = await recordQuestions(port);
    const verbs = { preemptVerb: 'preempt', filterVerb: 'filter' };
    const entry = { urlPrefix: `http://127.0.0.1:${questions.port}`, ...verbs, nodeCacheCapable: true };
    return { schedulerConfiguration: { extenders: [{ ...entry, ignorable: true, httpTimeout: '5s' }] } };
  });

  beforeAll(async () => {
    await installShippedSet(own());
    const metadata = { name: classOf(PROTECTED), annotations: { 'plimsoll.dev/allow-preemption': 'false' } };
    await send('POST', CLASSES, { metadata, value: PROTECTED });
  }, 60_000);
  afterAll(() => questions.stop());

  async function send(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<unknown> {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const outcome = await own().admin.request({ method, path, contentType, ...(body && { body }) });
    expect(outcome).toMatchObject({ kind: 'ok' });
    return at(outcome, 'object');
  }

  /** Everything that a case starts from, as the extender knows it. */
  async function build(id: string, { given, ...more }: ChoiceCase): Promise<SeedStage> {
    const running = given.running.map((each) => ({ ...each, graceSeconds: 0 }));
    const stage = seedStage(own(), id, { ...given, running });
    for (const name of more.budgeted ?? []) await createBudget(id, name);
    await stage.build();
    await eventually(async () => {
      expect(await countReadyNodes(own().admin, { labelSelector: `example=${id}` })).toBe(given.nodes.length);
    }, PATIENCE_MS);
    for (const [index, name] of (more.started ?? []).entries()) {
      const startTime = new Date(Date.UTC(2026, 0, 1, index)).toISOString();
      await send('PATCH', `${PODS}/${id}-${name}/status`, { status: { startTime } });
    }
    for (const { name } of given.nodes) await untilKnown({ admin: own().admin, port }, stage.nodeName(name));
    if (more.overRequest !== undefined) await reportUsage(stage, more.overRequest);
    const { setAside: kept } = more;
    if (kept !== undefined) await setAside({ admin: own().admin, port }, stage.nodeName(kept), CRITICAL);
    return stage;
  }

  async function createBudget(id: string, name: string): Promise<void> {
    const selector = { matchLabels: { example: id, seed: name } };
    await send('POST', BUDGETS, { metadata: { name: `${id}-${name}` }, spec: { minAvailable: 1, selector } });
  }

  async function reportUsage(stage: SeedStage, names: readonly string[]): Promise<void> {
    const node = stage.nodeName('node-1');
    const because = { code: 'x', text: 'x' };
    const next = await Promise.all(
      names.map(async (name) => ({ pod: `default/${name}`, uid: await stage.uidOf(name), usage: '7Gi', because })),
    );
    const avoid = [{ owner: MARKER, until: inHalfADay(), cause: 'by hand', hard: false }];
    const object = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name: node } };
    await send('POST', PRESSURES, object);
    const observedAt = new Date().toISOString();
    await send('PATCH', `${PRESSURES}/${node}/status`, { status: { observedAt, mode: 'Enforce', next } });
    await send('PATCH', `${PRESSURES}/${node}`, { spec: { avoid } });
    await untilScores(port, { [node]: 0 }, [{ apiVersion: 'apps/v1', ...MARKER, uid: 'u', controller: true }]);
  }

  async function play(id: string, choice: ChoiceCase): Promise<void> {
    const { given, node, gone } = choice;
    const stage = await build(id, choice);
    const uids = await Promise.all(gone.map((name) => stage.uidOf(name)));
    await stage.create(given.pending);
    await eventually(async () => {
      const { bound, terminating } = await stage.seen();
      expect({ node: bound[given.pending.name], isWaiting: await isWaiting(id, given.pending) }).toEqual({
        node,
        isWaiting: node === undefined,
      });
      expect(terminating).toEqual([]);
    }, PATIENCE_MS);
    const here = await stage.here();
    expect(given.running.map(({ name }) => name).filter((name) => !here.includes(name))).toEqual(gone);
    expectAnswers(id, choice, node === undefined ? undefined : { node: stage.nodeName(node), uids });
  }

  /** kube-scheduler asked, and the victims are those that it was answered: no others, or no node at all. */
  function expectAnswers(
    id: string,
    { given, gone }: ChoiceCase,
    to: { readonly node: string; readonly uids: readonly string[] } | undefined,
  ): void {
    const name = `${id}-${given.pending.name}`;
    const answers = questions.about('preempt', name).map(namedVictims);
    if (to === undefined) {
      expect(answers.length).toBeGreaterThan(0);
      expect(answers.filter((answer) => Object.keys(answer).length > 0)).toEqual([]);
      return;
    }
    if (gone.length > 0) expect(answers.map((answer) => answer[to.node])).toContainEqual(to.uids.toSorted());
    else expect(answers).toEqual([]);
    expect(questions.about('filter', name).map(({ answer }) => at(answer, 'NodeNames'))).toContainEqual([to.node]);
  }

  /** Whether kube-scheduler has tried in vain, and keeps no node for the pod. */
  async function isWaiting(id: string, { name }: SeedPod): Promise<boolean> {
    const found = await send('GET', `${PODS}/${id}-${name}`);
    const isNominated = at(found, 'status.nominatedNodeName') !== undefined;
    return !isNominated && at(found, 'status.conditions.0.reason') === 'Unschedulable';
  }

  function playAll(cases: Readonly<Record<string, ChoiceCase>>, prefix: string, flags: readonly string[] = []): void {
    let extender: SchedulerProcess;
    beforeAll(async () => {
      extender = await startShipped(own(), 'control-plane-extender', flags, { port });
    }, 60_000);
    afterAll(() => extender.stop());
    const numbered = Object.entries(cases).map(([name, choice], index) => [name, `${prefix}${index}`, choice] as const);
    test.concurrent.each(numbered)('%s', (_, id, choice) => play(id, choice), 120_000);
  }

  async function nodes(): Promise<readonly Node[]> {
    const listed = (await send('GET', '/api/v1/nodes')) as { readonly items: readonly unknown[] };
    return listed.items.map(decodeWith(decodeNode));
  }

  describe('by default', () => playAll(BY_DEFAULT, 'default'));
  describe('with hard budgets, by QoS class and usage', () => playAll(BY_OPTION, 'option', OPTIONS));

  describe('all of that', () => {
    test('no pod went without a pending pod of higher priority, or where that would have fitted (S1-31)', async () => {
      const history = readPodHistory(own().cluster.auditLog);
      expect(history.filter((each) => each.kind === 'removed' && each.isPreemption).length).toBeGreaterThan(0);
      expect(needlessPreemptions(await nodes(), history)).toEqual([]);
    });

    test('kube-scheduler removed each of the pods, the extender none (S0-4)', () => {
      const removed = readPodHistory(own().cluster.auditLog).filter((each) => each.kind === 'removed');
      const byOthers = removed.filter(({ pod, isPreemption }) => !isPreemption && !pod.startsWith('default/marker-'));
      expect(byOthers).toEqual([]);
      const writes = podWritesOf(own().cluster.auditLog, 'plimsoll-scheduler');
      expect(writes.filter((each) => each !== 'patch status')).toEqual([]);
    });
  });
});
