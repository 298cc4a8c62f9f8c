import type { DashboardSources } from '#dashboard/sources.ts';
import { NO_HISTORY, withReading } from '#dashboard/views/history.ts';
import { nodeView } from '#dashboard/views/node-view.ts';
import { classView, priorityQuotaView, policyView } from '#dashboard/views/priorities.ts';
import { preemptionsOf, recordView } from '#dashboard/views/preemptions.ts';
import { queueEntry, queueTree } from '#dashboard/views/queues.ts';
import { generatedPolicies } from './generated-policies.ts';
import { generatedRead } from './generated-node.ts';
import { generatedQueues } from './generated-queues.ts';
import { generatedPods } from './generated-pods.ts';
import { generatedSpare } from './generated-spare.ts';
import { generatedRecords } from './generated-records.ts';
import { eventEntry, recordedRemovals, timelineOf } from '#dashboard/views/timeline.ts';
import type { NodeView } from '#dashboard/views/view.ts';
import { decodeNodePressure, type NodePressure } from '#shared/api/node-pressure.ts';
import { CONDITIONS } from '#agent/messages.ts';

const FACTS = { signal: 'memory.available' };
const BECAUSE = { code: 'ExceedsRequests', text: 'uses 300Mi more than it requests', facts: FACTS };
const SECOND = 1_000;
const PODS_IN_LINE = 10;

export interface GeneratedCluster {
  readonly sources: DashboardSources;
  /** Changes the memory of every `step`-th node, as if its agent had written. */
  readonly change: (now: number, step: number) => void;
}

