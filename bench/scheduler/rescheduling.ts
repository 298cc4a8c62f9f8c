/**
 * How long it takes to plan a pass of the rescheduler on 5,000 nodes with 150,000 pods, and the longest piece in which it
 * blocks the event loop: with every policy on, and with affinity and spread rules on half of the pods. JSON on stdout,
 * times in milliseconds.
 */
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import { NO_MEMORY } from '#shared/domain/rescheduling/memory.ts';
import type { ReschedulingResult } from '#shared/domain/rescheduling/pass.ts';
import { runPass } from '#shared/domain/rescheduling/run-pass.ts';
import { quantile, rounded } from '#bench/shared/support/quantile.ts';
import { buildNode, buildSpread, buildTerm, selectorOf } from '#test/build/cluster.ts';
import { AFFINITY, MOVE_RULES, NOON, replica, UNDERUSED } from '#test/build/rescheduling.ts';

const NODES = 5_000;
const PODS_PER_NODE = 30;
const PODS_PER_OWNER = 10;
const GOALS_MS = { plain: 250, rules: 1_000, slice: 20 };
const ROUNDS = 5;
const ALL_POLICIES = {
  ...UNDERUSED,
  affinity: AFFINITY.affinity,
  badService: { restarts: 50, move: 'Victim' as const },
  aggressiveness: 'Medium' as const,
};

/** The same number below `bound` for the same index on every machine. */
function draw(index: number, bound: number): number {
  return (Math.imul(index + 1, 0x9e3779b1) >>> 8) % bound;
}

/** What the pods of an owner share, as a process that reads them shares it. */
function ownersOf(count: number, hasRules: boolean) {
  return Array.from({ length: count }, (_, owner) => {
    const name = `web-${owner}`;
    const rules = hasRules && owner % 2 === 0;
    const first = replica({
      name: 'x',
      namespace: `team-${owner % 200}`,
      owner: name,
      requests: { cpu: `${100 + draw(owner, 500)}m`, memory: `${128 + draw(owner * 7, 1_024)}Mi` },
      scheduling: rules
        ? {
            podAntiAffinity: [buildTerm({ app: name })],
            topologySpread: [buildSpread('zone', { labelSelector: selectorOf({ app: name }), maxSkew: 2 })],
          }
        : {},
    });
    return first;
  });
}

function createPods(owners: readonly Pod[]): readonly Pod[] {
  return Array.from({ length: NODES * PODS_PER_NODE }, (_, index) => {
    const template = owners[Math.floor(index / PODS_PER_OWNER) % owners.length] as Pod;
    // A fifth of the nodes holds twice as many pods as the others.
    const node = draw(index * 3, 5) === 0 ? draw(index, NODES / 5) : draw(index, NODES);
    const uid = `uid-${index}`;
    return { ...template, name: `pod-${index}`, uid, spec: { ...template.spec, nodeName: `node-${node}` } };
  });
}

function createNodes() {
  return Array.from({ length: NODES }, (_, index) =>
    buildNode({
      name: `node-${index}`,
      labels: { zone: `zone-${index % 3}` },
      allocatable: { cpu: index % 10 === 0 ? '64' : '12', memory: '64Gi', pods: '250' },
    }),
  );
}

function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** The whole time of a pass, and its longest step. */
function timed(steps: Steps<ReschedulingResult>) {
  const start = nowMs();
  let longest = 0;
  for (;;) {
    const before = nowMs();
    const step = steps.next();
    longest = Math.max(longest, nowMs() - before);
    if (step.done === true) return { totalMs: nowMs() - start, longestMs: longest, moves: step.value.moves.length };
  }
}

function measure(hasRules: boolean) {
  const owners = ownersOf((NODES * PODS_PER_NODE) / PODS_PER_OWNER, hasRules);
  const snapshot = createSnapshot({ nodes: createNodes(), pods: createPods(owners) });
  const request = { now: NOON, memory: NO_MEMORY, rules: MOVE_RULES };
  const pass = () => timed(runPass(snapshot, ALL_POLICIES, request));
  for (let round = 0; round < 2; round += 1) pass();
  const all = Array.from({ length: ROUNDS }, pass);
  const of = (key: 'totalMs' | 'longestMs', share: number): number =>
    rounded(
      quantile(
        all.map((each) => each[key]),
        share,
      ),
    );
  return {
    moves: all[0]?.moves,
    minMs: of('totalMs', 0),
    medianMs: of('totalMs', 0.5),
    longestStepMs: of('longestMs', 1),
  };
}

const results = { plain: measure(false), rules: measure(true) };
console.log(
  JSON.stringify(
    { bench: 'rescheduling', nodes: NODES, pods: NODES * PODS_PER_NODE, goalsMs: GOALS_MS, ...results },
    undefined,
    2,
  ),
);
