import { finish } from '#shared/domain/base/steps.ts';
import { compareWaiting, decideLetIn } from '#shared/domain/queue/let-in.ts';
import type { Queue } from '#shared/domain/queue/queue.ts';
import type { RunningPod, WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { createQueueTree, type QueueTree } from '#shared/domain/queue/queue-tree.ts';
import type { GivingNode } from '#shared/domain/queue/givers.ts';
import { decideReclaimInSteps } from '#shared/domain/queue/reclaim.ts';
import { deservedShares } from '#shared/domain/queue/shares.ts';
import { sumUsage } from '#shared/domain/queue/usage.ts';
import { cpu, node, ownUsage, policyOf, queue, running, waiting } from './builders.ts';

/** A generator of the same numbers for the same seed on every machine. */
export function numbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

const DELAY_STEPS = 3;
const GRACE_STEPS = 2;
const NODES = 4;
const NODE_SIZE = 10;
/** Of one queue. */
const MAX_WAITING = 6;
const NAMES = ['a', 'b', 'c.1', 'c.2'] as const;

/** A pod on a node, or on its way out of it. */
interface Placed {
  readonly pod: RunningPod;
  readonly node: string;
  /** The step at which it is gone. */
  goneAt: number;
  /** Whether reclaim took it, and not its own end. */
  isReclaimed: boolean;
}

interface Waiting {
  readonly pod: WaitingPod;
  /** The node that was set aside for it. */
  node: string | undefined;
  isLetIn: boolean;
}

/** What must never happen, for the test to count. */
export interface Findings {
  /** A queue was taken below its guarantee by a decision of ours. */
  broughtBelow: number;
  /** A queue under its guarantee whose pod could have had room waited longer than delay, grace and a pass. */
  waitedTooLong: number;
  /** The same application took from another and lost to it again without anything else happening. */
  loops: number;
  reclaimed: number;
  ended: number;
}

/**
 * A cluster in steps of ten seconds: pods come, run and end, those that are taken are made again, and the decisions of
 * the product are carried out: shares, letting in, reclaim, room set aside until the victims are gone.
 */
export class QueueModel {
  readonly findings: Findings = { broughtBelow: 0, waitedTooLong: 0, loops: 0, reclaimed: 0, ended: 0 };
  readonly #draw: (bound: number) => number;
  readonly #tree: QueueTree;
  #placed: Placed[] = [];
  #waiting: Waiting[] = [];
  /** Since when a queue has been under its guarantee with a pod that could have room. */
  readonly #underSince = new Map<string, number>();
  /** Since the last arrival or end: so many decisions without news are a loop. */
  #quietReclaims = 0;
  #step = 0;
  #count = 0;

  constructor(seed: number) {
    this.#draw = numbers(seed);
    this.#tree = createQueueTree(this.#queues());
  }

  step(): void {
    this.#step += 1;
    this.#arriveAndEnd();
    this.#letGo();
    this.#place();
    this.#letIn();
    this.#reclaim();
    this.#judge();
  }

  /** No arrivals and ends from here on: what happens now happens by our decisions alone. */
  settle(steps: number): void {
    for (let at = 0; at < steps; at += 1) {
      this.#step += 1;
      this.#letGo();
      this.#place();
      this.#letIn();
      this.#reclaim();
    }
  }

  #queues(): readonly Queue[] {
    const bounds = (): Partial<Queue> => ({
      weight: this.#draw(4),
      guaranteed: cpu(this.#draw(9)),
      preemption: { policy: 'Default', delayMs: DELAY_STEPS * 10_000, preferNear: this.#draw(2) === 0 },
    });
    const fence = this.#draw(4) === 0 ? policyOf('Fence') : {};
    return [
      queue('c', undefined, fence),
      ...NAMES.map((name) => queue(name, name.startsWith('c') ? 'c' : undefined, bounds())),
    ];
  }

  #arriveAndEnd(): void {
    const name = NAMES[this.#draw(NAMES.length)] ?? 'a';
    const isFull = this.#waiting.filter(({ pod }) => pod.queue === name).length >= MAX_WAITING;
    if (this.#draw(3) === 0 && !isFull) this.#arrive(name, 1 + this.#draw(5), this.#draw(2));
    for (const placed of this.#placed) {
      if (placed.goneAt === Infinity && this.#draw(40) === 0) {
        placed.goneAt = this.#step + 1;
        this.findings.ended += 1;
        this.#quietReclaims = 0;
      }
    }
  }

  #arrive(name: string, size: number, priority: number): void {
    this.#count += 1;
    const pod = waiting(`p${this.#count}`, name, {
      requests: cpu(size),
      priority,
      application: `${name}-${this.#count % 3}`,
      waitingSince: this.#step * 10_000,
    });
    this.#waiting.push({ pod, node: undefined, isLetIn: false });
    this.#quietReclaims = 0;
  }

  /** What has ended leaves its node; what was taken is made again by its controller. */
  #letGo(): void {
    const gone = this.#placed.filter(({ goneAt }) => goneAt <= this.#step);
    this.#placed = this.#placed.filter(({ goneAt }) => goneAt > this.#step);
    for (const { pod, isReclaimed } of gone) {
      if (!isReclaimed) continue;
      this.#count += 1;
      const { queue: name, requests, priority, application } = pod;
      const again = waiting(`p${this.#count}`, name, {
        requests,
        priority,
        application,
        waitingSince: this.#step * 10_000,
      });
      this.#waiting.push({ pod: again, node: undefined, isLetIn: false });
    }
  }

  /** Pods that were let in start where they fit, higher ones first; room that is set aside is for its pod. */
  #place(): void {
    const order = this.#waiting.filter(({ isLetIn }) => isLetIn).sort((x, y) => compareWaiting(x.pod, y.pod));
    for (const each of order) {
      const size = Number(each.pod.requests.get('cpu'));
      const nodes = each.node === undefined ? this.#nodeNames() : [each.node];
      const found = nodes.find((name) => this.#freeNow(name, each) >= size);
      if (found === undefined) continue;
      this.#waiting.splice(this.#waiting.indexOf(each), 1);
      const { uid, queue: name, requests, priority, application } = each.pod;
      const pod = running(uid, name, { requests, priority, application, startedAt: this.#step * 10_000 });
      this.#placed.push({ pod, node: found, goneAt: Infinity, isReclaimed: false });
    }
  }

  #nodeNames(): readonly string[] {
    return Array.from({ length: NODES }, (_, index) => `n${index}`);
  }

  /** What is free on a node for a pod: terminating pods hold their room, and so do rooms set aside for others. */
  #freeNow(name: string, except: Waiting | undefined): number {
    const held = this.#placed.filter((each) => each.node === name).map(({ pod }) => pod.requests);
    const aside = this.#waiting.filter((each) => each !== except && each.node === name).map(({ pod }) => pod.requests);
    return [...held, ...aside].reduce((left, requests) => left - Number(requests.get('cpu')), NODE_SIZE);
  }

  #charged(): readonly (RunningPod | WaitingPod)[] {
    const inside = this.#waiting.filter(({ isLetIn }) => isLetIn).map(({ pod }) => pod);
    return [...this.#placed.filter(({ goneAt }) => goneAt === Infinity).map(({ pod }) => pod), ...inside];
  }

  #letIn(): void {
    const outside = this.#waiting.filter(({ isLetIn }) => !isLetIn);
    const charged = this.#charged();
    const requested = ownUsage([...charged, ...outside.map(({ pod }) => pod)]);
    const allowed = deservedShares({
      tree: this.#tree,
      total: cpu(NODES * NODE_SIZE),
      requested,
      idleGuarantees: 'Lent',
    });
    const usage = sumUsage(this.#tree, ownUsage(charged));
    const { letIn } = decideLetIn({ tree: this.#tree, usage, allowed, waiting: outside.map(({ pod }) => pod) });
    const inside = new Set(letIn.map(({ pod }) => pod.uid));
    for (const each of outside) if (inside.has(each.pod.uid)) each.isLetIn = true;
  }

  #nodes(): readonly GivingNode[] {
    return this.#nodeNames().map((name) => {
      const pods = this.#placed.filter((each) => each.node === name && each.goneAt === Infinity).map(({ pod }) => pod);
      const aside = this.#waiting
        .filter((each) => each.node === name)
        .map(({ pod }) => running(pod.uid, pod.queue, pod));
      return { ...node(name, cpu(NODE_SIZE), [...pods, ...aside]), pods };
    });
  }

  /** One decision a step, for the first that has waited for its delay. */
  #reclaim(): void {
    const order = this.#waiting.filter((each) => each.node === undefined).sort((x, y) => compareWaiting(x.pod, y.pod));
    for (const each of order) {
      const usage = this.#usageOnNodes(each);
      const question = {
        tree: this.#tree,
        usage,
        pod: each.pod,
        now: this.#step * 10_000,
        budgets: new Map<string, number>(),
      };
      const decision = finish(decideReclaimInSteps({ ...question, nodes: this.#nodes() }));
      if (decision.kind !== 'reclaim') continue;
      each.node = decision.node;
      each.isLetIn = true;
      for (const victim of decision.victims) this.#evict(victim);
      this.#quietReclaims += 1;
      if (this.#quietReclaims > 60) this.findings.loops += 1;
      return;
    }
  }

  /** What has a node or room set aside: pods that wait for room use nothing. */
  #usageOnNodes(except: Waiting | undefined) {
    const aside = this.#waiting.filter((each) => each !== except && each.node !== undefined).map(({ pod }) => pod);
    const onNodes = this.#placed.filter(({ goneAt }) => goneAt === Infinity).map(({ pod }) => pod);
    return sumUsage(this.#tree, ownUsage([...onNodes, ...aside]));
  }

  #evict(victim: RunningPod): void {
    const placed = this.#placed.find(({ pod }) => pod === victim) as Placed;
    placed.goneAt = this.#step + GRACE_STEPS;
    placed.isReclaimed = true;
    this.findings.reclaimed += 1;
    const index = this.#tree.indexes.get(victim.queue) ?? 0;
    const left = Number(this.#usageOnNodes(undefined).get('cpu')?.[index] ?? 0);
    if (left < Number(this.#tree.queues[index]?.guaranteed.get('cpu'))) this.findings.broughtBelow += 1;
  }

  /** A queue is owed room while a decision would find it; the clock stops when it gets room or the chance is gone. */
  #judge(): void {
    const owed = new Set<string>();
    for (const each of this.#waiting.filter(({ node: aside }) => aside === undefined)) {
      const pod = { ...each.pod, waitingSince: -Infinity };
      const usage = this.#usageOnNodes(each);
      const question = {
        tree: this.#tree,
        usage,
        pod,
        now: 0,
        nodes: this.#nodes(),
        budgets: new Map<string, number>(),
      };
      if (finish(decideReclaimInSteps(question)).kind === 'reclaim') owed.add(each.pod.uid);
    }
    for (const uid of this.#underSince.keys()) if (!owed.has(uid)) this.#underSince.delete(uid);
    for (const uid of owed) {
      const since = this.#underSince.get(uid) ?? this.#step;
      this.#underSince.set(uid, since);
      const waitingPods = this.#waiting.length;
      if (this.#step - since > DELAY_STEPS + GRACE_STEPS + waitingPods) this.findings.waitedTooLong += 1;
    }
  }
}