/** A cluster of that many nodes in all states; the same numbers give the same cluster. */
export function generateCluster(count: number, now: number): GeneratedCluster {
  let nodes = Array.from({ length: count }, (_, index) => generatedNode(index, now, 0));
  let timeline = timelineOf({ nodes, events: events(now), recorded: recordedRemovals([]) });
  const classes = CLASSES.map(classView);
  const quotas = [priorityQuotaView(QUOTA)];
  const queues = queueTree(generatedQueues(now).map(queueEntry));
  const preemptions = preemptionsOf(generatedRecords(now).flatMap((record) => recordView(record) ?? []));
  const pressures = Array.from({ length: count }, (_, index) => generatedPressure(index, now, 0));
  const nodePolicies = generatedPolicies(pressures, now);
  const policies = [policyView(POLICY)].filter((policy) => policy !== undefined);
  const byNode = Map.groupBy(timeline, ({ node }) => node);
  const listeners = new Set<() => void>();
  return {
    sources: {
      nodes: () => nodes,
      history: () => history(now),
      timeline: () => timeline,
      classes: () => classes,
      quotas: () => quotas,
      nodeTimeline: (name) => byNode.get(name) ?? [],
      queues: () => queues,
      preemptions: () => preemptions,
      policies: () => policies,
      nodePolicies: () => nodePolicies,
      readNode: (name) =>
        Promise.resolve(
          generatedRead(
            pressures.find((each) => each.name === name),
            CLASSES,
          ),
        ),
      ...generatedPods(now),
      onChange: (listener) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    change(at, step) {
      nodes = nodes.map((node, index) => (index % step === 0 ? generatedNode(index, at, 1 + (at % 97)) : node));
      timeline = timelineOf({ nodes, events: events(now), recorded: recordedRemovals([]) });
      for (const listener of listeners) listener();
    },
  };
}

const STATES = ['Far', 'Far', 'Far', 'Near', 'Far', 'Far', 'Soft', 'Far', 'Far', 'Hard'];

function generatedNode(index: number, now: number, shift: number): NodeView {
  return nodeView(generatedPressure(index, now, shift), now) as NodeView;
}

function generatedPressure(index: number, now: number, shift: number): NodePressure {
  const state = index < 30 ? STATES[index % STATES.length] : 'Far';
  const availableMi = { Far: 9_000, Near: 700, Soft: 400, Hard: 150 }[state ?? ''] ?? 0;
  const name = `node-${String(index).padStart(3, '0')}`;
  const time = new Date(index % 50 === 49 ? now - 600 * SECOND : now).toISOString();
  const object = {
    metadata: { name },
    status: {
      observedAt: time,
      mode: index % 2 === 0 ? 'Enforce' : 'DryRun',
      policy: index % 3 === 0 ? 'batch' : 'default',
      agent: { version: '0.1.0', pod: 'plimsoll-node/agent' },
      conditions: [
        { type: 'Memory', status: state === 'Hard' ? 'True' : 'False', reason: 'Pressure', message: 'memory is short' },
        { type: 'PoliciesRead', status: 'True', reason: 'AllRead', message: CONDITIONS.policiesRead(1) },
        { type: 'SourcesAgree', status: index === 3 ? 'False' : 'True', reason: 'Gap', message: 'the kubelet differs' },
      ],
      signals: [
        {
          name: 'memory.available',
          state,
          available: `${availableMi + shift}Mi`,
          capacity: '16Gi',
          threshold: '500Mi',
        },
        { name: 'cpu.available', state: 'Soft', available: '200m', capacity: '8' },
        { name: 'nodefs.available', state: 'Far', available: '60Gi', capacity: '100Gi', threshold: '10Gi' },
        { name: 'pid.available', state: 'Far', available: '31k', capacity: '32k' },
      ],
      next: Array.from({ length: PODS_IN_LINE }, (_, place) => ({
        pod: `team-${place % 3}/worker-${index}-${place}`,
        uid: `uid-${index}-${place}`,
        priority: place * 100,
        usage: '512Mi',
        request: '212Mi',
        because: comparedWith(`team-${(place + 1) % 3}/worker-${index}-${place + 1}`),
      })),
      evictions: index < 3 ? [eviction(index, now)] : [],
      ...generatedSpare(index, now),
    },
  };
  return decodeNodePressure(object);
}

function comparedWith(pod: string): typeof BECAUSE {
  return { ...BECAUSE, text: `${BECAUSE.text}; before ${pod}: its priority is lower` };
}

function eviction(index: number, now: number): object {
  return {
    pod: `team-1/report-${index}`,
    uid: `uid-report-${index}`,
    signal: 'memory.available',
    stage: 'severe',
    outcome: index === 1 ? 'pretended (dry run)' : 'evicted',
    requestedAt: new Date(now - index * 60 * SECOND).toISOString(),
    because: BECAUSE,
  };
}

function events(now: number) {
  const about = (kind: string, name: string) => ({ kind, name, ...(kind === 'Pod' && { namespace: 'team-2' }) });
  const event = (reason: string, regarding: object, note: string, ago: number) =>
    eventEntry(
      {
        metadata: { name: reason },
        reason,
        regarding,
        note,
        eventTime: new Date(now - ago * SECOND).toISOString(),
        reportingController: 'default-scheduler',
      },
      now,
    );
  return [
    event('Preempted', about('Pod', 'thumbnails'), 'Preempted by pod 9d8b1ba6 on node node-004', 90),
    event('SystemOOM', about('Node', 'node-007'), 'System OOM encountered, victim process: java, pid: 4711', 30),
    event('Scheduled', about('Pod', 'web'), 'not shown', 10),
  ].filter((entry) => entry !== undefined);
}

function history(now: number) {
  let made = NO_HISTORY;
  for (let index = 0; index < 60; index += 1) {
    const wave = 0.7 + 0.25 * Math.sin(index / 7);
    made = withReading(made, now - (60 - index) * 20 * SECOND, { 'memory.available': wave, 'nodefs.available': 0.4 });
  }
  return made;
}

const CLASSES = [
  { metadata: { name: 'critical' }, value: 100_000, description: 'Services that customers wait for' },
  { metadata: { name: 'standard' }, value: 10_000, globalDefault: true, description: '<b>Everything</b> else' },
  {
    metadata: { name: 'long-jobs', annotations: { 'plimsoll.dev/allow-preemption': 'false' } },
    value: -200,
    preemptionPolicy: 'Never',
  },
];

const QUOTA = {
  metadata: { name: 'critical-tier' },
  spec: { priorityClassNames: ['critical'], hard: { 'requests.memory': '2Ti', pods: 400 } },
  status: {
    used: { 'requests.memory': '1.9Ti', pods: 120 },
    byNamespace: [
      { namespace: 'team-1', used: { 'requests.memory': '1.5Ti', pods: 100 } },
      { namespace: 'team-2', used: { 'requests.memory': '300Gi', pods: 18 } },
    ],
    reservations: [
      { uid: 'r-1', namespace: 'team-1', pod: 'web-7', amounts: { pods: 1 }, admittedAt: '2026-11-26T03:00:00Z' },
      { uid: 'r-2', namespace: 'team-2', pod: 'thumbnails-8', amounts: { pods: 1 } },
    ],
    slices: [{ holder: 'plimsoll-webhook-0', amounts: { pods: 4 } }],
  },
};

const POLICY = {
  metadata: { name: 'teams' },
  spec: {
    namespaceSelector: { matchLabels: { team: 'yes' } },
    defaultPriorityClassName: 'standard',
    classRules: [
      { name: 'jobs', ownerKinds: ['Job'], priorityClassName: 'long-jobs' },
      { name: 'canaries', podSelector: { matchLabels: { track: 'canary' } }, priorityClassName: 'standard' },
    ],
    allowedPriorityClassNames: ['standard', 'long-jobs'],
  },
};
