/** Data that the server reads only for the pages that show it. */
import { ask, type Problem } from './stream.ts';

/** Often enough for a person who waits for a pod. */
const PAUSE_MS = 5_000;

export interface Polled<T> {
  /** The last answer; `undefined` before the first. A problem does not replace an answer. */
  readonly value: () => T | Problem | undefined;
  readonly stop: () => void;
}

/** Asks now and every few seconds, unless the page is hidden, until stopped; `redraw` is called after each answer. */
export function polled<T extends object>(path: string, redraw: () => void): Polled<T> {
  let value: T | Problem | undefined;
  let isStopped = false;
  const once = async (): Promise<void> => {
    const answer = await ask<T>(path);
    if (isStopped) return;
    if (value === undefined || isProblem(value) || !isProblem(answer)) value = answer;
    redraw();
  };
  void once();
  const timer = setInterval(() => {
    if (!document.hidden) void once();
  }, PAUSE_MS);
  return {
    value: () => value,
    stop() {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

export function isProblem(answer: object): answer is Problem {
  return 'kind' in answer && answer.kind === 'problem';
}
