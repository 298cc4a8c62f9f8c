import { lastingEntries } from '#shared/domain/nodes/avoid-nodes.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { ownerText } from '#shared/domain/pod/pod.ts';
import { HEALTH_CONNECTIONS, healthListener } from '#shared/http/health.ts';
import { type Server, serve } from '#shared/http/serve.ts';
import { buildInfo } from '#shared/runtime/build-info.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { repeat, type Repetition } from '#shared/runtime/repeat.ts';
import { enforceEviction, dryRunEviction, readAgain, readFresh } from './attempts.ts';
import type { AgentConfiguration } from './configuration.ts';
import type { PassResult } from '#shared/decide/eviction/decide.ts';
import { readinessGates, noStatistics } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { reportRounds } from '#shared/runtime/fault-log.ts';
import { LOG } from './messages.ts';
import { askInventory } from './observe/node/second-opinions.ts';
import { NO_PREVIOUS_STATUS } from './observe/api-server/node-pressure-object.ts';
import type { OwnNode } from './observe/api-server/policies.ts';
import { createPassRunner, type PassRunner, runPasses } from './pass.ts';
import { createReporter, type Reporter, type AgentLog, createAgentLog } from './report/reporter.ts';
import { createInventoryMetrics, type SourcesShown } from './report/source-metrics.ts';
import { createSpareMeter, lendingProblem, type SpareMeter } from './spare.ts';
import { createStatusWriter, createPublisher, type StatusWriter } from './report/status-writer.ts';
import { createThrottle, type Throttle, type ThrottlePorts } from './throttle.ts';
import { type AgentParts, type AgentPorts, type Wiring, openParts } from './wire.ts';

export interface Agent {
  /** Starts the health listener and every loop; resolves once the listener accepts connections. */
  readonly start: (signal: AbortSignal) => Promise<Pick<Server, 'url'>>;
  /** Waits for running work, then releases all resources. Call it after the signal has aborted. */
  readonly stop: () => Promise<void>;
}

const EVERY_SECOND = { periodMs: 1000, deadlineMs: 6000 };
const EVERY_TEN_SECONDS = { periodMs: 10_000, deadlineMs: 10_000 };
const EVERY_TEN_MINUTES = { periodMs: 600_000, deadlineMs: 10_000 };

/** Creates the agent; nothing runs before `start`. */
export async function createAgent(configuration: AgentConfiguration, ports: AgentPorts): Promise<Agent> {
  const parts = await openParts(configuration, ports);
  const wiring: Wiring = { configuration, ports, parts };
  const agentLog = createAgentLog(ports.log);
  const takeInventory = wireInventory(wiring);
  const reporter = wireReporter(wiring, agentLog);
  const passRunner = wirePasses(wiring, reporter);
  let lastResult: PassResult | undefined;
  const spare = wireSpare(wiring);
  const throttle = wireThrottle(wiring, { lastResult: () => lastResult, written: () => writer.throttled() });
  const { writer, publish } = wirePublisher(wiring, { reporter, spare, throttle }, () => lastResult);
  let running: Promise<unknown> = Promise.resolve();
  let health: Server | undefined;

  function passed(latest: PassResult): void {
    lastResult = latest;
    parts.figures.note(latest.snapshot);
    parts.contact.passed(latest);
    reporter.passed(latest);
    spare.passed(latest);
    agentLog.showFallback(parts.source.fallback());
  }

  async function start(signal: AbortSignal): Promise<Server> {
    health = await listen(wiring, writer, () => lastResult);
    ports.log.info({ node: configuration.nodeName, source: parts.source.kind, health: health.url }, LOG.started);
    const { clock, log } = ports;
    const follow = (
      name: string,
      pace: Pick<Repetition, 'periodMs' | 'deadlineMs'>,
      task: Repetition['task'],
    ): Promise<void> => repeat({ ...pace, task, ...reportRounds(log, LOG.unexpected, name), clock }, signal);
    running = Promise.all([
      parts.pods.run(signal),
      parts.ownNode.run(signal),
      parts.policies.run(signal),
      parts.nodePressure.run(signal),
      parts.source.run(signal),
      follow('namespaces', EVERY_SECOND, (aborted) => refreshNamespaces(parts, aborted)),
      follow('status', EVERY_SECOND, publish),
      follow('throttle', EVERY_SECOND, throttle.turn),
      follow('probe', EVERY_SECOND, (aborted) => probeApiServer(parts, writer, aborted)),
      follow('cross-check', EVERY_TEN_SECONDS, parts.crossCheck.check),
      follow('inventory', EVERY_TEN_MINUTES, takeInventory),
      runPasses(
        { passRunner, metrics: parts.agentMetrics, passed, ...reportRounds(ports.log, LOG.unexpected), clock },
        signal,
      ),
    ]);
    return health;
  }

  async function stop(): Promise<void> {
    await passRunner.settled();
    await running;
    await throttle.release();
    await parts.recorder.flush();
    await health?.close();
    parts.source.close();
    parts.client.close();
  }
  return { start, stop };
}

