import { lastingEntries } from '#shared/domain/avoidance/avoid-nodes.ts';
import { ownerText } from '#shared/domain/pod/pod-owner.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { buildInfo } from '#shared/runtime/build-info.ts';
import { enforceEviction, dryRunEviction, readAgain, readFresh } from './attempts.ts';
import type { Reporter } from './report/reporter.ts';
import { type AgentParts, type Wiring, nodeUid } from './wire.ts';
import { createPassRunner, type PassRunner } from './pass.ts';
import { readinessGates } from './decide/readiness-gates.ts';
import { createStatusWriter, createPublisher } from './report/status-writer.ts';
import type { PassResult } from './decide/decide.ts';
import type { SourcesShown } from './report/source-metrics.ts';

/** Connects the passes with everything that they read and write. */
export function wirePasses({ configuration, ports: { clock }, parts }: Wiring, reporter: Reporter): PassRunner {
  const { client, pods } = parts;
  const startedAtMs = clock.monotonic();
  const closedGates = () =>
    readinessGates({
      nowMs: clock.monotonic(),
      startedAtMs,
      warmUpMs: configuration.warmUpMs,
      arePodsSynced: pods.isSynced(),
      arePoliciesRead: parts.policies.areRead(),
      isHistoryKnown: parts.previousStatus() !== undefined,
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
    isKubeletSilent: () => [...parts.ownNode.values()][0]?.isKubeletSilent ?? false,
    isKubeletReady: () => [...parts.ownNode.values()][0]?.isKubeletReady ?? false,
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
export function wirePublisher(
  { configuration, ports, parts }: Wiring,
  reporter: Reporter,
  lastResult: () => PassResult | undefined,
): (signal: AbortSignal) => Promise<void> {
  const { nodeName } = configuration;
  const writer = createStatusWriter({
    target: { client: parts.client, nodeName, nodeUid: () => nodeUid(parts) },
    periodMs: configuration.period.statusMs,
    clock: ports.clock,
    random: Math.random,
    log: ports.log,
  });
  return createPublisher({
    writer,
    agent: { version: buildInfo('agent').version, pod: ports.env['POD_NAME'] ?? '' },
    lastResult,
    records: reporter.records,
    previousStatus: parts.previousStatus,
    doubts: () => ({ sources: doubtsOfSources(parts), policies: parts.policies.seen() }),
    sources: () => shownSources(parts),
    metrics: parts.agentMetrics,
    clock: ports.clock,
  });
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
