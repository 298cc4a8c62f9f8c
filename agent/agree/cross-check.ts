import type { Because } from '#shared/domain/model/because.ts';
import type { Signal } from '#shared/domain/pressure/signal.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { Verdict } from './compare-opinion.ts';
import type { Questioned } from './questioned.ts';

/** The second opinions on the memory signal. Disagreement stops its evictions; what cannot be compared does not. */
export interface CrossCheck {
  /** Asks every source once; never rejects. */
  readonly check: () => Promise<void>;
  readonly verdicts: () => readonly Verdict[];
  readonly doubts: () => ReadonlyMap<Signal, Because>;
  /** What stands in the SourcesAgree condition; `undefined` when all that could be compared agree. */
  readonly disagreement: () => Because | undefined;
}

const NOT_COMPARED: Because = { code: 'SourcesNotComparable', text: 'no other source was compared', facts: {} };
const MEMORY_SIGNALS: readonly Signal[] = ['memory.available', 'allocatableMemory.available'];

export function createCrossCheck(sources: readonly Questioned[]): CrossCheck {
  let verdicts: readonly Verdict[] = [];

  async function check(): Promise<void> {
    const answers: Verdict[] = [];
    for (const source of sources) answers.push(await verdictOf(source));
    verdicts = answers;
  }

  function differing(): Because | undefined {
    for (const verdict of verdicts) if (verdict.kind === 'differs') return verdict.because;
    return undefined;
  }

  function whyNotCompared(): Because {
    for (const verdict of verdicts) if (verdict.kind !== 'agrees') return verdict.because;
    return NOT_COMPARED;
  }

  function doubts(): ReadonlyMap<Signal, Because> {
    const because = differing();
    return new Map(because === undefined ? [] : MEMORY_SIGNALS.map((signal) => [signal, because]));
  }

  function disagreement(): Because | undefined {
    const isCompared = verdicts.some(({ kind }) => kind === 'agrees');
    return differing() ?? (isCompared ? undefined : whyNotCompared());
  }
  return { check, verdicts: () => verdicts, doubts, disagreement };
}

async function verdictOf({ name, question }: Questioned): Promise<Verdict> {
  try {
    return await question();
  } catch (error) {
    const text = `${name}: ${errorText(error)}`;
    return { source: name, kind: 'failed', because: { code: 'SourcesNotComparable', text, facts: { source: name } } };
  }
}
