/** The last result of one test. */
export interface TestResult {
  /** Names of the groups and of the test, joined by ` > ` as the runner prints them. */
  readonly title: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
}

/** The tests of one file, as the runner itself lists them. */
export interface FileResults {
  /** Relative to the repository, with slashes. */
  readonly file: string;
  readonly tests: readonly TestResult[];
}
