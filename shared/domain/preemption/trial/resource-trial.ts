import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import { sheetOf } from '#shared/domain/snapshot/node-sheet.ts';
import { resourceRefusal } from '#shared/domain/preemption/filters/node-resources-fit.ts';
import type { Refusal } from '#shared/domain/preemption/filters/refusal.ts';
import type { Need } from '#shared/domain/preemption/filters/room.ts';

/** What the resource trials of one plan share. */
export interface ResourceNeeds {
  readonly needs: readonly Need[];
  /** Where in a row of a sheet each need stands. */
  readonly columns: readonly number[];
}

/**
 * A trial on resources alone, in plain sums of doubles: the needs and the node's sheet must be exact, and the sheet must
 * have a column for each need. Its loops are the inner loops of a plan over a large cluster: indexes stay within the
 * lists by construction, which the types cannot tell, and a default for each would cost a third of the time.
 */
export interface ResourceTrial extends ResourceNeeds {
  readonly kind: 'resources';
  readonly entry: NodeEntry;
  readonly numbers: Float64Array;
  readonly rowLength: number;
  /** What is left of each need beyond what the incoming pod needs, below 0 where it lacks. */
  readonly left: number[];
  slots: number;
}

export function openResourceTrial({ columns, needs }: ResourceNeeds, entry: NodeEntry): ResourceTrial {
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

export function takeOffResources(trial: ResourceTrial, indexes: readonly number[]): void {
  const { columns, left, numbers, rowLength } = trial;
  for (let at = 0; at < columns.length; at += 1) {
    const column = columns[at] as number;
    let sum = 0;
    for (const index of indexes) sum += numbers[(index + 1) * rowLength + column] as number;
    left[at] = (left[at] as number) + sum;
  }
  trial.slots += indexes.length;
}

export function putBackResources(trial: ResourceTrial, indexes: readonly number[]): readonly number[] {
  const staysOff: number[] = [];
  for (const index of indexes) {
    const row = (index + 1) * trial.rowLength;
    if (hasRoomFor(trial, row)) take(trial, row);
    else staysOff.push(index);
  }
  return staysOff;
}

export function resourceTrialRefusal(trial: ResourceTrial): Refusal | undefined {
  return resourceRefusal(trial, trial.entry);
}

/** True where the pod in a row may come and the incoming pod still fits. */
function hasRoomFor({ columns, left, numbers, slots }: ResourceTrial, row: number): boolean {
  for (let at = 0; at < columns.length; at += 1) {
    if ((numbers[row + (columns[at] as number)] as number) > (left[at] as number)) return false;
  }
  return slots >= 1;
}

/** The pod in a row comes. */
function take(trial: ResourceTrial, row: number): void {
  const { columns, left, numbers } = trial;
  for (let at = 0; at < columns.length; at += 1) {
    left[at] = (left[at] as number) - (numbers[row + (columns[at] as number)] as number);
  }
  trial.slots -= 1;
}
