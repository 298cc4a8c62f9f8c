import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

/**
 * Stands in for npm: each suite has one passing file, and those that the plan names fail on the runs that it gives. A
 * suite ends with the code 0, failed tests included, or with that of the plan: \`first\`, in the second run \`then\`. A
 * command fails where a file \`broken-NAME\` is, and ends as one that \`timeout\` stops where \`overdue-NAME\` is. The
 * file \`hook.test.ts\` fails before its test, which is skipped.
 */
const NPM = `#!/usr/bin/env node
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs');
const report = process.env.PLIMSOLL_TEST_REPORT;
appendFileSync('calls', process.argv.slice(2).join(' ') + '\\n');
if (report === undefined) process.exit(existsSync('broken-' + process.argv.at(-1)) ? 1 : existsSync('overdue-' + process.argv.at(-1)) ? 124 : 0);
console.log("said by " + process.argv.at(-1));
const asked = process.argv.slice(2).filter((word) => word.endsWith('.test.ts'));
const plan = process.argv.includes('cluster') ? JSON.parse(readFileSync('plan.json', 'utf8')) : {};
const ranBefore = asked.length > 0;
const files = asked.length > 0 ? asked : ['sound.test.ts', ...Object.keys(plan).filter((name) => name.endsWith('.test.ts'))];
const failing = files.filter((file) => (plan[file] ?? []).includes(ranBefore ? 2 : 1));
const results = files.map((name) => {
  const status = failing.includes(name) ? 'failed' : 'passed';
  const ofTest = name === 'hook.test.ts' && status === 'failed' ? 'skipped' : status;
  return { name, status, message: '', startTime: 0, endTime: 61_000, assertionResults: [{ status: ofTest, fullName: 'case of ' + name, failureMessages: ['why'] }] };
});
const skipped = failing.includes('hook.test.ts') ? 1 : 0;
const counts = { numPassedTests: files.length - failing.length, numFailedTests: failing.length - skipped, numPendingTests: skipped, numTodoTests: 0 };
writeFileSync(report, JSON.stringify({ testResults: results, ...counts }));
process.exit(plan[ranBefore ? 'then' : 'first'] ?? 0);
`;

let checkout = '';
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'ci-run-'));
});
afterEach(() => {
  rmSync(checkout, { recursive: true });
});

/** Runs `.ci/run` where the cluster suite has these files, each with the runs (1, 2) in which it fails. */
function ciRun(plan: Readonly<Record<string, readonly number[] | number>>) {
  cpSync('.ci', join(checkout, '.ci'), { recursive: true });
  for (const [file, text] of Object.entries({ '.ci/packages': '#!/bin/sh\n', npm: NPM })) {
    writeFileSync(join(checkout, file), text);
    chmodSync(join(checkout, file), 0o755);
  }
  writeFileSync(join(checkout, 'plan.json'), JSON.stringify(plan));
  // The report of the run that this test belongs to is not that of these suites.
  const env = { ...process.env, PATH: `${checkout}:${process.env['PATH']}`, PLIMSOLL_TEST_REPORT: undefined };
  const { status, stdout } = spawnSync(join(checkout, '.ci/run'), { env, encoding: 'utf8' });
  const calls = execFileSync('grep', ['-c', 'project cluster', join(checkout, 'calls')], { encoding: 'utf8' });
  return { status, stdout, clusterRuns: Number(calls), summary: stdout.trimEnd().split('\n').at(-1) };
}

// Five commands, and one sound file in each of eight suites.
const SOUND = 13;

