import type { Component } from './control-plane/component.ts';
import { eventually } from '#test/build/waiting.ts';

export interface Waiting {
  /** What is waited for, to end "waiting for". */
  readonly what: string;
  /** Who must live meanwhile, by name. */
  readonly components: Iterable<readonly [string, Component]>;
}

/** Room for a machine that is busy or emulated. */
const WITHIN_MS = 180_000;

/** Asks until the answer is yes. Rejects after minutes, or with the log of a program that ended meanwhile. */
export async function waitUntil(isSo: () => Promise<boolean>, { what, components }: Waiting): Promise<void> {
  const living = [...components];
  const ended = await eventually(async () => {
    if (await isSo()) return undefined;
    const dead = living.find(([, it]) => it.hasEnded());
    if (dead === undefined) throw new Error(`gave up waiting for ${what} after ${WITHIN_MS} ms`);
    return dead;
  }, WITHIN_MS);
  if (ended !== undefined) throw new Error(`${ended[0]} ended:\n${ended[1].lastWords()}`);
}
