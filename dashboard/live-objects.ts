import { isDeepStrictEqual } from 'node:util';
import { decodeNodePressure, type NodePressure, isFresh } from '#shared/api/node-pressure.ts';
import { putBounded } from '#shared/domain/base/memoize.ts';
import { byName } from '#shared/domain/base/texts.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { createReflector, decodeWith, derived, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { decodeAnnotatedClass } from '#shared/kube/decode/decode-objects.ts';
import {
  DISRUPTIONS,
  EVENTS,
  NODE_PRESSURE_POLICIES,
  NODE_PRESSURES,
  NODES,
  PRIORITY_CLASSES,
  PRIORITY_POLICIES,
  PRIORITY_QUOTAS,
  QUEUES,
  type Resource,
  RESOURCE_QUOTAS,
} from '#shared/kube/resource.ts';
import { createOverview } from './pods/overview.ts';
import { podNames } from './pods/pod-names.ts';
import { readPod } from './pods/read-pod.ts';
import type { DashboardSources } from './sources.ts';
import { type History, NO_HISTORY, withReading } from './views/history.ts';
import { evictionMoments, nodeView, nodeWithoutAgent } from './views/node-view.ts';
import {
  type LabelledNode,
  nodePolicyViews,
  type PolicyEntry,
  policyEntry,
  governingPolicy,
} from './views/node-policies.ts';
import { preemptionsOf, type RecordView, recordView } from './views/preemptions.ts';
import { queueEntry, queueTree } from './views/queues.ts';
import { classView, priorityQuotaView, resourceQuotaView, policyView } from './views/priorities.ts';
import { type EventEntry, eventEntry, MAX_KEPT_OF_NAMESPACE, recordedRemovals, timelineOf } from './views/timeline.ts';
import type { NodeView, TimelineEntry } from './views/view.ts';
import { readNode } from './what-if/read-node.ts';

/** As many pages may be open. */
const MAX_NODE_TIMELINES = 100;

export type LiveObjectsOptions = Omit<ClientContext, 'metrics'> & Partial<Pick<ClientContext, 'metrics'>>;

