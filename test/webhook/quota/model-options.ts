export interface ModelOptions {
  readonly seed: number;
  readonly replicas: number;
  readonly hardPods: number;
  /** Times in which many pods end take turns with others, so that there is room for slices now and then. */
  readonly hasTides?: boolean;
  /** Pods are asked for whose names other pods have. */
  readonly asksAgain?: boolean;
  /** So few requests that views of the pods keep up, and a slice stands for seconds between two writes of its holder. */
  readonly isQuiet?: boolean;
  /** As during an upgrade: a replica of the version before counts the pods too. */
  readonly hasEarlier?: boolean;
  /** A planted bug. */
  readonly bug?: Bug;
}

export type Bug =
  | 'listsHaveHoles'
  | 'agesOfViewsAreIgnored'
  | 'proofsAreForged'
  | 'namespacesAreIgnored'
  | 'reservationsExpireAtOnce'
  | 'everybodyTakesBack'
  | 'deletionsAreGuessed'
  | 'slicesAreTakenBackAtOnce'
  | 'resizesAreSeenTooSoon'
  | 'unknownIsNothing'
  | 'earlierCountsAreTrusted';

export interface ModelReport {
  readonly steps: number;
  /** How often each thing happened. */
  readonly counts: Readonly<Record<Happening, number>>;
  readonly recounts: number;
  /** The first broken law, with the step at which it broke. */
  readonly violation: string | undefined;
  /** `used` after everything came to rest and two reservation lives have passed. */
  readonly usedAtRest: number;
  readonly livingAtRest: number;
}

export type Happening = (typeof HAPPENINGS)[number];
export const HAPPENINGS = [
  'admitted',
  'refused',
  'busy',
  'wasted',
  'dryRuns',
  'repeatedNames',
  'namesTaken',
  'duplicates',
  'takenBack',
  'resized',
  'limitsChanged',
  'crashes',
  'lostAnswers',
  'conflicts',
  'cutOff',
  'stopped',
  'tooLate',
  'listedAnew',
  'spentFromSlices',
] as const;
