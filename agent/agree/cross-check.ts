import type { Because } from '#shared/domain/model/because.ts';
import type { Signal } from '#shared/domain/pressure/signal.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { compareOpinion, type OwnReading, type Verdict } from './compare-opinion.ts';
import type { AskSecondOpinion } from '#agent/observe/second-opinions.ts';

/** Another source, and our own figure for the same thing. */
export interface Questioned {
  readonly name: string;
  readonly ask: AskSecondOpinion;
  /** Our reading now; `undefined` where there is none to compare with. */
  readonly own: () => OwnReading | undefined;
}

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

export function createCrossCheck(sources: readonly Questioned[], toleranceShare: number): CrossCheck {
  let verdicts: readonly Verdict[] = [];

  async function question({ name, ask, own }: Questioned): Promise<Verdict> {
    const before = own();
    try {
      const opinion = await ask();
      const after = own();
      if (before === undefined || after === undefined)
        return failed(name, 'there is no reading of our own to compare with');
      return compareOpinion(name, opinion, spanning(before, after), toleranceShare);
    } catch (error) {
      return failed(name, errorText(error));
    }
  }

  async function check(): Promise<void> {
    const answers: Verdict[] = [];
    for (const source of sources) answers.push(await question(source));
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

/** The opinion was formed somewhere between the two. */
function spanning(before: OwnReading, after: OwnReading): OwnReading {
  return {
    totalBytes: after.totalBytes,
    lowBytes: Math.min(before.lowBytes, after.lowBytes),
    highBytes: Math.max(before.highBytes, after.highBytes),
  };
}

function failed(source: string, text: string): Verdict {
  return {
    source,
    kind: 'failed',
    because: { code: 'SourcesNotComparable', text: `${source}: ${text}`, facts: { source } },
  };
}