export interface LiveObjects {
  readonly sources: DashboardSources;
  /** Lists and watches until `signal` aborts; never rejects. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Keeps the data of the page current by watches; nothing is read before `run`. */
export function createLiveObjects(options: LiveObjectsOptions): LiveObjects {
  const reflect = <T>(resource: Resource, slim: (raw: KubeObject) => T | undefined): Reflector<T> =>
    createReflector({ ...options, resource, slim });
  const pressures = reflect(NODE_PRESSURES, decodeNodePressure);
  const newest = { ...options, mostOfNamespace: MAX_KEPT_OF_NAMESPACE };
  const events = createReflector({ ...newest, resource: EVENTS, slim: (raw) => eventEntry(raw, options.clock.now()) });
  const records = createReflector({ ...newest, resource: DISRUPTIONS, slim: recordView });
  const recorded = derived([records], () => recordedRemovals(Array.from(records.values(), ({ entry }) => entry)));
  const classes = reflect(PRIORITY_CLASSES, (raw) => ({ view: classView(raw), read: decodeClass(raw) }));
  const quotas = [reflect(PRIORITY_QUOTAS, priorityQuotaView), reflect(RESOURCE_QUOTAS, resourceQuotaView)];
  const queues = reflect(QUEUES, queueEntry);
  const names = reflect(NODES, labelledNode);
  const nodePolicies = reflect(NODE_PRESSURE_POLICIES, policyEntry);
  const policies = reflect(PRIORITY_POLICIES, policyView);
  const others = [classes, queues, policies, nodePolicies, ...quotas];
  const reflectors: readonly Reflector<unknown>[] = [pressures, names, events, records, ...others];
  const nodes = createNodeViews(pressures, names);
  return {
    sources: {
      nodes,
      history: keepHistories(pressures),
      timeline: derived(
        [pressures, events, records],
        unlessEqual((now: number) => timelineOf({ nodes: nodes(now), events: events.values(), recorded: recorded() })),
      ),
      nodeTimeline: createNodeTimelines(events, records, nodes),
      classes: derived([classes], () =>
        Array.from(classes.values(), ({ view }) => view).sort((a, b) => b.value - a.value),
      ),
      quotas: derived(quotas, () => quotas.flatMap((each) => [...each.values()]).sort(byName)),
      queues: derived([queues], () => queueTree(queues.values())),
      preemptions: derived([records], () => preemptionsOf(records.values())),
      policies: derived([policies], () => [...policies.values()].sort(byName)),
      nodePolicies: createPolicyViews(nodePolicies, names, pressures),
      readNode: (name, signal) =>
        readNode({ ...options, known: { classes, policies: nodePolicies, pressures } }, name, signal),
      readPod: (pod, signal) => readPod(options, pod, signal),
      podFigures: (node, uid) => pressures.get(node)?.status?.pods?.find((each) => each.uid === uid),
      overview: createOverview(options.client, options.clock),
      podNames: (text, signal) => podNames(options.client, text, signal),
      onChange: (listener) => {
        const stops = reflectors.map((reflector) => reflector.onChange(listener));
        return () => stops.forEach((stop) => stop());
      },
    },
    run: (signal) => Promise.all(reflectors.map((reflector) => reflector.run(signal))).then(() => undefined),
  };
}

const decodeClass = decodeWith(decodeAnnotatedClass);

function labelledNode({ metadata: { name = '', labels = {} } }: KubeObject): LabelledNode {
  return { name, labels };
}

/** The policy of a node is determined again when its Node changes or any policy does. */
function createPolicyViews(
  policies: Reflector<PolicyEntry>,
  nodes: Reflector<LabelledNode>,
  pressures: Reflector<NodePressure>,
): DashboardSources['nodePolicies'] {
  let known = new WeakMap<LabelledNode, string>();
  policies.onChange(() => (known = new WeakMap()));
  const governing = derived([policies, nodes], () => {
    const read = Array.from(policies.values(), ({ named }) => named);
    const policyOf = (node: LabelledNode): string => {
      const policy = known.get(node) ?? governingPolicy(read, node);
      known.set(node, policy);
      return policy;
    };
    return new Map(Array.from(nodes.values(), (node) => [node.name, policyOf(node)]));
  });
  return derived(
    [policies, nodes, pressures],
    unlessEqual((now: number) =>
      nodePolicyViews({ policies: [...policies.values()], governing: governing(), pressures: pressures.values(), now }),
    ),
  );
}

/** The timeline of each node: the same array until one of its entries changes. */
function createNodeTimelines(
  events: Reflector<EventEntry>,
  records: Reflector<RecordView>,
  nodes: DashboardSources['nodes'],
): DashboardSources['nodeTimeline'] {
  const byNode = ({ node }: EventEntry): string => node;
  const grouped = derived([events, records], () => ({
    events: Map.groupBy(events.values(), byNode),
    records: Map.groupBy(
      Array.from(records.values(), ({ entry }) => entry),
      byNode,
    ),
  }));
  const kept = new Map<string, readonly TimelineEntry[]>();
  return (name, now) => {
    const timeline = timelineOf({
      nodes: nodes(now).filter((node) => node.name === name),
      events: grouped().events.get(name) ?? [],
      recorded: recordedRemovals(grouped().records.get(name) ?? []),
    });
    const last = kept.get(name);
    const current = last !== undefined && isDeepStrictEqual(last, timeline) ? last : timeline;
    putBounded(kept, MAX_NODE_TIMELINES, [name, current]);
    return current;
  };
}

/** Keeps the previous value if the new one is equal, so that it is not sent again. */
function unlessEqual<A extends readonly unknown[], T>(compute: (...args: A) => T): (...args: A) => T {
  let last: { readonly value: T } | undefined;
  return (...args) => {
    const value = compute(...args);
    if (last === undefined || !isDeepStrictEqual(last.value, value)) last = { value };
    return last.value;
  };
}

function keepHistories(pressures: Reflector<NodePressure>): (node: string) => History {
  const histories = new Map<string, History>();
  pressures.onChange(({ kind, value }) => {
    const at = value.status?.observedAt;
    if (kind === 'deleted' || at === undefined) return void histories.delete(value.name);
    const before = evictionMoments(value).filter((moment) => moment.at < at);
    const known = before.reduce(
      (history, moment) => withReading(history, moment.at, { [moment.signal]: moment.usedRatio }),
      histories.get(value.name) ?? NO_HISTORY,
    );
    const readings = nodeView(value, at)?.readings ?? [];
    const ratios = Object.fromEntries(readings.map((reading) => [reading.name, reading.usedRatio]));
    histories.set(value.name, withReading(known, at, ratios));
  });
  return (node) => histories.get(node) ?? NO_HISTORY;
}

/** A reflector of NodePressures, as far as views need it. */
export interface NodePressures extends Pick<Reflector<NodePressure>, 'values'> {
  readonly onChange: (listener: () => void) => () => void;
}

/** The nodes that the API server knows. */
export interface NodeNames {
  readonly values: () => Iterable<Pick<LabelledNode, 'name'>>;
  readonly onChange: (listener: () => void) => () => void;
}

/** The state of a node depends on the age of its report, so the age is checked this often. */
const CHECK_AGE_MS = 1_000;

/**
 * Views by name, the same array for all pages within a second unless an object changes. Each view is rebuilt if its
 * object changes, or if its state changes with age.
 */
export function createNodeViews(pressures: NodePressures, names: NodeNames): DashboardSources['nodes'] {
  const views = new WeakMap<NodePressure, { readonly view: NodeView | undefined; readonly fresh: boolean }>();
  const viewOf = (pressure: NodePressure, now: number): NodeView | undefined => {
    const fresh = isFresh(pressure.status, now);
    const kept = views.get(pressure);
    if (kept?.fresh === fresh) return kept.view;
    const view = nodeView(pressure, now);
    views.set(pressure, { view, fresh });
    return view;
  };
  let silent: ReadonlyMap<string, NodeView> = new Map();
  const viewsAt = (now: number): readonly NodeView[] => {
    const reported = [...pressures.values()].flatMap((pressure) => viewOf(pressure, now) ?? []);
    const known = new Set(reported.map(({ name }) => name));
    const others = Array.from(names.values(), ({ name }) => name).filter((name) => !known.has(name));
    // The same object each time, so that it is sent only once.
    silent = new Map(others.map((name) => [name, silent.get(name) ?? nodeWithoutAgent(name)]));
    return [...reported, ...silent.values()].sort(byName);
  };
  let kept: { readonly at: number; readonly nodes: readonly NodeView[] } | undefined;
  for (const each of [pressures, names]) each.onChange(() => (kept = undefined));
  return (now) => {
    if (kept === undefined || Math.abs(now - kept.at) >= CHECK_AGE_MS) kept = { at: now, nodes: viewsAt(now) };
    return kept.nodes;
  };
}
