import { healthListener } from '#shared/http/health-listener.ts';
import { type Server, serve } from '#shared/http/serve.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import { createReporter, type Reporter } from './report/reporter.ts';
import { type AgentParts, type AgentPorts, type Assembly, nodeUid, openParts } from './wire.ts';
import { assembleCycle } from './wire-pass.ts';
import { assemblePublisher } from './wire-publisher.ts';
import type { AgentConfiguration } from './configuration.ts';
import { noStatistics } from './decide/snapshot/unmeasured-pods.ts';
import { askInventory } from './observe/node/inventory.ts';
import { runPasses } from './pass-loop.ts';
import type { Picture } from './decide/pass-result.ts';
import { type AgentLog, createAgentLog } from './report/agent-log.ts';
import { createShowInventory } from './report/inventory-metrics.ts';

export interface Agent {
  /** Listens and starts every loop; resolves once health answers. */
  readonly start: (signal: AbortSignal) => Promise<Pick<Server, 'url'>>;
  /** Waits for what is under way, then gives everything back; call it once the signal has aborted. */
  readonly stop: () => Promise<void>;
}

const EVERY_SECOND = { periodMs: 1000, deadlineMs: 6000 };
const EVERY_TEN_SECONDS = { periodMs: 10_000, deadlineMs: 10_000 };
const EVERY_TEN_MINUTES = { periodMs: 600_000, deadlineMs: 10_000 };

/** Puts the agent together; nothing runs before `start`. */
export async function createAgent(configuration: AgentConfiguration, ports: AgentPorts): Promise<Agent> {
  const parts = await openParts(configuration, ports);
  const assembly: Assembly = { configuration, ports, parts };
  const agentLog = createAgentLog(ports.log);
  const showInventory = createShowInventory(parts.metrics, ports.log);
  const reporter = assembleReporter(assembly, agentLog);
  const cycle = assembleCycle(assembly, reporter);
  let picture: Picture | undefined;
  const publish = assemblePublisher(assembly, reporter, () => picture);
  let running: Promise<unknown> = Promise.resolve();
  let health: Server | undefined;

  function passed(latest: Picture): void {
    picture = latest;
    parts.noteFigures(latest);
    reporter.passed(latest);
    agentLog.showFallback(parts.source.fallback());
  }

  /** A summary may be of another machine than the one that is asked here. */
  async function takeInventory(): Promise<void> {
    if (parts.source.kind === 'kernel') showInventory(await askInventory());
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
      keepDoing(assembly, EVERY_TEN_MINUTES, takeInventory, signal),
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
  const names = new Set<string>();
  for (const { facts } of pods.alive()) names.add(facts.pod.namespace);
  return namespaces.refresh(names, signal);
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

function podStatisticsProblem(picture: Picture | undefined): string | undefined {
  return picture && noStatistics(picture.decision.state.unmeasuredSince, picture.look)?.text;
}

function listen({ configuration, ports, parts }: Assembly, picture: () => Picture | undefined): Promise<Server> {
  const { pods, metrics } = parts;
  const checks = [
    { name: 'pods', problem: () => (pods.isSynced() ? undefined : 'the pods of this node have not been read yet') },
    {
      name: 'memory',
      problem: () => (picture()?.look.readings.memory ? undefined : 'no source gives the memory signal'),
    },
    { name: 'pod-statistics', problem: () => podStatisticsProblem(picture()) },
  ];
  return serve({ handler: healthListener({ checks, metrics, configuration }, ports.log), ...configuration.health });
}
