import { setImmediate } from 'node:timers/promises';

/** Resolves once the event loop has looked at what came in meanwhile: the first immediate still belongs to this turn. */
export async function nextTurn(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
