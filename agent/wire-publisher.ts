import type { Because } from '#shared/domain/model/because.ts';
import { buildInfo } from '#shared/runtime/build-info.ts';
import { createPublisher } from './report/publisher.ts';
import { createStatusWriter } from './report/status-writer.ts';
import type { Reporter } from './report/reporter.ts';
import { type AgentParts, type Wiring, nodeUid } from './wire.ts';
import type { PassResult } from './decide/pass-result.ts';
import type { SourcesShown } from './report/source-metrics.ts';

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
