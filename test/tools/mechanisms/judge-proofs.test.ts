import { describe, expect, test } from 'vitest';
import { judgeProofs } from '#tools/mechanisms/judge-proofs.ts';
import type { Row } from '#tools/mechanisms/read-rows.ts';
import type { FileResults, TestResult } from '#tools/mechanisms/test-result.ts';

const FILE = 'test/a.test.ts';

function judge(title: string, tests: readonly TestResult[] | undefined) {
  const rows: readonly Row[] = [{ id: 'S0-1', proofs: [{ file: FILE, title }] }];
  const results = new Map<string, FileResults>(tests === undefined ? [] : [[FILE, { file: FILE, tests }]]);
  return judgeProofs(rows, results);
}

describe('judgeProofs', () => {
  test('a test that passed proves its row', () => {
    expect(judge('group > it works', [{ title: 'group > it works', outcome: 'passed' }])).toEqual({
      proven: 1,
      open: 0,
      faults: [],
      unknown: [],
      nightly: [],
    });
  });

  test('a row that only a test of the night proves is named, and one that another proves, too, is proven', () => {
    const night = { file: 'test/a.nightly.test.ts', title: 'it' };
    const rows: readonly Row[] = [
      { id: 'S0-1', proofs: [night] },
      { id: 'S0-2', proofs: [night, { file: FILE, title: 'it' }] },
    ];
    const verdict = judgeProofs(rows, new Map([[FILE, { file: FILE, tests: [passed('it')] }]]));
    expect(verdict).toEqual({ proven: 1, open: 0, faults: [], unknown: [], nightly: ['S0-1'] });
  });

  test.each<[string, string, TestResult[], string]>([
    ['a part of a title', 'it works', [{ title: 'group > it works', outcome: 'passed' }], 'has no test "it works"'],
    ['a title that stands in the file and is no test', 'gone', [], 'has no test "gone"'],
    ['a test that failed', 'it', [{ title: 'it', outcome: 'failed' }], 'failed'],
    [
      'a table of which one case failed',
      'case %s',
      [passed('case 1'), { title: 'case 2', outcome: 'failed' }],
      'failed',
    ],
  ])('%s proves nothing', (_, title, tests, fault) => {
    const verdict = judge(title, tests);
    expect([verdict.proven, verdict.faults]).toEqual([0, [expect.stringContaining(fault)]]);
  });

  test.each<[string, TestResult[] | undefined, string]>([
    ['a test that was skipped', [{ title: 'it', outcome: 'skipped' }], 'was skipped'],
    ['a file that was not run since it changed', undefined, 'has not been run'],
  ])('%s says nothing', (_, tests, unknown) => {
    const verdict = judge('it', tests);
    expect([verdict.proven, verdict.faults, verdict.unknown]).toEqual([0, [], [expect.stringContaining(unknown)]]);
  });

  test('every case of a table must have passed, and nothing else counts as one', () => {
    expect(judge('case %s', [passed('case a.b'), passed('case c'), passed('case')]).proven).toBe(1);
    expect(judge('case %s', [passed('case')]).proven).toBe(0);
    expect(judge('case %s', [passed('case 1 > of another group')]).proven).toBe(0);
  });

  test.each<[string, string, readonly string[], boolean]>([
    ['a title that was changed', 'group > allow one more', ['group > allow four more'], true],
    ['a case of a table', 'group > the second case', ['group > %s'], false],
    ['a whole table', 'group > a pod in %s', ['group > a pod in $place'], false],
    ['a template literal', 'group > costs 600', ['group > costs ${AMOUNT}'], false],
    ['a table that lost its fixed words', 'group > a pod in %s', ['group > a node in %s'], true],
  ])('where a file was not run, the titles in it are compared: %s', (_, title, titles, isFault) => {
    const rows: readonly Row[] = [{ id: 'S0-1', proofs: [{ file: FILE, title }] }];
    const { faults, unknown } = judgeProofs(rows, new Map(), new Map([[FILE, titles]]));
    expect([faults.length, unknown.length]).toEqual(isFault ? [1, 0] : [0, 1]);
  });
});

function passed(title: string): TestResult {
  return { title, outcome: 'passed' };
}
