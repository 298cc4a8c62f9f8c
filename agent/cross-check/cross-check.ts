import type { Because } from '#shared/domain/base/because.ts';
import { MEMORY_SIGNALS } from '#shared/domain/pressure/memory-figure.ts';
import type { Signal } from '#shared/domain/pressure/signal.ts';
import type { DoubtfulPods } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { SourceOpinion, SourceVerdict } from './compare-opinion.ts';
import type { Peer } from './peer.ts';
import { DOUBTS } from '#agent/messages.ts';

/**
 * Compares memory with other sources. A source that contradicts the signal twice in a row stops evictions for memory;
 * one that contradicts a pod's figure twice in a row makes only that pod doubtful. A source that cannot be compared
 * does neither.
 */
export interface CrossCheck {
  /** Compares every source once; never rejects. */
  readonly check: () => Promise<void>;
  /** Verdicts of the last check. */
  readonly verdicts: () => readonly SourceVerdict[];
  readonly doubts: () => ReadonlyMap<Signal, Because>;
  readonly doubtfulPods: () => DoubtfulPods;
  /** Reason for the SourcesAgree condition; `undefined` when all compared sources agree. */
  readonly disagreement: () => Because | undefined;
}

const NOT_COMPARED = DOUBTS.notCompared({});
/** A single check may differ by chance, without an error on either side. */
const CHECKS = 2;

/** How many times in a row a source or pod differed. */
type Streaks = ReadonlyMap<string, number>;

/** State of the last checks. */
interface CheckState {
  readonly answers: readonly SourceOpinion[];
  readonly sources: Streaks;
  readonly pods: Streaks;
}

export function createCrossCheck(peers: readonly Peer[]): CrossCheck {
  let state: CheckState = { answers: [], sources: new Map(), pods: new Map() };
  let doubts: ReadonlyMap<Signal, Because> = new Map();
  let doubtfulPods: DoubtfulPods = new Map();
  let disagreement: Because | undefined = NOT_COMPARED;

  async function check(): Promise<void> {
    const answers: SourceOpinion[] = [];
    for (const source of peers) answers.push(await answerOf(source));
    state = advance(state, answers);
    const contradiction = lastingContradiction(state);
    doubts = new Map(contradiction === undefined ? [] : MEMORY_SIGNALS.map((signal) => [signal, contradiction]));
    doubtfulPods = lastingDoubts(state);
    disagreement = contradiction ?? describePods(doubtfulPods) ?? whyNotCompared(state);
  }
  return {
    check,
    verdicts: () => state.answers.map(({ verdict }) => verdict),
    doubts: () => doubts,
    doubtfulPods: () => doubtfulPods,
    disagreement: () => disagreement,
  };
}

function advance(previous: CheckState, answers: readonly SourceOpinion[]): CheckState {
  const sources = answers.flatMap(({ verdict: { kind, source } }) => (kind === 'differs' ? [source] : []));
  return {
    answers,
    sources: advanceStreaks(previous.sources, sources),
    pods: advanceStreaks(previous.pods, [...differingPods(answers).keys()]),
  };
}

function lastingContradiction({ answers, sources }: CheckState): Because | undefined {
  for (const { verdict } of answers)
    if (verdict.kind === 'differs' && lasts(sources, verdict.source)) return verdict.because;
  return undefined;
}

function lastingDoubts({ answers, pods }: CheckState): DoubtfulPods {
  return new Map([...differingPods(answers)].filter(([uid]) => lasts(pods, uid)));
}

/** Counts what differs now; all other counts restart. */
function advanceStreaks(previous: Streaks, differing: readonly string[]): Streaks {
  return new Map(differing.map((name) => [name, (previous.get(name) ?? 0) + 1]));
}

function lasts(streaks: Streaks, name: string): boolean {
  return (streaks.get(name) ?? 0) >= CHECKS;
}

function differingPods(answers: readonly SourceOpinion[]): DoubtfulPods {
  return new Map(answers.flatMap(({ pods }) => [...(pods?.differing ?? [])]));
}

function describePods(pods: DoubtfulPods): Because | undefined {
  const [first] = pods.values();
  if (first === undefined) return undefined;
  return DOUBTS.podsDisagree({ pods: pods.size, example: first.because.text }, { pods: pods.size });
}

function whyNotCompared({ answers }: CheckState): Because | undefined {
  const verdicts = answers.map(({ verdict }) => verdict);
  if (verdicts.some(({ kind }) => kind === 'agrees' || kind === 'differs')) return undefined;
  for (const verdict of verdicts) if (verdict.kind !== 'agrees') return verdict.because;
  return NOT_COMPARED;
}

async function answerOf({ name, query }: Peer): Promise<SourceOpinion> {
  try {
    return await query();
  } catch (error) {
    const because = DOUBTS.peerFailed({ source: name, cause: errorText(error) }, { source: name });
    return { verdict: { source: name, kind: 'failed', because } };
  }
}
