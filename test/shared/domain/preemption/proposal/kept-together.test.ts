import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { NodeVerdict, ProposalRules } from '#shared/domain/preemption/proposal/proposal.ts';
import { reviewByProtection } from '#shared/domain/preemption/proposal/as-proposed.ts';
import { reviewProposal } from '#shared/domain/preemption/proposal/review-proposal.ts';
import { planPreemption } from '#shared/domain/placement/plan/plan-preemption.ts';
import { finish } from '#shared/domain/base/steps.ts';
import { createTaker } from '#shared/domain/queue/taker.ts';
import { createQueueRules } from '#shared/domain/queue/preemption-rules.ts';
import { plainQueue } from '#shared/domain/queue/queue.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import { sumUsage } from '#shared/domain/queue/usage.ts';
import type { NodeSheet } from '#shared/domain/snapshot/node-entry.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { buildNode, buildPod } from '#test/build/cluster.ts';
import { waiting } from '#test/shared/domain/queue/builders.ts';
import { RULES } from './review-case.ts';

const QUEUES = ['q0', 'q1', 'q2'] as const;
const ROOM = 8;

/** A pod of a queue, or of none, with its CPUs. */
interface SmallPod {
  readonly queue: string;
  readonly cpu: number;
  readonly priority: number;
  readonly isProtected: boolean;
}

interface SmallCluster {
  readonly pods: readonly SmallPod[];
  readonly guarantees: readonly number[];
  /** What each queue uses on other nodes. */
  readonly elsewhere: readonly number[];
  readonly asks: number;
}

const amount = fc.integer({ min: 0, max: 6 });
const cluster: fc.Arbitrary<SmallCluster> = fc.record({
  pods: fc.array(
    fc.record({
      queue: fc.constantFrom(...QUEUES, 'none'),
      cpu: fc.integer({ min: 1, max: 3 }),
      priority: fc.integer({ min: 0, max: 9 }),
      isProtected: fc.boolean(),
    }),
    { minLength: 2, maxLength: 6 },
  ),
  guarantees: fc.tuple(amount, amount, amount),
  elsewhere: fc.tuple(amount, amount, amount),
  asks: fc.integer({ min: 1, max: 6 }),
});

/** What a queue would use without these pods, less its guarantee. */
function excessWithout({ pods, guarantees, elsewhere }: SmallCluster, at: number, gone: ReadonlySet<number>): number {
  const stays = pods.reduce(
    (sum, each, index) => (each.queue === QUEUES[at] && !gone.has(index) ? sum + each.cpu : sum),
    0,
  );
  return stays + (elsewhere[at] as number) - (guarantees[at] as number);
}

/** Added up without any code of the product: a queue that loses keeps its guarantee. */
function isLawful(small: SmallCluster, gone: ReadonlySet<number>): boolean {
  return QUEUES.every((name, at) => {
    const loses = [...gone].some((index) => small.pods[index]?.queue === name);
    return !loses || excessWithout(small, at, gone) >= 0;
  });
}

function scene(small: SmallCluster) {
  const fitting = small.pods.filter((_, index) => sum(small.pods.slice(0, index + 1)) <= ROOM);
  const pods = fitting.map(({ cpu, priority, isProtected }, index) =>
    buildPod({
      name: `p${index}`,
      node: 'n0',
      priority,
      requests: { cpu: String(cpu) },
      labels: isProtected && index % 3 === 0 ? { stay: 'yes' } : {},
    }),
  );
  const snapshot = createSnapshot({ nodes: [buildNode({ name: 'n0', allocatable: { cpu: String(ROOM) } })], pods });
  const incoming = buildPod({ name: 'incoming', priority: 10, requests: { cpu: String(small.asks) } });
  return { small: { ...small, pods: fitting }, pods, snapshot, incoming };
}

function sum(pods: readonly SmallPod[]): number {
  return pods.reduce((total, { cpu }) => total + cpu, 0);
}

