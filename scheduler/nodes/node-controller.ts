import { type LeaseTerm, newIdentity, runWithLease } from '#shared/kube/lease/leader-lease.ts';
import { hostname } from 'node:os';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { createEventRecorder } from '#shared/kube/events/event-recorder.ts';
import { REPORTING_CONTROLLERS } from '#shared/kube/api-names.ts';
import { type Clock, untilAborted } from '#shared/runtime/clock.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import { reportRounds } from '#shared/runtime/fault-log.ts';
import { runAvoidancePass } from './avoidance-pass.ts';
import { createContestedWrites } from './contested-writes.ts';
import { createNodeCaches, type NodeCaches } from './known-node.ts';
import {
  createNodeMetrics,
  type NodeMetrics,
  createAnnouncer,
  type NodePassPorts,
  createWriteBudgets,
} from './pass-ports.ts';
import type { NodesConfiguration } from './nodes-configuration.ts';
import { runTaintPass } from './taint-pass.ts';

export interface NodeControllerOptions extends ClientContext {
  readonly configuration: NodesConfiguration;
}

/** At most one pass a second, and at least one every ten seconds for changes that only time causes. */
const PERIOD_MS = 1_000;
const QUIET_PERIOD_MS = 10_000;
const DEADLINE_MS = 60_000;

/**
 * Keeps avoid lists, taints and node conditions up to date, on the replica that leads, until `signal` aborts; then the
 * lease is released. Does nothing where both parts are Off. Never rejects.
 */
export async function runNodeController(options: NodeControllerOptions, signal: AbortSignal): Promise<void> {
  const { configuration } = options;
  if (configuration.avoidance === 'Off' && configuration.taints === 'Off') return;
  const metrics = createNodeMetrics(options.metrics);
  const identity = newIdentity();
  const lease = { name: configuration.leaseName, namespace: configuration.leaseNamespace, identity };
  const lead = (leading: AbortSignal, term: LeaseTerm): Promise<void> =>
    leadOneTerm(options, metrics, { term, signal: leading });
  await runWithLease({ ...options, ...lease, lead }, signal);
}

interface LeadingTerm {
  readonly term: LeaseTerm;
  readonly signal: AbortSignal;
}

async function leadOneTerm(
  options: NodeControllerOptions,
  metrics: NodeMetrics,
  { term, signal }: LeadingTerm,
): Promise<void> {
  const caches = createNodeCaches(options);
  const reflectors = [caches.nodes, caches.pressures, caches.avoidFor];
  const running = reflectors.map((each) => each.run(signal));
  metrics.leader.set(1);
  try {
    await Promise.race([Promise.all(reflectors.map(({ synced }) => synced)), untilAborted(signal)]);
    await keepUpToDate({ options, metrics, caches }, { term, signal });
    await Promise.all(running);
  } finally {
    metrics.leader.set(0);
  }
}

interface NodeControllerParts {
  readonly options: NodeControllerOptions;
  readonly metrics: NodeMetrics;
  readonly caches: NodeCaches;
}

function keepUpToDate(parts: NodeControllerParts, { term, signal }: LeadingTerm): Promise<void> {
  const { clock, random, log } = parts.options;
  const ports = passPorts(parts, term);
  const isDue = createDueCheck(parts.caches, clock);
  const rounds = reportRounds(log, 'Node pass failed');
  const task = async (passing: AbortSignal): Promise<void> => {
    if (isDue()) await runPass(ports, passing);
  };
  return repeat({ task, periodMs: PERIOD_MS, deadlineMs: DEADLINE_MS, ...rounds, clock, random }, signal);
}

function passPorts({ options, metrics, caches }: NodeControllerParts, term: LeaseTerm): NodePassPorts {
  const { client, configuration, clock, log } = options;
  const reporter = { component: REPORTING_CONTROLLERS.scheduler, instance: hostname() };
  return {
    client,
    caches,
    configuration,
    metrics,
    clock,
    log,
    term,
    events: createEventRecorder({ ...reporter, client, clock, log, metrics: options.metrics }),
    budgets: createWriteBudgets(configuration, clock),
    contested: createContestedWrites(clock),
    announce: createAnnouncer(log),
  };
}

/** Avoid entries come first, because a pod that is evicted now is replaced now. */
async function runPass(ports: NodePassPorts, signal: AbortSignal): Promise<void> {
  const { avoidance, taints } = ports.configuration;
  if (avoidance !== 'Off') await runAvoidancePass(ports, signal);
  if (taints !== 'Off') await runTaintPass(ports, signal);
}

/** Whether an object has changed since the last pass, or that pass is too old. */
function createDueCheck({ nodes, pressures, avoidFor }: NodeCaches, clock: Pick<Clock, 'monotonic'>): () => boolean {
  let hasChanged = true;
  let lastMs = -Infinity;
  for (const each of [nodes, pressures, avoidFor]) each.onChange(() => void (hasChanged = true));
  return () => {
    const isDue = hasChanged || clock.monotonic() - lastMs >= QUIET_PERIOD_MS;
    if (isDue) [hasChanged, lastMs] = [false, clock.monotonic()];
    return isDue;
  };
}