describe('.ci/run', () => {
  test('counts every suite and command', () => {
    expect(ciRun({})).toMatchObject({ status: 0, clusterRuns: 1, summary: `${SOUND} passed, 0 failed` });
  });

  test.each(['planes', 'queues', 'cluster'])('counts what runs beside the rest, %s, and prints it', (project) => {
    expect(ciRun({}).stdout).toContain(
      `=== npm run test:cluster -- --project ${project}, beside what stands above\nsaid by ${project}\n`,
    );
  });

  test.each(['cluster:build', 'check'])('fails where a command beside the rest fails, %s', (name) => {
    writeFileSync(join(checkout, `broken-${name}`), '');
    const run = ciRun({});
    expect(run).toMatchObject({ status: 1, summary: `${SOUND - 1} passed, 1 failed` });
    expect(run.stdout).toContain(`\nFAILED: npm run ${name}\n`);
  });

  test('says of a command that it was stopped after its time', () => {
    writeFileSync(join(checkout, 'overdue-check'), '');
    expect(ciRun({}).stdout).toContain('\nFAILED: npm run check, not over in its time\n');
  });

  test('says of a suite that it was stopped after its time', () => {
    expect(ciRun({ first: 124 }).stdout).toContain('cluster (exit code 124, not over in its time, not by a test)');
  });

  test('starts the lanes when the check is over', () => {
    const { stdout } = ciRun({});
    expect(stdout.split('=== npm run test:cluster')[0]).toContain('=== npm run check,');
  });

  test('lists the slowest files', () => {
    expect(ciRun({}).stdout).toMatch(/=== the slowest files, of \d+ minutes in all\n {2}61 s {2}sound.test.ts\n/);
  });

  test('runs a failed file once more, and lists it', () => {
    const run = ciRun({ 'rare.test.ts': [1] });
    expect(run).toMatchObject({ status: 0, clusterRuns: 2, summary: `${SOUND + 1} passed, 0 failed` });
    expect(run.stdout).toContain('FLAKY: case of rare.test.ts\nwhy');
    expect(run.stdout).toContain('\n1 flaky: failed once, passed alone, counted as passed\n');
  });

  test('speaks of no flaky test where there was none', () => {
    expect(ciRun({}).stdout).not.toContain('flaky');
  });

  test('fails for what failed beside the tests, also where the failed file passes alone', () => {
    const run = ciRun({ 'rare.test.ts': [1], first: 1 });
    expect(run).toMatchObject({ status: 1, clusterRuns: 2, summary: `${SOUND + 1} passed, 1 failed` });
    expect(run.stdout).toContain('FAILED: npm run test:cluster -- --project cluster (exit code 1, not by a test)');
  });

  test('does not call a file flaky whose second run fails beside the tests', () => {
    const run = ciRun({ 'rare.test.ts': [1], then: 1 });
    expect(run).toMatchObject({ status: 1, clusterRuns: 2, summary: `${SOUND} passed, 1 failed` });
  });

  test('fails where a file fails twice', () => {
    const run = ciRun({ 'broken.test.ts': [1, 2], 'rare.test.ts': [1] });
    expect(run).toMatchObject({ status: 1, clusterRuns: 2, summary: `${SOUND} passed, 2 failed` });
    expect(run.stdout).toContain('FAILED: case of broken.test.ts\nwhy');
  });

  test('counts a file that fails before its tests', () => {
    const run = ciRun({ 'hook.test.ts': [1, 2] });
    expect(run).toMatchObject({ status: 1, clusterRuns: 2, summary: `${SOUND} passed, 1 failed, 1 skipped` });
    expect(run.stdout).toContain('FAILED: hook.test.ts');
  });

  test('names what failed once more at the end, where a long log is cut', () => {
    const lines = ciRun({ 'broken.test.ts': [1, 2] })
      .stdout.trimEnd()
      .split('\n');
    expect(lines.slice(-3)).toEqual(['FAILED: case of broken.test.ts', '', `${SOUND} passed, 1 failed`]);
  });

  test('repeats nothing where three files fail', () => {
    const run = ciRun({ 'a.test.ts': [1], 'b.test.ts': [1], 'c.test.ts': [1] });
    expect(run).toMatchObject({ status: 1, clusterRuns: 1, summary: `${SOUND} passed, 3 failed` });
  });
});