function refreshNamespaces({ namespaces, pods }: AgentParts, signal: AbortSignal): Promise<void> {
  const names = new Set<string>();
  for (const { facts } of pods.alive()) names.add(facts.pod.namespace);
  return namespaces.refresh(names, signal);
}

function probeApiServer(parts: AgentParts, writer: StatusWriter, signal: AbortSignal): Promise<void> {
  const { contact, client, pods } = parts;
  return contact.probe(client, { watchedMs: pods.lastContactMs(), isReliedOn: writer.lends() }, signal);
}

function wireReporter({ configuration, ports, parts }: Wiring, log: AgentLog): Reporter {
  return createReporter({
    recorder: parts.recorder,
    log,
    metrics: parts.agentMetrics,
    node: () => ({ name: configuration.nodeName, uid: nodeIn(parts)?.uid }),
    containers: parts.source.containers,
    clock: ports.clock,
  });
}

/** Connects the passes with everything that they read and write. */
function wirePasses({ configuration, ports: { clock }, parts }: Wiring, reporter: Reporter): PassRunner {
  const { client, pods } = parts;
  const startedAtMs = clock.monotonic();
  const closedGates = () =>
    readinessGates({
      nowMs: clock.monotonic(),
      startedAtMs,
      warmUpMs: configuration.warmUpMs,
      arePodsSynced: pods.isSynced(),
      arePoliciesRead: parts.policies.areRead(),
      isHistoryKnown: parts.nodePressure.isSynced(),
      lastContactMs: parts.contact.lastMs(pods.lastContactMs()),
    });
  return createPassRunner({
    source: parts.source,
    pods,
    namespaces: parts.namespaces.known,
    policy: parts.policies.inForce,
    avoided: () => avoidedOwners(parts, clock),
    history: parts.previousStatus,
    restored: reporter.restoreRecords,
    doubts: parts.crossCheck.doubts,
    doubtfulPods: parts.crossCheck.doubtfulPods,
    isKubeletSilent: () => nodeIn(parts)?.isKubeletSilent ?? false,
    isKubeletReady: () => nodeIn(parts)?.isKubeletReady ?? false,
    hasMemoryPressure: () => nodeIn(parts)?.hasMemoryPressure ?? false,
    closedGates,
    readFresh: readFresh(client, clock),
    attempt: { Enforce: enforceEviction(client), DryRun: dryRunEviction(client) },
    readAgain: (eviction, signal) => readAgain(client, eviction, clock, signal),
    requested: reporter.requested,
    answered: reporter.answered,
    clock,
    periods: configuration.period,
  });
}

const NO_OWNERS: ReadonlySet<string> = new Set();

/** Owners whose avoid entries in this node's NodePressure have not expired. */
function avoidedOwners({ nodePressure }: AgentParts, clock: Pick<Clock, 'now'>): ReadonlySet<string> {
  const [pressure] = nodePressure.values();
  if (pressure === undefined || pressure.avoid.length === 0) return NO_OWNERS;
  return new Set(lastingEntries(pressure, clock.now()).map(({ owner }) => ownerText(owner)));
}

