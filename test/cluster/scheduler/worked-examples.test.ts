import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '#shared/runtime/clock.ts';
import { endTerminatedPods } from '#test/cluster/support/end-terminated-pods.ts';
import { countReadyNodes } from '#test/cluster/support/fake-nodes.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { installShippedSet, startShipped } from '#test/cluster/support/shipped-set.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { type Given, readSeed, type Seed, sortedFields } from '#test/shared/domain/preemption/seed-cluster.ts';
import { untilKnown } from './ask-extender.ts';
import { CLASSES, classOf, type Moment, type SeedStage, seedStage } from './seed-stage.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

/** What stays so until the next moment; victims may terminate earlier than a table says. */
const LASTING = ['nominated', 'bound', 'pending'];
const FIELDS = ['terminating', ...LASTING];
/** How long after its time a moment may come, and how long before the next one it must still be there. */
const LATE_MS = 8_000;
const EARLY_MS = 1_500;
const PATIENCE_MS = 30_000;
/** The class of this priority opted out of preemption. */
const PROTECTED = -1;
/** As much as each preemptor requests, and as long as the longest grace period of a victim. */
const SPARED = { priority: PROTECTED, request: 10, graceSeconds: 60 };
const why = whyNoOwnCluster(process.env);

type Expected = Partial<Moment> & Pick<Moment, 'at'> & { readonly nominationCleared?: readonly string[] };
type Example = Seed<readonly Expected[]>;

/** Four timed examples of one design source play at the same time, each on nodes of its own. */
describe.skipIf(why !== undefined)(`worked examples on kube-scheduler with the extender${why ?? ''}`, () => {
  let port = 0;
  let extender: SchedulerProcess;
  const over = new AbortController();
  const own = ownCluster(async () => {
    [port = 0] = await freePorts(1);
    const verbs = { preemptVerb: 'preempt', filterVerb: 'filter' };
    const entry = { urlPrefix: `http://127.0.0.1:${port}`, ...verbs, nodeCacheCapable: true };
    return { schedulerConfiguration: { extenders: [{ ...entry, ignorable: true, httpTimeout: '2s' }] } };
  });
  let ending: Promise<void>;

  beforeAll(async () => {
    const { admin } = own();
    await installShippedSet(own());
    extender = await startShipped(own(), 'control-plane-extender', [], { port });
    const metadata = { name: classOf(PROTECTED), annotations: { 'plimsoll.dev/allow-preemption': 'false' } };
    const body = { metadata, value: PROTECTED };
    expect(await admin.request({ method: 'POST', path: CLASSES, body })).toMatchObject({ kind: 'ok' });
    ending = endTerminatedPods(admin, over.signal);
  }, 60_000);
  afterAll(async () => {
    over.abort();
    await ending;
    await extender.stop();
  });

  /** Each node has a protected pod in addition, which kube-scheduler alone would preempt, and is as much larger. */
  async function build(id: string, example: Example): Promise<SeedStage> {
    const given = withProtected(example.given);
    const stage = seedStage(own(), id, given);
    await stage.build();
    await eventually(async () => {
      const ready = await countReadyNodes(own().admin, { labelSelector: `example=${id}` });
      expect(ready).toBe(given.nodes.length);
    }, PATIENCE_MS);
    for (const { name } of given.nodes) await untilKnown({ admin: own().admin, port }, stage.nodeName(name));
    return stage;
  }

  /**
   * kube-scheduler 1.36 takes the nomination from an outranked pod only where it deletes a victim for the higher one
   * (`pkg/scheduler/framework/preemption/executor.go` prepareCandidateAsync), so here that nomination may remain.
   */
  function expected(moment: Expected, seen: Omit<Moment, 'at'>, of: readonly string[] = FIELDS): void {
    const fields = of.filter((field) => field in moment);
    const outranked = new Set(moment.nominationCleared);
    const nominated = Object.fromEntries(Object.entries(seen.nominated).filter(([name]) => !outranked.has(name)));
    expect(sortedFields({ ...seen, nominated }, fields)).toEqual(sortedFields(moment, fields));
    if (of === FIELDS) expect(seen.free).toMatchObject(moment.free ?? {});
  }

  /** Plays what an example says happens at a time; what a grace period ends is not done by hand. */
  async function happen(stage: SeedStage, { when, given }: Example, second: number): Promise<void> {
    const events = (when as readonly { readonly at: number; readonly event: string }[]).filter(
      (each) => each.at === second,
    );
    const { terminating } = await stage.seen();
    for (const { event } of events) {
      const name = /^(\w+) has terminated$/.exec(event)?.[1];
      const isPreempted = given.running.some((each) => each.name === name && each.graceSeconds !== undefined);
      if (name !== undefined && !isPreempted && !terminating.includes(name)) await stage.end(name);
    }
    if (given.arrives?.at === second) await stage.create(given.arrives.pod);
  }

  test.concurrent.each(['s0-29-1', 's0-29-2', 's0-29-3', 's0-29-4'])(
    '%s: nominations, placements and times are those of the table',
    async (id) => {
      const example: Example = readSeed(id);
      const stage = await build(id, example);
      const begun = systemClock.now();
      for (const waiting of example.given.queue ?? []) await stage.create(waiting);
      for (const [index, moment] of example.then.entries()) {
        await until(begun + moment.at * 1_000);
        await happen(stage, example, moment.at);
        await eventually(async () => expected(moment, await stage.seen()), LATE_MS);
        const next = example.then[index + 1];
        if (next === undefined) continue;
        await until(begun + next.at * 1_000 - EARLY_MS);
        expected(moment, await stage.seen(), LASTING);
      }
    },
    180_000,
  );

  test.concurrent(
    's1-9: a pod that never preempts goes first in the queue, makes no pod go, and can itself be preempted',
    async () => {
      const { given }: Example = readSeed('s1-9');
      const stage = await build('s1-9', readSeed('s1-9'));
      for (const waiting of given.queue ?? []) await stage.create(waiting);
      const isNow = (moment: Partial<Moment>) =>
        eventually(async () => expect(await stage.seen()).toMatchObject(moment), PATIENCE_MS);
      await isNow({ pending: ['other', 'science'] });
      // Both have been tried in vain, and their back-off is over.
      await letTimePass(LATE_MS, 'unseen');
      await isNow({ terminating: [], nominated: {}, pending: ['other', 'science'] });
      await stage.end('low');
      await isNow({ bound: { science: 'node-1' }, pending: ['other'] });
      await stage.create({ name: 'top', priority: 2_000_000, request: 10 });
      await isNow({ terminating: ['science'], nominated: { top: 'node-1' }, pending: ['other', 'top'] });
    },
    180_000,
  );
});

function withProtected({ nodes, running, ...given }: Given): Given {
  const spared = nodes.map(({ name }) => ({ ...SPARED, name: `spared-${name}`, node: name }));
  const larger = nodes.map((node) => ({ ...node, capacity: (node.capacity ?? 0) + SPARED.request }));
  return { ...given, nodes: larger, running: [...running, ...spared] };
}

async function until(time: number): Promise<void> {
  await letTimePass(Math.max(0, time - systemClock.now()), 'load');
}
