import { fieldOf, itemsOf } from './wire-object.ts';

/** A condition in the status of a raw object, by its type; `undefined` if there is none. */
export function conditionIn(status: unknown, name: string): unknown {
  return itemsOf(fieldOf(status, 'conditions')).find((each) => fieldOf(each, 'type') === name);
}

/** The status of a condition of a raw object: `True`, `False` or `Unknown`. */
export function conditionStatusIn(status: unknown, name: string): unknown {
  return fieldOf(conditionIn(status, name), 'status');
}
