import { describe, expect, test } from 'vitest';
import type { Queue } from '#shared/domain/queue/queue.ts';
import type { RunningPod } from '#shared/domain/queue/queue-pod.ts';
import { createGivers, giverObjection } from '#shared/domain/queue/givers.ts';
import { createTaker } from '#shared/domain/queue/taker.ts';
import { decideReclaim, type ReclaimDecision } from '#shared/domain/queue/reclaim.ts';
import { cpu, node, policyOf, question, queue, running, seed, waiting } from './builders.ts';

function victimsOf(decision: ReclaimDecision): readonly string[] {
  return decision.kind === 'reclaim' ? decision.victims.map(({ name }) => name) : [];
}

interface Sides {
  readonly [queueName: string]: number;
}

interface ReplicaSets {
  readonly given: {
    readonly podSize: number;
    readonly cluster: { readonly capacity: number };
    readonly queues: readonly { readonly name: string; readonly guaranteed: number; readonly used: number }[];
  };
  readonly then: readonly { readonly victims?: Sides; readonly used?: Sides; readonly pending?: Sides }[];
}

/** Both ReplicaSets make a pod whenever one is missing, and both have one that waits; `last` says why in the end. */
function play({ given }: ReplicaSets) {
  const queues = given.queues.map(({ name, guaranteed }) => queue(name, undefined, { guaranteed: cpu(guaranteed) }));
  const requests = cpu(given.podSize);
  let count = 0;
  const add = (name: string): RunningPod => running(`${name}-${(count += 1)}`, name, { requests, startedAt: count });
  let pods = given.queues.flatMap(({ name, used }) => Array.from({ length: used / given.podSize }, () => add(name)));
  const went: string[] = [];
  const last: Record<string, string> = {};
  for (let round = 0; round < 20; round += 1) {
    for (const { name } of given.queues) {
      const pod = waiting(`${name}-waits-${round}`, name, { requests });
      const decision = decideReclaim(question(queues, [node('n', cpu(given.cluster.capacity), pods)], pod));
      last[name] = decision.because.text;
      if (decision.kind !== 'reclaim') continue;
      went.push(...decision.victims.map(({ queue: giver }) => giver));
      pods = pods.filter((each) => !decision.victims.includes(each)).concat(add(name));
    }
  }
  const used = Object.fromEntries(
    given.queues.map(({ name }) => [name, pods.filter((pod) => pod.queue === name).length * given.podSize]),
  );
  return { used, went, last };
}

describe('the ReplicaSet cases (S2-27)', () => {
  const atGuarantee = (name: string, used: number, guarantee: number) =>
    `queue ${name} is not under its guarantee (cpu ${used}m of ${guarantee}m)`;
  const none = 'no node has enough pods that may be evicted to make room';
  const law2 = `${none}; queue Test is over its guarantee (cpu 12m of 10m) and gives none: queue Test would be below its guarantee (cpu 12m of 10m) without such a pod`;

  test.each([
    ['s2-27-1', { Prod: atGuarantee('Prod', 8, 6), Test: atGuarantee('Test', 8, 6) }],
    ['s2-27-2', { Prod: law2, Test: atGuarantee('Test', 12, 10) }],
    ['s2-27-3', { Prod: atGuarantee('Prod', 12, 12), Test: atGuarantee('Test', 4, 4) }],
  ])(
    '%s ends as in its table, goes on for ever without a victim, and says by which law (S2-10, S2-12, S2-19)',
    (id, sentences) => {
      const example = seed(id) as ReplicaSets;
      const { used, went, last: said } = play(example);
      expect(said).toEqual(sentences);
      const last = example.then.findLast((step) => step.used !== undefined)?.used;
      expect(used).toEqual(last);
      const victims = example.then.reduce((sum, step) => sum + (step.victims?.['Test'] ?? 0), 0);
      expect(went).toEqual(Array.from({ length: victims }, () => 'Test'));
    },
  );
});

