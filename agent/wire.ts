import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { connect, createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { createEventRecorder, type EventRecorder } from '#shared/kube/events/event-recorder.ts';
import type { Reflector } from '#shared/kube/reflector/reflector.ts';
import { REPORTING_CONTROLLERS } from '#shared/kube/api-names.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { createMetrics, type Metrics } from '#shared/runtime/metrics.ts';
import { createAgentMetrics, type AgentMetrics } from './report/agent-metrics.ts';
import type { OwnReading } from './cross-check/compare-opinion.ts';
import type { AgentConfiguration } from './configuration.ts';
import { createCrossCheck, type CrossCheck } from './cross-check/cross-check.ts';
import { createNamespaceLabels, type NamespaceLabels } from './observe/api-server/namespace-labels.ts';
import { createNodePods, type NodePods } from './observe/api-server/node-pods.ts';
import type { NodeSource } from './observe/node/node-source.ts';
import { kernelMatcher } from './observe/node/kernel-node.ts';
import { kubeletAddress, openSource, wirePeers } from './wire-source.ts';
import {
  createNodePressureReflector,
  NO_PREVIOUS_STATUS,
  type NodePressureObject,
  type PreviousStatus,
} from './observe/api-server/node-pressure-object.ts';
import { createOwnNode, type OwnNode, createPolicies, type Policies } from './observe/api-server/policies.ts';
import type { PassResult } from './decide/decide.ts';
import { createPodHistory, type PodHistory, createRecentRange } from './cross-check/pod-history.ts';
import { isSilent } from './decide/readiness-gates.ts';

export interface AgentPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The agent's parts: everything that reads or writes, opened but not yet running. */
export interface AgentParts {
  readonly metrics: Metrics;
  readonly agentMetrics: AgentMetrics;
  readonly client: KubeClient;
  readonly contact: ApiContact;
  readonly source: NodeSource;
  readonly pods: NodePods;
  readonly ownNode: Reflector<OwnNode>;
  readonly policies: Policies;
  readonly namespaces: NamespaceLabels;
  readonly crossCheck: CrossCheck;
  readonly recorder: EventRecorder;
  readonly nodePressure: Reflector<NodePressureObject>;
  /** The status of this node's NodePressure as it was first read; `undefined` until then. */
  readonly previousStatus: () => PreviousStatus | undefined;
  /** Keeps the figures of a pass for later comparison. */
  readonly noteFigures: (result: PassResult) => void;
}

/** Everything that the wiring functions need. */
export interface Wiring {
  readonly configuration: AgentConfiguration;
  readonly ports: AgentPorts;
  readonly parts: AgentParts;
}

/** UID of the Node object; `undefined` while it is unknown. */
export function nodeUid({ ownNode }: Pick<AgentParts, 'ownNode'>): string | undefined {
  return [...ownNode.values()][0]?.uid;
}

/** The kubelet's node figures are up to 16 s old when the agent reads them. */
const SUMMARY_AGE_MS = 20_000;

/** Opens all parts. Throws when no source of node figures is usable or the API server is not configured. */
export async function openParts(configuration: AgentConfiguration, ports: AgentPorts): Promise<AgentParts> {
  const { clock, log, env } = ports;
  const metrics = createMetrics('agent');
  const connection = await connect(configuration.kubeconfig, env);
  const urgentNeed = createUrgentNeed();
  const isUrgent = (): boolean => urgentNeed.isMet(clock.monotonic());
  const contact = createApiContact(clock, isUrgent);
  const client = createClient(connection, {
    userAgent: 'plimsoll-agent',
    clock,
    metrics,
    log,
    onAnswer: contact.answered,
  });
  const kubelet = kubeletAddress(configuration, connection, ports);
  const watching = { client, clock, log, metrics, random: Math.random };
  const ownNode = createOwnNode(configuration.nodeName, watching);
  const isNodesKernel = kernelMatcher(configuration.path.procfs, () => [...ownNode.values()][0]?.bootId);
  const source = openSource(configuration, { kubelet, isNodesKernel, clock });
  const memory = rememberSignal(clock);
  const history = createPodHistory();
  const peers = wirePeers(configuration, {
    kubelet,
    isNodesKernel,
    signal: memory.reading,
    pods: () => source.usage('memory', clock.monotonic()),
    history,
    clock,
  });
  const nodePressure = createNodePressureReflector(configuration.nodeName, watching);
  return {
    metrics,
    agentMetrics: createAgentMetrics(metrics),
    client,
    contact,
    source,
    pods: createNodePods(configuration.nodeName, { ...watching, isUrgent }),
    ownNode,
    policies: createPolicies(configuration.mode, ownNode, watching),
    namespaces: createNamespaceLabels(client, clock),
    crossCheck: createCrossCheck(peers),
    nodePressure,
    previousStatus: statusAtStart(nodePressure),
    recorder: openRecorder(configuration.nodeName, { client, clock, log, metrics }),
    noteFigures: noteFigures([memory.note, urgentNeed.note], history),
  };
}

function openRecorder(
  instance: string,
  given: { readonly client: KubeClient; readonly clock: Clock; readonly log: Log; readonly metrics: Metrics },
): EventRecorder {
  return createEventRecorder({ ...given, component: REPORTING_CONTROLLERS.agent, instance });
}

function statusAtStart(nodePressure: Reflector<NodePressureObject>): () => PreviousStatus | undefined {
  let first: PreviousStatus | undefined;
  return () => {
    if (first === undefined && nodePressure.isSynced())
      first = [...nodePressure.values()][0]?.status ?? NO_PREVIOUS_STATUS;
    return first;
  };
}

/** Pods are measured less often than the node: the same measurement is recorded once. */
function noteFigures(others: readonly ((result: PassResult) => void)[], history: PodHistory) {
  let noted: UsageByUid | undefined;
  return (result: PassResult): void => {
    const { usage, now } = result.snapshot;
    for (const note of others) note(result);
    if (usage !== noted) history.note(usage, now);
    noted = usage;
  };
}

function rememberSignal(clock: Pick<Clock, 'monotonic'>) {
  const range = createRecentRange(SUMMARY_AGE_MS);
  let totalBytes: number | undefined;

  function note({ snapshot }: PassResult): void {
    const { availableBytes, workingSetBytes } = snapshot.readings.memory ?? {};
    if (availableBytes === undefined || workingSetBytes === undefined) return;
    totalBytes = availableBytes + workingSetBytes;
    range.note(availableBytes, snapshot.now);
  }

  function reading(): OwnReading | undefined {
    const recent = range.range(clock.monotonic());
    if (totalBytes === undefined || recent === undefined) return undefined;
    return { totalBytes, lowBytes: recent.low, highBytes: recent.high };
  }
  return { note, reading };
}

/** Whether a hard threshold in Enforce mode was met recently, so that an up-to-date copy of the node's pods matters. */
export interface UrgentNeed {
  readonly note: (result: PassResult) => void;
  readonly isMet: (now: number) => boolean;
}

/** During a shortage, measurements may show brief relief, or be missing. */
const MOMENT_MS = 10_000;

/** Not met before the first pass; times are monotonic milliseconds. */
function createUrgentNeed(): UrgentNeed {
  let metAtMs = -Infinity;
  function note({ decision, snapshot }: PassResult): void {
    const { trigger } = decision.assessment;
    if (trigger?.mode === 'Enforce' && trigger.stage === 'severe') metAtMs = snapshot.now;
  }
  return { note, isMet: (now) => now - metAtMs <= MOMENT_MS };
}

/** When the API server last answered any request of this process. Times are monotonic milliseconds. */
interface ApiContact {
  /** Called with every answer, such as the start of a watch. */
  readonly answered: () => void;
  /** The later of an answer and `watchedMs`, when a watch last received something; `undefined` before the first. */
  readonly lastMs: (watchedMs: number | undefined) => number | undefined;
  /** After a long silence, and while an answer is urgent, sends any request; never rejects. */
  readonly probe: (client: KubeClient, watchedMs: number | undefined, signal: AbortSignal) => Promise<void>;
}

/** Every account may read it, and it costs the API server almost nothing. */
const PROBED_PATH = '/version';
/** A connection that an outage left half open must not hold the next probe. */
const PROBE_TIMEOUT_MS = 900;

/** An idle watch may receive nothing for minutes, whatever its bookmark interval; an answer ends an outage at once. */
function createApiContact(clock: Pick<Clock, 'monotonic'>, isUrgent: () => boolean): ApiContact {
  let answeredMs: number | undefined;

  function lastMs(watchedMs: number | undefined): number | undefined {
    const known = [answeredMs, watchedMs].filter((each) => each !== undefined);
    return known.length === 0 ? undefined : Math.max(...known);
  }

  async function probe(client: KubeClient, watchedMs: number | undefined, signal: AbortSignal): Promise<void> {
    if (!isUrgent() || !isSilent(clock.monotonic(), lastMs(watchedMs))) return;
    await client.request({ path: PROBED_PATH, timeoutMs: PROBE_TIMEOUT_MS, signal });
  }

  return { answered: () => void (answeredMs = clock.monotonic()), lastMs, probe };
}
