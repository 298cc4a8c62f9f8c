import { type Answer, compareOpinion, type OwnReading } from './compare-opinion.ts';
import type { AskSecondOpinion } from '#agent/observe/node/second-opinions.ts';

/** Another source for something that the agent reads itself. */
export interface Peer {
  readonly name: string;
  /** Reads and compares once; rejects if the source could not be read. */
  readonly query: () => Promise<Answer>;
}

/** The agent's own reading now; `undefined` if there is none. */
export type ReadOwn = () => OwnReading | undefined;

/**
 * Compares the node's memory; the agent's own reading is taken before and after, because it changes while the peer
 * answers.
 */
export function memoryPeer(name: string, ask: AskSecondOpinion, own: ReadOwn, toleranceShare: number): Peer {
  return {
    name,
    query: async () => {
      const before = own();
      const opinion = await ask();
      const after = own();
      if (before === undefined || after === undefined)
        throw new Error('the agent has no reading of its own to compare');
      return { verdict: compareOpinion(name, opinion, spanning(before, after), toleranceShare) };
    },
  };
}

/** The peer's value was read at some time between the two. */
function spanning(before: OwnReading, after: OwnReading): OwnReading {
  return {
    totalBytes: after.totalBytes,
    lowBytes: Math.min(before.lowBytes, after.lowBytes),
    highBytes: Math.max(before.highBytes, after.highBytes),
  };
}
