import type { Instant } from '#shared/domain/pod/pod.ts';
import type { BySpareKind } from '#shared/domain/spare/spare-resources.ts';
import { decodeHistogram, encodeHistogram } from './histogram.ts';
import { type SpareState, emptySpareState } from './spare.ts';
import type { UsageHistory } from './usage-history.ts';

/*
 * The history as text, for an agent that starts: about 900 characters. The blocks of the last half hour are not in it,
 * so that a new process raises nothing before it has seen as much itself.
 */

const VERSION = '1';
const HISTOGRAMS = ['used', 'peaks', 'rises'] as const;

export function encodeDigest({ memory, cpu }: SpareState): string {
  const of = ({ history }: SpareState['memory']) => HISTOGRAMS.map((name) => encodeHistogram(history[name]));
  return [VERSION, ...of(memory), ...of(cpu)].join(' ');
}

/** What an earlier process wrote; times are of the clock of this one. */
export interface WrittenSpare {
  readonly digest: string;
  readonly since: Instant;
  /** When it was written. */
  readonly at: Instant;
  /** What it published last. */
  readonly lent: BySpareKind<number>;
}

/** The state to go on with; an empty one if the digest cannot be read. */
export function restoreSpareState(written: WrittenSpare | undefined, now: Instant): SpareState {
  const empty = emptySpareState(now);
  const [version, ...texts] = written?.digest.split(' ') ?? [];
  if (written === undefined || version !== VERSION || texts.length !== 2 * HISTOGRAMS.length) return empty;
  const histograms = texts.map((text) => decodeHistogram(text, Math.min(written.at, now)));
  const since = Math.min(written.since, now);
  const historyOf = (first: number): UsageHistory | undefined => {
    const [used, peaks, rises] = histograms.slice(first);
    return used && peaks && rises && { since, used, peaks, rises, blocks: [], open: undefined };
  };
  const [memory, cpu] = [historyOf(0), historyOf(HISTOGRAMS.length)];
  if (memory === undefined || cpu === undefined) return empty;
  return {
    memory: { history: memory, taken: [] },
    cpu: { history: cpu, taken: [] },
    published: { ...written.lent, at: now },
  };
}
