import type { Because } from '#shared/domain/model/because.ts';
import { healthListener } from '#shared/http/health-listener.ts';
import { type Server, serve } from '#shared/http/serve.ts';
import { buildInfo } from '#shared/runtime/build-info.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import { enforceEviction, pretendEviction, readAgain } from './act/attempt-eviction.ts';
import { createPublisher } from './act/publisher.ts';
import { readFresh } from './act/read-fresh.ts';
import { createReporter, type Reporter } from './act/reporter.ts';
import { type AgentLog, createAgentLog } from './tell/agent-log.ts';
import { type AgentParts, type AgentPorts, openParts } from './agent-parts.ts';
import type { AgentConfiguration } from './configuration.ts';
import { createCycle, type Cycle } from './cycle.ts';
import { ownHolds } from './decide/own-holds.ts';
import type { SourcesShown } from './tell/agent-metrics.ts';
import { runPasses } from './pass-loop.ts';
import type { Picture } from './picture.ts';

export interface Agent {
  /** Listens and starts every loop; resolves once health answers. */
  readonly start: (signal: AbortSignal) => Promise<Pick<Server, 'url'>>;
  /** Waits for what is under way, then gives everything back; call it once the signal has aborted. */
  readonly stop: () => Promise<void>;
}

interface Assembly {
  readonly configuration: AgentConfiguration;
  readonly ports: AgentPorts;
  readonly parts: AgentParts;
}

const EVERY_SECOND = { periodMs: 1000, deadlineMs: 6000 };
const EVERY_TEN_SECONDS = { periodMs: 10_000, deadlineMs: 10_000 };

/** Puts the agent together; nothing runs before `start`. */
export async function createAgent(configuration: AgentConfiguration, ports: AgentPorts): Promise<Agent> {
  const parts = await openParts(configuration, ports);
  const assembly: Assembly = { configuration, ports, parts };
  const agentLog = createAgentLog(ports.log);
  const reporter = assembleReporter(assembly, agentLog);
  const cycle = assembleCycle(assembly, reporter);
  let picture: Picture | undefined;
  const publish = assemblePublisher(assembly, reporter, () => picture);
  let running: Promise<unknown> = Promise.resolve();
  let health: Server | undefined;

  function passed(latest: Picture): void {
    picture = latest;
    parts.noteSignal(latest);
    reporter.passed(latest);
    agentLog.showFallback(parts.source.fallback());
  }

  async function start(signal: AbortSignal): Promise<Server> {
    health = await listen(assembly, () => picture);
    ports.log.info({ node: configuration.nodeName, source: parts.source.kind, health: health.url }, 'Agent started');
    running = Promise.all([
      parts.pods.run(signal),
      parts.ownNode.run(signal),
      parts.policies.run(signal),
      parts.ownPressure.run(signal),
      parts.source.run(signal),
      keepDoing(assembly, EVERY_SECOND, (aborted) => refreshNamespaces(parts, aborted), signal),
      keepDoing(assembly, EVERY_SECOND, publish, signal),
      keepDoing(assembly, EVERY_TEN_SECONDS, parts.crossCheck.check, signal),
      runPasses({ cycle, metrics: parts.agentMetrics, passed, onError: goesOn(ports), clock: ports.clock }, signal),
    ]);
    return health;
  }

  async function stop(): Promise<void> {
    await cycle.settled();
    await parts.recorder.flush();
    await running;
    await health?.close();
    parts.source.close();
    parts.client.close();
  }
  return { start, stop };
}

function goesOn({ log }: AgentPorts): (error: unknown) => void {
  return (error) => log.error({ err: error }, 'Agent goes on after an error');
}

function keepDoing(
  { ports }: Assembly,
  pace: { readonly periodMs: number; readonly deadlineMs: number },
  task: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  return repeat({ ...pace, task, onError: goesOn(ports), clock: ports.clock }, signal);
}

function refreshNamespaces({ namespaces, pods }: AgentParts, signal: AbortSignal): Promise<void> {
  return namespaces.refresh(new Set([...pods.values()].map(({ facts }) => facts.pod.namespace)), signal);
}

