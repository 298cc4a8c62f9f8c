import { type NodeEntry, type NodeSheet, sheetOf } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { podKey } from '#shared/domain/snapshot/snapshot-pods.ts';
import {
  type FilterState,
  type PodAwareFilter,
  type FilterRefusal,
  type Need,
  resourceRefusal,
} from '#shared/domain/placement/filters/node-filters.ts';
import type { PrefilterState } from './prefilter-state.ts';

/**
 * A trial removes pods from a node and puts them back to check whether the incoming pod fits; the snapshot is not
 * changed. Pods are identified by their index in the node's order of importance. A resource trial only adds up
 * resources, a filter trial runs every filter; if the first is sufficient, both give the same answer.
 */
type Trial = ResourceTrial | FilterTrial;

const NO_PODS: readonly PlacedPod[] = [];

/** Opens a trial with all current pods of the node. */
export function openTrial(state: PrefilterState, entry: NodeEntry): Trial {
  const expected = expectedPods(state, entry);
  if (expected.length === 0 && areResourcesEnough(state, sheetOf(entry))) return openResourceTrial(state, entry);
  return openFilterTrial(state.podAwareFilters, entry, expected);
}

/** Removes pods from the node. */
export function takeOff(trial: Trial, indexes: readonly number[]): void {
  if (trial.kind === 'resources') takeOffResources(trial, indexes);
  else takeOffByFilters(trial, indexes);
}

/** Puts pods back one by one; returns those that stay removed because the incoming pod leaves no room for them. */
export function putBack(trial: Trial, indexes: readonly number[]): readonly number[] {
  return trial.kind === 'resources' ? putBackResources(trial, indexes) : putBackByFilters(trial, indexes);
}

/** Why the incoming pod does not fit now, as reported by the first filter that fails. */
export function refusalIn(trial: Trial): FilterRefusal | undefined {
  return trial.kind === 'resources' ? resourceTrialRefusal(trial) : filterRefusal(trial);
}

function areResourcesEnough({ isResourcesOnly, needs }: PrefilterState, { isExact, width }: NodeSheet): boolean {
  return isResourcesOnly && isExact && needs.every(({ column }) => column < width);
}

/** Pods that are expected on the node: nominated to it, with equal or higher priority. */
function expectedPods({ pod, priority }: PrefilterState, entry: NodeEntry): readonly PlacedPod[] {
  if (!sheetOf(entry).isPromised) return NO_PODS;
  const { nominated } = entry.occupancy;
  return nominated.filter((placed) => placed.priority >= priority && podKey(placed.pod) !== podKey(pod));
}

/** A trial with every filter. */
interface FilterTrial {
  readonly kind: 'filters';
  readonly pods: readonly PlacedPod[];
  readonly states: readonly FilterState[];
}

/**
 * Opens a trial. Expected pods count as running on the node, and the incoming pod must fit both with and without
 * them. `pkg/scheduler/framework/runtime/framework.go` RunFilterPluginsWithNominatedPods.
 */
function openFilterTrial(
  filters: readonly PodAwareFilter[],
  entry: NodeEntry,
  expected: readonly PlacedPod[],
): FilterTrial {
  const withExpected = expected.length === 0 ? [] : openStates(filters, entry);
  for (const placed of expected) addTo(withExpected, placed);
  return { kind: 'filters', pods: entry.occupancy.pods, states: [...withExpected, ...openStates(filters, entry)] };
}

function takeOffByFilters({ pods, states }: FilterTrial, indexes: readonly number[]): void {
  for (const index of indexes) removeFrom(states, pods[index]);
}

function putBackByFilters(trial: FilterTrial, indexes: readonly number[]): readonly number[] {
  const { pods, states } = trial;
  return indexes.filter((index) => {
    addTo(states, pods[index]);
    if (filterRefusal(trial) === undefined) return false;
    removeFrom(states, pods[index]);
    return true;
  });
}

/** The first filter that fails decides. */
function filterRefusal({ states }: FilterTrial): FilterRefusal | undefined {
  for (const state of states) {
    const refusal = state.refusal();
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function openStates(filters: readonly PodAwareFilter[], entry: NodeEntry): readonly FilterState[] {
  return filters.map((filter) => filter.open(entry));
}

function addTo(states: readonly FilterState[], placed: PlacedPod | undefined): void {
  if (placed !== undefined) for (const state of states) state.add(placed);
}

function removeFrom(states: readonly FilterState[], placed: PlacedPod | undefined): void {
  if (placed !== undefined) for (const state of states) state.remove(placed);
}

/** Data shared by the resource trials of one plan. */
interface ResourceNeeds {
  readonly needs: readonly Need[];
  /** Where in a row of a sheet each need stands. */
  readonly columns: readonly number[];
}

/**
 * A trial on resources alone, in plain sums of doubles: the needs and the node's sheet must be exact, and the sheet must
 * have a column for each need. Its loops are the inner loops of a plan over a large cluster: indexes stay within the
 * lists by construction, which the types cannot tell, and a default for each would cost a third of the time.
 */
interface ResourceTrial extends ResourceNeeds {
  readonly kind: 'resources';
  readonly entry: NodeEntry;
  readonly numbers: Float64Array;
  readonly rowLength: number;
  /** What is left of each resource after the incoming pod's needs; negative if it is short. */
  readonly left: number[];
  slots: number;
}

function openResourceTrial({ columns, needs }: ResourceNeeds, entry: NodeEntry): ResourceTrial {
  const { numbers, width } = sheetOf(entry);
  const left: number[] = [];
  for (const { amount, column } of needs) left.push((numbers[column + 1] as number) - Number(amount));
  return {
    kind: 'resources',
    columns,
    entry,
    numbers,
    rowLength: width + 1,
    needs,
    left,
    slots: (numbers[0] as number) - 1,
  };
}

function takeOffResources(trial: ResourceTrial, indexes: readonly number[]): void {
  const { columns, left, numbers, rowLength } = trial;
  for (let at = 0; at < columns.length; at += 1) {
    const column = columns[at] as number;
    let sum = 0;
    for (const index of indexes) sum += numbers[(index + 1) * rowLength + column] as number;
    left[at] = (left[at] as number) + sum;
  }
  trial.slots += indexes.length;
}

function putBackResources(trial: ResourceTrial, indexes: readonly number[]): readonly number[] {
  const staysOff: number[] = [];
  for (const index of indexes) {
    const row = (index + 1) * trial.rowLength;
    if (hasRoomFor(trial, row)) take(trial, row);
    else staysOff.push(index);
  }
  return staysOff;
}

function resourceTrialRefusal(trial: ResourceTrial): FilterRefusal | undefined {
  return resourceRefusal(trial, trial.entry);
}

/** True if the pod in a row can be added and the incoming pod still fits. */
function hasRoomFor({ columns, left, numbers, slots }: ResourceTrial, row: number): boolean {
  for (let at = 0; at < columns.length; at += 1) {
    if ((numbers[row + (columns[at] as number)] as number) > (left[at] as number)) return false;
  }
  return slots >= 1;
}

/** Adds the pod in a row. */
function take(trial: ResourceTrial, row: number): void {
  const { columns, left, numbers } = trial;
  for (let at = 0; at < columns.length; at += 1) {
    left[at] = (left[at] as number) - (numbers[row + (columns[at] as number)] as number);
  }
  trial.slots -= 1;
}