/** Connects the publisher of gauges and status with its inputs. */
function wirePublisher(
  { configuration, ports, parts }: Wiring,
  {
    reporter,
    spare,
    throttle,
  }: { readonly reporter: Reporter; readonly spare: SpareMeter; readonly throttle: Throttle },
  lastResult: () => PassResult | undefined,
): { readonly writer: StatusWriter; readonly publish: ReturnType<typeof createPublisher> } {
  const { nodeName } = configuration;
  const writer = createStatusWriter({
    target: { client: parts.client, nodeName, nodeUid: () => nodeIn(parts)?.uid, isSpareUnwanted: spare.isUnwanted },
    periodMs: configuration.period.statusMs,
    clock: ports.clock,
    random: Math.random,
    log: ports.log,
  });
  const publish = createPublisher({
    writer,
    agent: { version: buildInfo('agent').version, pod: ports.env['POD_NAME'] ?? '' },
    lastResult,
    records: reporter.records,
    previousStatus: parts.previousStatus,
    doubts: () => ({ sources: doubtsOfSources(parts), policies: parts.policies.seen() }),
    sources: () => shownSources(parts),
    spare: spare.status,
    throttled: throttle.status,
    metrics: parts.agentMetrics,
    clock: ports.clock,
  });
  return { writer, publish };
}

function wireSpare({ ports: { clock }, parts }: Wiring): SpareMeter {
  return createSpareMeter({
    allocatable: () => nodeIn(parts)?.allocatable,
    arePodsKnown: parts.pods.isSynced,
    isPolicyKnown: () => parts.policies.areRead() && parts.ownNode.isSynced(),
    previousStatus: parts.previousStatus,
    clock,
  });
}

/** With the summary source the node may be another machine than this one, so no inventory is taken. */
function wireInventory({ ports: { log }, parts: { metrics, source } }: Wiring): () => Promise<void> {
  const show = createInventoryMetrics(metrics, log);
  return async () => {
    if (source.kind === 'kernel') show(await askInventory());
  };
}

function wireThrottle(
  { configuration, ports, parts }: Wiring,
  given: Pick<ThrottlePorts, 'lastResult' | 'written'>,
): Throttle {
  // As the API server has it now: the first read may be older than the last write of an agent that was killed.
  const previousStatus: ThrottlePorts['previousStatus'] = () =>
    parts.nodePressure.isSynced() ? ([...parts.nodePressure.values()][0]?.status ?? NO_PREVIOUS_STATUS) : undefined;
  return createThrottle({ ...ports, ...parts, ...given, previousStatus, nodeName: configuration.nodeName });
}

/** A contradiction comes first because it stops evictions; the fallback to the kubelet does not. */
function doubtsOfSources({ crossCheck, source }: AgentParts): Because | undefined {
  const disagreement = crossCheck.disagreement();
  return disagreement?.code === 'SourcesDisagree' ? disagreement : (source.fallback() ?? disagreement);
}

function shownSources({ crossCheck, source }: AgentParts): SourcesShown {
  return {
    health: source.health(),
    verdicts: crossCheck.verdicts(),
    hasFallenBack: source.fallback() !== undefined,
    groups: source.groups(),
  };
}

/** The Node object; `undefined` while it is unknown. */
function nodeIn({ ownNode }: Pick<AgentParts, 'ownNode'>): OwnNode | undefined {
  const [node] = ownNode.values();
  return node;
}

function podStatisticsProblem(result: PassResult | undefined): string | undefined {
  return result && noStatistics(result.decision.state.unmeasuredSince, result.snapshot)?.text;
}

function listen(
  { configuration, ports, parts }: Wiring,
  writer: StatusWriter,
  lastResult: () => PassResult | undefined,
): Promise<Server> {
  const { pods, metrics, contact } = parts;
  const reporting = () => ({
    lends: writer.lends(),
    overdueSinceMs: writer.overdueSinceMs(),
    lastContactMs: contact.lastMs(pods.lastContactMs()),
  });
  const checks = [
    { name: 'pods', problem: () => (pods.isSynced() ? undefined : 'the pods of this node have not been read yet') },
    {
      name: 'memory',
      problem: () => (lastResult()?.snapshot.readings.memory ? undefined : 'no source provides the memory signal'),
    },
    { name: 'pod-statistics', problem: () => podStatisticsProblem(lastResult()) },
    { name: 'lending', problem: () => lendingProblem(reporting(), ports.clock.monotonic()) },
  ];
  const handler = healthListener({ checks, metrics, configuration }, ports.log);
  return serve({ handler, ...configuration.health, maxConnections: HEALTH_CONNECTIONS });
}