function nodeUid({ ownNode }: AgentParts): string | undefined {
  return [...ownNode.values()][0]?.uid;
}

function assembleReporter({ configuration, ports, parts }: Assembly, log: AgentLog): Reporter {
  return createReporter({
    recorder: parts.recorder,
    log,
    metrics: parts.agentMetrics,
    node: () => ({ name: configuration.nodeName, uid: nodeUid(parts) }),
    containers: parts.source.containers,
    clock: ports.clock,
  });
}

function assembleCycle({ configuration, ports: { clock }, parts }: Assembly, reporter: Reporter): Cycle {
  const { client, pods } = parts;
  const startedAtMs = clock.monotonic();
  const holds = () =>
    ownHolds({
      nowMs: clock.monotonic(),
      startedAtMs,
      warmUpMs: configuration.warmUpMs,
      arePodsSynced: pods.isSynced(),
      isHistoryKnown: parts.told() !== undefined,
      lastContactMs: pods.lastContactMs(),
    });
  return createCycle({
    source: parts.source,
    pods,
    namespaces: parts.namespaces.known,
    policy: parts.policies.inForce,
    avoided: () => avoidedOwners(parts, clock),
    history: () => parts.told()?.evictions,
    recalled: reporter.recall,
    doubts: parts.crossCheck.doubts,
    holds,
    readFresh: readFresh(client),
    attempt: { Enforce: enforceEviction(client), DryRun: pretendEviction() },
    readAgain: (eviction, signal) => readAgain(client, eviction, clock, signal),
    requested: reporter.requested,
    answered: reporter.answered,
    clock,
    periods: configuration.period,
  });
}

function assemblePublisher(
  { configuration, ports, parts }: Assembly,
  reporter: Reporter,
  picture: () => Picture | undefined,
): (signal: AbortSignal) => Promise<void> {
  const { nodeName } = configuration;
  return createPublisher({
    target: { client: parts.client, nodeName, nodeUid: () => nodeUid(parts) },
    agent: { version: buildInfo('agent').version, pod: ports.env['POD_NAME'] ?? '' },
    picture,
    records: reporter.records,
    told: parts.told,
    doubts: () => ({ sources: doubtsOfSources(parts), policies: parts.policies.unreadable() }),
    sources: () => shownSources(parts),
    metrics: parts.agentMetrics,
    clock: ports.clock,
    log: ports.log,
  });
}

/** Contradiction first: it stops evictions; that the kubelet stands in does not. */
function doubtsOfSources({ crossCheck, source }: AgentParts): Because | undefined {
  const disagreement = crossCheck.disagreement();
  return disagreement?.code === 'SourcesDisagree' ? disagreement : (source.fallback() ?? disagreement);
}

function shownSources({ crossCheck, source }: AgentParts): SourcesShown {
  return { health: source.health(), verdicts: crossCheck.verdicts(), hasFallenBack: source.fallback() !== undefined };
}

const NO_OWNERS: ReadonlySet<string> = new Set();

/** Owners whose entries in our NodePressure's spec still hold. */
function avoidedOwners({ ownPressure }: AgentParts, clock: Pick<Clock, 'now'>): ReadonlySet<string> {
  const [pressure] = ownPressure.values();
  if (pressure === undefined || pressure.avoid.length === 0) return NO_OWNERS;
  return new Set(pressure.avoid.filter(({ until }) => until > clock.now()).map(({ owner }) => owner));
}

function listen({ configuration, ports, parts }: Assembly, picture: () => Picture | undefined): Promise<Server> {
  const { pods, metrics } = parts;
  const checks = [
    { name: 'pods', problem: () => (pods.isSynced() ? undefined : 'the pods of this node have not been read yet') },
    {
      name: 'memory',
      problem: () => (picture()?.look.readings.memory ? undefined : 'no source gives the memory signal'),
    },
  ];
  return serve({ handler: healthListener({ checks, metrics, configuration }, ports.log), ...configuration.health });
}
