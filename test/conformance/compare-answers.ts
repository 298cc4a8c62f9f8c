import { isDeepStrictEqual } from 'node:util';
import { KINDS } from './kinds.ts';
import { findings, type JudgedAnswer, type JudgedCase } from './queue-judge.ts';
import { type Vector, withoutAnswer } from './read-vectors.ts';

/** What was recorded and what was given, in a form in which right answers are equal. */
export type Compared = readonly [expected: unknown, got: unknown];

/** Fields that are recorded for curiosity and not asked for. */
const NOT_ASKED: readonly string[] = ['goValue', 'goMilli'];

/** What one pass did about pressure; the recorded one or any of its alternatives is right, as a whole. */
const ACTION = ['evicted', 'gracePeriodOverride', 'evictMessage', 'annotations', 'reclaiming', 'nodeReclaim'];

/** Puts two answers of a kind side by side, as `../shared/vectors/PROTOCOL.md` says they are compared. */
export function compareAnswers(kind: string, recorded: Vector, given: Vector): Compared {
  switch (kind) {
    case 'quantity':
      return compareQuantity(recorded, given);
    case 'thresholds':
      return compareThresholds(recorded, given);
    case 'episodes':
      return compareEpisodes(recorded, given);
    case 'preemption-fit':
    case 'preemption-full':
      return comparePreemption(recorded, given);
    case 'queue-deserved':
      return compareShares(recorded, given);
    case 'queue-preemption':
      return [[], findings(recorded as unknown as JudgedCase, given['want'] as JudgedAnswer)];
    default:
      return compareFields(recorded, given, KINDS.get(kind)?.answerFields ?? []);
  }
}

function compareFields(recorded: Vector, given: Vector, fields: readonly string[]): Compared {
  return [pick(recorded, fields), pick(given, fields)];
}

/** Integers of more than 400 digits are not recorded. */
function compareQuantity(recorded: Vector, given: Vector): Compared {
  const unrecorded = ['value', 'milli'].filter((field) => recorded[field] === undefined);
  const fields = KINDS.get('quantity')?.answerFields ?? [];
  return compareFields(
    recorded,
    given,
    fields.filter((field) => !unrecorded.includes(field) && !NOT_ASKED.includes(field)),
  );
}

/** Which of several mistakes Kubernetes reports is random: the first given must be one of them. */
function compareThresholds(recorded: Vector, given: Vector): Compared {
  const possible = (recorded['errors'] ?? []) as readonly string[];
  const [first = 'no mistake'] = (given['errors'] ?? []) as readonly string[];
  const isOneOfThem = possible.length === 0 || possible.includes(first);
  return [
    { ...pick(recorded, ['ok', 'want']), mistakes: isOneOfThem ? first : possible },
    { ...pick(given, ['ok', 'want']), mistakes: first },
  ];
}

function compareEpisodes(recorded: Vector, given: Vector): Compared {
  const wants = ({ steps }: Vector) => (steps as readonly { readonly want: Vector }[]).map(({ want }) => want);
  const givenWants = wants(given);
  const right = wants(recorded).map((want, index) => rightAnswer(want, givenWants[index] ?? {}));
  return [right, givenWants];
}

/** The recorded step with that of its alternatives that was given, if any was. */
function rightAnswer({ alternatives, ...want }: Vector, given: Vector): Vector {
  const others = (alternatives ?? []) as readonly Vector[];
  const chosen = others.find((other) => isDeepStrictEqual(pick(other, ACTION), pick(given, ACTION)));
  return chosen === undefined ? want : { ...withoutAnswer(want, ACTION), ...chosen };
}

/** Since 1.37 the answer may depend on the order in which budgets are listed, which is random: each is right. */
function comparePreemption({ want, alsoWant = [] }: Vector, given: Vector): Compared {
  const right = [want, ...(alsoWant as readonly unknown[])].map(withBestAsSet);
  const got = withBestAsSet(given['want']);
  return [right.find((each) => isDeepStrictEqual(each, got)) ?? right[0], got];
}

/** kube-scheduler takes one of the best nodes at random. */
function withBestAsSet(want: unknown): Vector {
  const { best, ...rest } = want as { readonly best?: readonly string[] };
  return { ...rest, best: best?.toSorted() };
}

type SharesByQueue = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The exact shares; an amount that agrees with them as `README-queue.md` says counts as exact. */
function compareShares({ fair }: Vector, { want }: Vector): Compared {
  const given = want as SharesByQueue;
  const exact = fair as SharesByQueue;
  const rounded = Object.entries(exact).map(([queue, amounts]) => [queue, agreed(amounts, given[queue] ?? {})]);
  return [exact, { ...given, ...Object.fromEntries(rounded) }];
}

function agreed(exact: SharesByQueue[string], given: SharesByQueue[string]): SharesByQueue[string] {
  const amounts = Object.entries(exact).map(([type, amount]): [string, string | undefined] => {
    const unit = /^(memory|ephemeral-storage|hugepages-.*)$/.test(type) ? 1 : 0.001;
    const isClose = Math.abs(Number(given[type]) - Number(amount)) <= unit + Number(amount) * 1e-9;
    return [type, isClose ? amount : given[type]];
  });
  return { ...given, ...(Object.fromEntries(amounts) as SharesByQueue[string]) };
}

function pick(vector: Vector, fields: readonly string[]): Vector {
  return Object.fromEntries(fields.map((field) => [field, vector[field] ?? null]));
}
