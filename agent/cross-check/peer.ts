import { type Answer, compareOpinion, type OwnReading } from './compare-opinion.ts';
import type { AskSecondOpinion } from '#agent/observe/node/second-opinions.ts';

/** Another source, asked for the same thing that we read ourselves. */
export interface Peer {
  readonly name: string;
  /** Asks and compares once; rejects where it could not be asked. */
  readonly query: () => Promise<Answer>;
}

/** Our reading now; `undefined` where there is none to compare with. */
export type ReadOwn = () => OwnReading | undefined;

/** A question for the node's memory; our own is read before and after, because it moves while the other one answers. */
export function memoryPeer(name: string, ask: AskSecondOpinion, own: ReadOwn, toleranceShare: number): Peer {
  return {
    name,
    query: async () => {
      const before = own();
      const opinion = await ask();
      const after = own();
      if (before === undefined || after === undefined)
        throw new Error('there is no reading of our own to compare with');
      return { verdict: compareOpinion(name, opinion, spanning(before, after), toleranceShare) };
    },
  };
}

/** The opinion was formed somewhere between the two. */
function spanning(before: OwnReading, after: OwnReading): OwnReading {
  return {
    totalBytes: after.totalBytes,
    lowBytes: Math.min(before.lowBytes, after.lowBytes),
    highBytes: Math.max(before.highBytes, after.highBytes),
  };
}
