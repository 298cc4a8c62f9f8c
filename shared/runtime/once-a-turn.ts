import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Runs a task once for all callers of one turn of the event loop, after that turn: many callers at once then cost
 * hardly more than one.
 */
export function onceATurn<T>(task: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= nextTurn()
      .then(task)
      .finally(() => (running = undefined));
    return running;
  };
}
