import type { ClientContext } from '#shared/kube/client/client.ts';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';
import type { AvoidLookup } from '#shared/domain/admission/cluster-state.ts';
import { type AvoidEntry, isLasting } from '#shared/domain/nodes/avoid-nodes.ts';
import { isSameOwner, type OwnerKey, ownerText } from '#shared/domain/pod/pod.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import type { Avoiding } from '#shared/kube/admission/left-to-webhook.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { createReflector, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { NODE_PRESSURES } from '#shared/kube/resource.ts';
import type { Clock } from '#shared/runtime/clock.ts';

/** The avoid list of one node. */
export interface AvoidList {
  readonly node: string;
  readonly entries: readonly AvoidEntry[];
}

/** The avoid lists of all nodes. Readiness does not wait for them: without them a pod gets no node affinity. */
export function createAvoidLists(options: ClientContext): Reflector<AvoidList> {
  return createReflector({ ...options, resource: NODE_PRESSURES, slim: readAvoidList });
}

function readAvoidList(raw: KubeObject): AvoidList {
  const { name, avoid } = decodeNodePressure(raw);
  return { node: name, entries: avoid };
}

const MAX_NAMESPACES = 200;

/** The namespaces of the owners that avoid lists name, sorted. */
export function namespacesAvoiding(lists: Iterable<AvoidList>): Avoiding {
  const names = new Set([...lists].flatMap(({ entries }) => entries.map(({ owner }) => owner.namespace)));
  return names.size > MAX_NAMESPACES ? 'everywhere' : [...names].sort();
}

/** Which nodes evicted pods of an owner; the index is rebuilt only after a list has changed. */
export function createAvoidLookup(lists: Reflector<AvoidList>, clock: Pick<Clock, 'now'>): AvoidLookup {
  let index: Index | undefined;
  // Agents write their status into the same objects, so most changes concern no avoid list.
  lists.onChange(({ value }) => {
    const isKnown = index?.nodes.has(value.node) === true;
    if (value.entries.length > 0 || isKnown) index = undefined;
  });
  return (owner) => {
    index ??= indexOf(lists.values());
    const now = clock.now();
    const entries = (index.byOwner.get(ownerText(owner)) ?? []).filter((each) => isAbout(each.entry, owner, now));
    return namesOf(entries);
  };
}

interface NodeAvoidEntry {
  readonly node: string;
  readonly entry: AvoidEntry;
}

interface Index {
  readonly byOwner: ReadonlyMap<string, readonly NodeAvoidEntry[]>;
  /** Nodes with an entry. */
  readonly nodes: ReadonlySet<string>;
}

function indexOf(lists: Iterable<AvoidList>): Index {
  const all = [...lists].flatMap(({ node, entries }) => entries.map((entry) => ({ node, entry })));
  const byOwner = Map.groupBy(all, ({ entry }) => ownerText(entry.owner));
  return { byOwner, nodes: new Set(all.map(({ node }) => node)) };
}

function isAbout(entry: AvoidEntry, owner: OwnerKey, now: number): boolean {
  return isLasting(entry, now) && isSameOwner(entry.owner, owner);
}

function namesOf(entries: readonly NodeAvoidEntry[]): readonly string[] {
  return [...new Set(entries.toSorted(longestFirst).map(({ node }) => node))];
}

function longestFirst(left: NodeAvoidEntry, right: NodeAvoidEntry): number {
  return right.entry.until - left.entry.until || compareTexts(left.node, right.node);
}