function rulesFor(small: SmallCluster): ProposalRules {
  const tree = createQueueTree([
    plainQueue('asking'),
    ...QUEUES.map((name, at) => ({
      ...plainQueue(name),
      guaranteed: new Map([['cpu', small.guarantees[at] as number]]),
    })),
  ]);
  const none = new Set<number>();
  const own = QUEUES.map((name, at): [string, ReadonlyMap<string, number>] => [
    name,
    new Map([['cpu', excessWithout(small, at, none) + (small.guarantees[at] as number)]]),
  ]);
  const taker = createTaker(tree, sumUsage(tree, new Map(own)), waiting('incoming', 'asking'), 0);
  const keptOn = () =>
    createQueueRules<Pod>(taker, ({ name }) => {
      const { queue = 'none', cpu = 0 } = small.pods[Number(name.slice(1))] ?? {};
      const index = tree.indexes.get(queue);
      return index === undefined ? undefined : { queue: index, amounts: new Map([['cpu', cpu]]) };
    });
  return { ...RULES, keptOn };
}

function proposalOf({ snapshot, incoming }: ReturnType<typeof scene>) {
  const plan = planPreemption(snapshot, incoming);
  if (plan.kind !== 'preempt') return undefined;
  return plan.candidates.map(({ node, victims, budgetViolations }) => ({
    node,
    budgetViolations,
    uids: victims.map(({ pod }) => pod.uid),
  }));
}

function indexesOf(uids: readonly string[]): ReadonlySet<number> {
  return new Set(uids.map((uid) => Number(uid.slice('uid-p'.length))));
}

function left(verdict: NodeVerdict | undefined): readonly string[] {
  return verdict === undefined || verdict.kind === 'removed' ? [] : verdict.victims.uids;
}

test('no lawful proposal is changed, no unlawful set is named, and what is named makes room', () => {
  const seen = { lawful: 0, swapped: 0, removed: 0 };
  fc.assert(
    fc.property(cluster, (drawn) => {
      const made = scene(drawn);
      const { small, snapshot, incoming } = made;
      const proposal = proposalOf(made);
      if (proposal === undefined) return;
      const asked = { pod: incoming, proposal, now: 0 };
      const [without] = reviewProposal(snapshot, asked, RULES);
      const rules = rulesFor(small);
      const [held] = reviewProposal(snapshot, asked, rules);
      const uids = left(held);
      expect(isLawful(small, indexesOf(uids))).toBe(true);
      if (isLawful(small, indexesOf(left(without)))) {
        // Among pods of which some are protected another lawful set may be found.
        if (without?.kind === 'kept') expect(held).toEqual(without);
        seen.lawful += 1;
      }
      const stays = small.pods.filter((_, index) => !indexesOf(uids).has(index));
      if (uids.length > 0) expect(sum(stays) + small.asks).toBeLessThanOrEqual(ROOM);
      if (held?.kind === 'changed') seen.swapped += 1;
      if (held?.kind === 'removed') seen.removed += 1;
      const [byProtection] = finish(reviewByProtection(snapshot, asked, rules));
      expect(isLawful(small, indexesOf(left(byProtection)))).toBe(true);
    }),
    { seed: 28, numRuns: 3_000 },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(100);
});

test('a node that is known to hold no protected pod gets the same verdict as by the long way', () => {
  const seen = { kept: 0, other: 0 };
  fc.assert(
    fc.property(cluster, (drawn) => {
      const made = scene(drawn);
      const proposal = proposalOf(made);
      if (proposal === undefined) return;
      const asked = { pod: made.incoming, proposal, now: 0 };
      const rules = rulesFor(made.small);
      const holdsProtected = ({ pods }: NodeSheet): boolean =>
        pods.some(({ pod }) => rules.protection(pod, made.incoming) !== undefined);
      const known = { ...rules, holdsProtected };
      const verdicts = reviewProposal(made.snapshot, asked, known);
      expect(verdicts).toEqual(reviewProposal(made.snapshot, asked, rules));
      const byProtection = (by: ProposalRules) => finish(reviewByProtection(made.snapshot, asked, by));
      expect(byProtection(known)).toEqual(byProtection(rules));
      seen[verdicts[0]?.kind === 'kept' ? 'kept' : 'other'] += 1;
    }),
    { seed: 29, numRuns: 2_000 },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(100);
});
