import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';

const VITEST = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url));
const CONFIG = fileURLToPath(new URL('fixtures/vitest.config.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'reporters-'));
const REPORT = join(folder, 'report.json');
afterAll(() => rmSync(folder, { recursive: true }));

interface Run {
  readonly code: number;
  /** Failed tests that the report counts; `undefined` without a report. */
  readonly failed: number | undefined;
}

/** Runs a fixture of one failing test with the reporters of all suites. */
function runFixture(name: string, { report, coverage }: { report: boolean; coverage?: boolean }): Promise<Run> {
  const parameters = [VITEST, 'run', '--config', CONFIG, name, ...(coverage === true ? ['--coverage'] : [])];
  const env = {
    ...process.env,
    PLIMSOLL_COVERAGE: join(folder, 'coverage'),
    PLIMSOLL_TEST_REPORT: report ? REPORT : undefined,
  };
  return new Promise((resolve) => {
    execFile(process.execPath, parameters, { env, cwd: folder }, (error) => {
      const counted = report ? (JSON.parse(readFileSync(REPORT, 'utf8')) as { numFailedTests: number }) : undefined;
      resolve({ code: error === null ? 0 : Number(error.code), failed: counted?.numFailedTests });
    });
  });
}

describe('a run with a failed test', () => {
  test('ends with 1 for people', async () => {
    expect(await runFixture('failing', { report: false })).toEqual({ code: 1, failed: undefined });
  });

  test('ends with 0 for a caller that counts the tests in a report', async () => {
    expect(await runFixture('failing', { report: true })).toEqual({ code: 0, failed: 1 });
  });

  test('ends with 1 for such a caller where coverage is below its threshold, too', async () => {
    expect(await runFixture('failing', { report: true, coverage: true })).toEqual({ code: 1, failed: 1 });
  });

  test('ends with 1 for such a caller where an error came from outside the tests, too', async () => {
    expect(await runFixture('outside', { report: true })).toEqual({ code: 1, failed: 1 });
  });
});

test('a report has why a hook failed', async () => {
  await runFixture('hook', { report: true });
  const { testResults } = JSON.parse(readFileSync(REPORT, 'utf8')) as { testResults: readonly { message: string }[] };
  expect(testResults).toMatchObject([
    { status: 'failed', message: expect.stringContaining('the guest did not come up') as string },
  ]);
});
