import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { ControllerPart, TermWork } from '#shared/kube/lease/run-controller.ts';
import { hostname } from 'node:os';
import { createEventRecorder } from '#shared/kube/events/event-recorder.ts';
import { REPORTING_CONTROLLERS } from '#shared/kube/api-names.ts';
import type { SharedContext } from '#shared/kube/reflector/shared-streams.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { reportRounds } from '#shared/runtime/fault-log.ts';
import { runAvoidancePass } from './avoidance-pass.ts';
import { createContestedWrites } from './contested-writes.ts';
import { createNodeCaches, createNodeSettings, type NodeCaches } from './known-node.ts';
import {
  createNodeMetrics,
  type NodeMetrics,
  createAnnouncer,
  type NodePassPorts,
  createWriteBudgets,
} from './pass-ports.ts';
import type { NodesConfiguration } from './nodes-configuration.ts';
import { runSparePass } from './spare-pass.ts';
import { runTaintPass } from './taint-pass.ts';

export interface NodeControllerOptions extends SharedContext {
  readonly configuration: NodesConfiguration;
}

/** At most one pass a second, and at least one every ten seconds for changes that only time causes. */
const PERIOD_MS = 1_000;
const QUIET_PERIOD_MS = 10_000;
const DEADLINE_MS = 60_000;

/** Keeps avoid lists, taints and node conditions up to date on the replica that leads. */
export function nodeController(options: NodeControllerOptions): ControllerPart {
  const { log, clock } = options;
  const metrics = createNodeMetrics(options.metrics);
  const caches = createNodeCaches(options);
  const settingsOf = createNodeSettings(caches);
  const changes = countChanges(caches);
  const begin = (term: LeaseTerm): TermWork => {
    const rounds = reportRounds(log, 'Node pass failed');
    const ports = passPorts({ options, metrics, caches, settingsOf }, term);
    const isDue = createDueCheck(changes, clock);
    const task = async (passing: AbortSignal): Promise<void> => {
      if (isDue()) await runPass(ports, passing);
    };
    const passes = [{ task, periodMs: PERIOD_MS, deadlineMs: DEADLINE_MS, ...rounds }];
    return { sources: Object.values(caches), passes };
  };
  return { name: 'nodes', lease: 'plimsoll-node-controller', leader: metrics.leader, begin };
}

interface NodeControllerParts {
  readonly options: NodeControllerOptions;
  readonly metrics: NodeMetrics;
  readonly caches: NodeCaches;
  readonly settingsOf: NodePassPorts['settingsOf'];
}

function passPorts({ options, ...parts }: NodeControllerParts, term: LeaseTerm): NodePassPorts {
  const { client, configuration, clock, log } = options;
  const reporter = { component: REPORTING_CONTROLLERS.scheduler, instance: hostname() };
  return {
    ...parts,
    client,
    mostTaintedShare: configuration.mostTaintedPercent / 100,
    clock,
    log,
    term,
    events: createEventRecorder({ ...reporter, client, clock, log, metrics: options.metrics }),
    budgets: createWriteBudgets(configuration, clock),
    contested: createContestedWrites(clock),
    spareWrites: new Map(),
    heardAgents: new Map(),
    announce: createAnnouncer(log),
  };
}

/** Avoid entries come first, because a pod that is evicted now is replaced now. */
async function runPass(ports: NodePassPorts, signal: AbortSignal): Promise<void> {
  await runAvoidancePass(ports, signal);
  await runTaintPass(ports, signal);
  await runSparePass(ports, signal);
}

function countChanges({ nodes, pressures, policies, agents }: NodeCaches): () => number {
  let changes = 0;
  for (const each of [nodes, pressures, policies, agents]) each.onChange(() => void (changes += 1));
  return () => changes;
}

/** Whether an object has changed since the last pass, or that pass is too old. */
function createDueCheck(changes: () => number, clock: Pick<Clock, 'monotonic'>): () => boolean {
  let seen = -1;
  let lastMs = -Infinity;
  return () => {
    const isDue = changes() !== seen || clock.monotonic() - lastMs >= QUIET_PERIOD_MS;
    if (isDue) [seen, lastMs] = [changes(), clock.monotonic()];
    return isDue;
  };
}
