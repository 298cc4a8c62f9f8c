import { computePodsAs } from '#shared/kube/decode/pod-arithmetic.ts';
import { connect, createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { createEventRecorder, type EventRecorder } from '#shared/kube/events/event-recorder.ts';
import type { Reflector } from '#shared/kube/reflector/reflector.ts';
import { REPORTING_CONTROLLERS } from '#shared/kube/api-names.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { createMetrics, type Metrics } from '#shared/runtime/metrics.ts';
import { createAgentMetrics, type AgentMetrics } from './report/agent-metrics.ts';
import type { AgentConfiguration } from './configuration.ts';
import { createCrossCheck, type CrossCheck } from './cross-check/cross-check.ts';
import {
  type ApiContact,
  createApiContact,
  createNamespaceLabels,
  type NamespaceLabels,
} from './observe/api-server/polled.ts';
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
import { createOwnFigures, type OwnFigures } from './cross-check/own-figures.ts';

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
  readonly figures: OwnFigures;
}

/** Everything that the wiring functions need. */
export interface Wiring {
  readonly configuration: AgentConfiguration;
  readonly ports: AgentPorts;
  readonly parts: AgentParts;
}

/** Opens all parts. Throws when no source of node figures is usable or the API server is not configured. */
export async function openParts(configuration: AgentConfiguration, ports: AgentPorts): Promise<AgentParts> {
  const { clock, log, env } = ports;
  const metrics = createMetrics('agent');
  const connection = await connect(configuration.kubeconfig, env);
  const contact = createApiContact(clock);
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
  ownNode.onChange(() => computePodsAs([...ownNode.values()][0]?.kubeletVersion ?? ''));
  const isNodesKernel = kernelMatcher(configuration.path.procfs, () => [...ownNode.values()][0]?.bootId);
  const source = openSource(configuration, { kubelet, isNodesKernel, clock });
  const figures = createOwnFigures(clock);
  const pods = () => source.usage('memory', clock.monotonic());
  const peers = wirePeers(configuration, { kubelet, isNodesKernel, figures, pods, clock });
  const nodePressure = createNodePressureReflector(configuration.nodeName, watching);
  return {
    metrics,
    agentMetrics: createAgentMetrics(metrics),
    client,
    contact,
    source,
    pods: createNodePods(configuration.nodeName, { ...watching, isUrgent: contact.isUrgent }),
    ownNode,
    policies: createPolicies(configuration.mode, ownNode, watching),
    namespaces: createNamespaceLabels(client, clock),
    crossCheck: createCrossCheck(peers),
    nodePressure,
    previousStatus: statusAtStart(nodePressure),
    recorder: openRecorder(configuration.nodeName, { client, clock, log, metrics }),
    figures,
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