interface FencePicture {
  readonly given: { readonly tree: Readonly<Record<string, readonly string[]>>; readonly fences: readonly string[] };
  readonly then: { readonly victimQueues: Readonly<Record<string, readonly string[]>> };
}

describe('the fence picture (S2-36)', () => {
  const { given, then } = seed('s2-36') as FencePicture;
  const parents = new Map(
    Object.entries(given.tree).flatMap(([parent, names]) => names.map((name) => [name, parent] as const)),
  );
  const queues = [...parents].map(([name, parent]) =>
    queue(name, parent, given.fences.includes(name) ? policyOf('Fence') : {}),
  );
  const leaves = Object.keys(then.victimQueues);

  test.each(Object.entries(then.victimQueues))('a pod of %s takes from %j and no other queue', (taker, givers) => {
    const guaranteed = queues.map((each): Queue => (each.name === taker ? { ...each, guaranteed: cpu(1) } : each));
    const looked = leaves.filter((leaf) => {
      const nodes = [node('n', cpu(1), [running('only', leaf)])];
      return victimsOf(decideReclaim(question(guaranteed, nodes, waiting('p', taker)))).length > 0;
    });
    expect(looked).toEqual(leaves.filter((leaf) => givers.includes(leaf)));
  });
});

interface LastResort {
  readonly cases: readonly {
    readonly name: string;
    readonly given?: { readonly nodeCapacity?: number; readonly pendingOwnerKind?: string };
    readonly then: { readonly victims: readonly string[]; readonly lastResort?: boolean };
  }[];
}

describe('the last resort (S2-9, S2-29)', () => {
  const { cases } = seed('s2-9') as LastResort;
  const queues = [queue('system', undefined, { guaranteed: cpu(20) }), queue('other')];

  // The third case is about kube-scheduler's own preemption, where only a pod of a DaemonSet has a last resort.
  test.each(cases.slice(0, 2))('$name', ({ given, then }) => {
    const pods = [
      running('ds-a', 'system', { priority: 1000, requests: cpu(4), isDaemonSet: true }),
      running('optout', 'other', { priority: 100, requests: cpu(6), mayBePreempted: false }),
      ...(given?.nodeCapacity === undefined ? [] : [running('plain', 'other', { priority: 100, requests: cpu(2) })]),
    ];
    const pod = waiting('ds-b', 'system', { priority: 1000, requests: cpu(2), isDaemonSet: true, node: 'node-1' });
    const nodes = [node('node-1', cpu(given?.nodeCapacity ?? 10), pods), node('node-2', cpu(99), [])];
    const decision = decideReclaim(question(queues, nodes, pod));
    expect(victimsOf(decision)).toEqual(then.victims);
    expect(decision).toMatchObject({ isLastResort: then.lastResort });
    expect(decision.because.code).toBe(then.lastResort === true ? 'LastResort' : 'Reclaim');
  });

  test('a pod of a DaemonSet is not taken: it would be created again on its node', () => {
    const nodes = [node('n', cpu(1), [running('ds', 'other', { isDaemonSet: true })])];
    expect(decideReclaim(question(queues, nodes, waiting('p', 'system')))).toMatchObject({
      kind: 'none',
      because: { code: 'NotEnough' },
    });
  });
});

