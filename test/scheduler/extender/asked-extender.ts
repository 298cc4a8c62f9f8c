import { onTestFinished } from 'vitest';
import type { Pod as DomainPod } from '#shared/domain/pod/pod.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { NodePressureFacts } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { serve } from '#shared/http/serve.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { createNominations } from '#scheduler/extender/nominations.ts';
import { extenderListener } from '#scheduler/extender/extender-listener.ts';
import { extenderVerbs } from '#scheduler/extender/extender-verbs.ts';
import { preemptionRules, type QueueKeeper } from '#scheduler/extender/preemption-rules.ts';
import type { EventRecord } from '#shared/kube/events/event-recorder.ts';
import type { PreemptionLoops } from '#scheduler/preemptions/preemption-loops.ts';
import { loopsAfter } from '#test/scheduler/preemptions/loops-after.ts';
import { fixedClasses } from '#test/build/classes.ts';
import { buildNode, buildPod } from '#test/build/cluster.ts';
import { DAEMON_SETS } from '#test/build/daemon-set-pod.ts';

const SPARED = { name: 'spared', value: 5, annotations: new Map([['plimsoll.dev/allow-preemption', 'false']]) };
const nodes = ['n0', 'n1'].map((name) => buildNode({ name, allocatable: { cpu: '1', memory: '4Gi' } }));
const pods = [
  buildPod({ name: 'ordinary', node: 'n0', priority: 10, requests: { cpu: '1' } }),
  buildPod({
    name: 'opted-out',
    node: 'n1',
    priority: 5,
    requests: { cpu: '1' },
    spec: { priorityClassName: 'spared' },
  }),
];
/** The pod that kube-scheduler asks about. */
export const Pod = {
  metadata: { name: 'incoming', namespace: 'default', uid: 'u' },
  spec: { priority: 100, containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] },
};
/** Preemptions that kube-scheduler proposes for it. */
export const proposal = {
  n0: { Pods: [{ UID: 'uid-ordinary' }], NumPDBViolations: 0 },
  n1: { Pods: [{ UID: 'uid-opted-out' }], NumPDBViolations: 0 },
};

export const NOW = 1_000_000;

const RULES = { budgets: 'BestEffort', usageAware: false, tieBreak: 'none' } as const;

const USUAL = {
  bodyLimitBytes: 100_000,
  maxRequests: 16,
  pressures: [],
  others: pods,
  missing: [],
  isStale: false,
  now: () => NOW,
  // Stands still, so that no answer depends on how busy the machine is.
  monotonic: () => 0,
};

/** What the extender knows, and how it is set up. */
export interface Asking {
  readonly path?: string;
  readonly missing?: readonly string[];
  readonly isStale?: boolean;
  readonly bodyLimitBytes?: number;
  readonly maxRequests?: number;
  readonly pressures?: readonly NodePressureFacts[];
  readonly loops?: PreemptionLoops;
  readonly keeper?: Pick<QueueKeeper, 'note' | 'whyNotPlaced'>;
  /** In place of the usual pods. */
  readonly others?: readonly DomainPod[];
  readonly now?: () => number;
  readonly monotonic?: () => number;
  /** Unless given, all time that passes is work. */
  readonly processorMs?: () => number;
}

/** An extender on a port of its own, until the test ends; one for each test. */
export async function start(asking: Asking) {
  const {
    loops = loopsAfter(0),
    pressures,
    others,
    missing,
    isStale,
    now,
    monotonic,
    processorMs = monotonic,
    ...limits
  } = { ...USUAL, ...asking };
  const recorded: EventRecord[] = [];
  const record = (event: EventRecord): void => void recorded.push(event);
  const log = createLog({ component: 'test', level: 'silent', format: 'json' });
  const metrics = createMetrics('test');
  const snapshot = { ...createSnapshot({ nodes, pods: others }), daemonSets: new Map(DAEMON_SETS) };
  for (const facts of pressures) snapshot.pressures.set(facts.node, facts);
  const rules = preemptionRules(RULES, { classes: fixedClasses([SPARED as never]), loops });
  const clock = { now, monotonic };
  const state = { missing: () => missing, isStale: () => isStale };
  const { idleFor } = createNominations(clock);
  const voided = { note: () => undefined };
  const shared = { idleFor, snapshot, ...state, rules, loops, voided };
  const verbs = extenderVerbs({ ...shared, keeper: asking.keeper, events: { record }, clock, log, metrics });
  const server = await serve({
    handler: extenderListener({ verbs, ...limits, clock, processorMs, log, metrics }),
    host: '127.0.0.1',
    port: 0,
  });
  onTestFinished(() => server.close());
  return { url: server.url, metrics, recorded };
}

/** Starts one and asks it once. */
export async function ask(body: string, asking: Asking = {}) {
  const { url, metrics, recorded } = await start(asking);
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}${asking.path ?? '/preempt'}`, { method: 'POST', headers, body });
  return { status: answer.status, body: await answer.json(), metrics: await metrics.text(), recorded };
}