describe('single laws', () => {
  interface Law2 {
    readonly given: {
      readonly queue: { readonly guaranteed: number };
      readonly pods: readonly { readonly name: string; readonly request: number }[];
    };
    readonly cases: readonly {
      readonly then: { readonly candidates?: readonly string[]; readonly allowed?: boolean };
    }[];
  }

  const { given: law2, cases: law2Cases } = seed('s2-10') as Law2;
  const giver = [
    queue('taker', undefined, { guaranteed: cpu(20) }),
    queue('giver', undefined, { guaranteed: cpu(law2.queue.guaranteed) }),
  ];
  const others = running('rest', 'giver', { requests: cpu(2), application: 'rest', priority: 9 });
  const held = law2.pods.map(({ name, request }) => running(name, 'giver', { requests: cpu(request) }));
  const small = running('other', 'giver', { requests: cpu(2), priority: 9 });

  test('law 2: a pod larger than the excess of its queue is no candidate (S2-10, S2-22)', () => {
    for (const pod of held) {
      const nodes = [node('n', cpu(Number(pod.requests.get('cpu'))), [pod]), node('m', cpu(14), [small])];
      const usage = question(giver, [node('all', cpu(14), [...held, others])], waiting('p', 'taker')).usage;
      const asked = question(giver, nodes.slice(0, 1), waiting('p', 'taker', { requests: pod.requests }), { usage });
      const mayGo = law2Cases[0]?.then.candidates?.includes(pod.name);
      expect(decideReclaim(asked).kind, pod.name).toBe(mayGo === true ? 'reclaim' : 'none');
    }
  });

  test('law 2: two that may each go may not go together (S2-10)', () => {
    const two = held.filter(({ name }) => name !== 'five');
    const usage = question(giver, [node('all', cpu(14), [...held, others])], waiting('p', 'taker')).usage;
    const asked = question(giver, [node('n', cpu(7), two)], waiting('p', 'taker', { requests: cpu(7) }), { usage });
    expect(decideReclaim(asked).kind === 'reclaim').toBe(law2Cases[1]?.then.allowed);
  });

  interface Law3 {
    readonly given: {
      readonly taker: { readonly pod: string; readonly application: string; readonly queue: string };
      readonly candidates: readonly { readonly pod: string; readonly application: string; readonly queue: string }[];
    };
    readonly then: { readonly candidates: readonly string[] };
  }

  test('law 3: not within the same application, in another queue neither (S2-11)', () => {
    const { given, then } = seed('s2-11') as Law3;
    const { pod: name, application, queue: taker } = given.taker;
    const queues = [queue(taker, undefined, { guaranteed: cpu(9) }), queue('other')];
    const found = given.candidates.filter((candidate) => {
      const victim = running(candidate.pod, candidate.queue, { application: candidate.application });
      const asked = question(queues, [node('n', cpu(1), [victim])], waiting(name, taker, { application }));
      return decideReclaim(asked).kind === 'reclaim';
    });
    expect(found.map(({ pod }) => pod)).toEqual(then.candidates);
  });

  interface Figures {
    readonly cases: readonly {
      readonly name: string;
      readonly when: { readonly guaranteed: number | null; readonly used: number };
      readonly then: { readonly mayTrigger?: boolean; readonly mayGive?: boolean };
    }[];
  }

  test.each((seed('s2-12') as Figures).cases)('law 4: $name (S2-12)', ({ when, then }) => {
    const guaranteed = when.guaranteed === null ? {} : { guaranteed: cpu(when.guaranteed) };
    const queues = [queue('taker', undefined, guaranteed), queue('giver')];
    const own = when.used === 0 ? [] : [running('own', 'taker', { requests: cpu(when.used) })];
    const nodes = [node('n', cpu(2 + when.used), [...own, running('v', 'giver', { requests: cpu(2) })])];
    const decision = decideReclaim(question(queues, nodes, waiting('p', 'taker', { requests: cpu(2) })));
    expect(decision.kind === 'reclaim').toBe(then.mayTrigger);
    if (then.mayTrigger === false)
      expect(decision.because).toMatchObject({ code: 'TakerNotUnderGuarantee', facts: { row: 'S2-12' } });
  });

  test.each((seed('s2-13') as Figures).cases)('law 5: $name (S2-13)', ({ when, then }) => {
    const guaranteed = when.guaranteed === null ? {} : { guaranteed: cpu(when.guaranteed) };
    const queues = [queue('taker', undefined, { guaranteed: cpu(1) }), queue('giver', undefined, guaranteed)];
    const pods = Array.from({ length: when.used }, (_, index) => running(`v${index}`, 'giver'));
    const asked = question(queues, [node('n', cpu(when.used), pods)], waiting('p', 'taker'));
    expect(decideReclaim(asked).kind === 'reclaim').toBe(then.mayGive);
    // Law 2 keeps the pods as well, so only the reason shows that this law does.
    const taker = createTaker(asked.tree, asked.usage, asked.pod, asked.now);
    const code = giverObjection(createGivers(taker), 'giver')?.code;
    expect(code).toBe(then.mayGive === true ? undefined : 'GiverNotOverGuarantee');
  });

  interface Priorities {
    readonly given: { readonly taker: { readonly priority: number } };
    readonly cases: readonly {
      readonly name: string;
      readonly when: { readonly victimPriority: number; readonly victimQueue: string | null };
      readonly then: { readonly allowed: boolean };
    }[];
  }
  const law6 = seed('s2-14') as Priorities;

  test.each(law6.cases)('law 6: $name (S2-14)', ({ when, then }) => {
    const queues = [queue('a', undefined, { guaranteed: cpu(9) }), queue('b')];
    // Outside of all queues nothing says what was promised, so nothing is taken.
    const victim = running('v', when.victimQueue ?? 'none', { priority: when.victimPriority });
    const pod = waiting('p', 'a', { priority: law6.given.taker.priority });
    const decision = decideReclaim(question(queues, [node('n', cpu(1), [victim])], pod));
    expect(decision.kind === 'reclaim').toBe(then.allowed);
  });

  test.each([
    ['a', 'none'],
    ['b', 'reclaim'],
  ])('law 6: of a queue that is under one guarantee and over another, a pod of queue %s: %s (S2-14)', (owner, kind) => {
    const queues = [queue('a', undefined, { guaranteed: cpu(9) }), queue('b')];
    const capacity = new Map([...cpu(1), ['memory', 5]]);
    const nodes = [node('n', capacity, [running('fat', owner, { requests: new Map([['memory', 5]]) })])];
    const pod = waiting('p', 'a', { requests: new Map([...cpu(1), ['memory', 1]]) });
    expect(decideReclaim(question(queues, nodes, pod)).kind).toBe(kind);
  });

  interface Delays {
    readonly cases: readonly {
      readonly name: string;
      readonly when: { readonly pendingForSeconds: number };
      readonly then: { readonly considered: boolean };
    }[];
  }

  test.each((seed('s2-20') as Delays).cases)('the delay: $name (S2-20)', ({ when, then }) => {
    const queues = [queue('a', undefined, { guaranteed: cpu(9) }), queue('b')];
    const pod = waiting('p', 'a', { waitingSince: -when.pendingForSeconds * 1_000 });
    const decision = decideReclaim(question(queues, [node('n', cpu(1), [running('v', 'b')])], pod));
    expect(decision.kind === 'reclaim').toBe(then.considered);
  });

  interface OneNode {
    readonly given: {
      readonly nodes: readonly { readonly name: string; readonly free: number }[];
      readonly candidates: readonly { readonly name: string; readonly node: string; readonly request: number }[];
      readonly pending: { readonly request: number };
    };
    readonly then: {
      readonly chosen: string;
      readonly groups: Readonly<Record<string, { readonly victims: string[] }>>;
    };
  }

  test('all victims are on one node (S2-24)', () => {
    const { given, then } = seed('s2-24') as OneNode;
    const nodes = given.nodes.map(({ name, free }) => ({
      name,
      free: cpu(free),
      pods: given.candidates
        .filter((candidate) => candidate.node === name)
        .map((candidate) => running(candidate.name, 'giver', { requests: cpu(candidate.request) })),
    }));
    const queues = [queue('taker', undefined, { guaranteed: cpu(9) }), queue('giver')];
    const pod = waiting('p', 'taker', { requests: cpu(given.pending.request) });
    const decision = decideReclaim(question(queues, nodes, pod));
    expect(decision).toMatchObject({ kind: 'reclaim', node: then.chosen });
    expect([...victimsOf(decision)].sort()).toEqual(then.groups[then.chosen]?.victims);
  });
});
