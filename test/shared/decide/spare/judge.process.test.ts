import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

/** Two seconds each on a machine that has nothing else to do. */
const PATIENT = { timeout: 180_000 };
const PROGRAM = join(import.meta.dirname, 'lending-program.ts');

interface Sums {
  readonly kind: string;
  readonly nodeDays: number;
  readonly doneGiBh: number;
  readonly wastedGiBh: number;
  readonly allocatableGiBh: number;
  readonly evictions: number;
  readonly harmSeconds: number;
  readonly writes: number;
}

/** A day of one node of each kind, by kind. */
async function judged(kinds: readonly string[], args: readonly string[] = []): Promise<ReadonlyMap<string, Sums>> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-judge-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const sums = join(folder, 'sums.ndjson');
  const judge = ['judge.py', '--days', '1', '--nodes', '1', '--seed', '3', '--kinds', kinds.join(), '--policies', ''];
  const command = ['--cmd', `${process.execPath} ${PROGRAM}`, '--json', sums];
  const cwd = join(import.meta.dirname, 'judge');
  const env = { ...process.env, SPARE_DIGESTS: folder };
  await promisify(execFile)('python3', ['-B', ...judge, ...command, ...args], { cwd, env });
  const rows = readFileSync(sums, 'utf8').trim().split('\n');
  return new Map(rows.map((row) => JSON.parse(row) as Sums).map((each) => [each.kind, each]));
}

test(
  'half of what a calm node has is put to work, no spare pod is evicted and no important one is harmed',
  PATIENT,
  async () => {
    for (const [kind, sums] of await judged(['steady', 'deploys'], ['--recheck'])) {
      const { doneGiBh, allocatableGiBh, evictions, harmSeconds, writes } = sums;
      expect({ kind, evictions, harmSeconds }).toEqual({ kind, evictions: 0, harmSeconds: 0 });
      expect(doneGiBh / allocatableGiBh, kind).toBeGreaterThan(0.5);
      expect(writes, kind).toBeLessThan(70);
    }
  },
);

test('bursts cost spare pods little work, and important pods nothing', PATIENT, async () => {
  for (const [kind, sums] of await judged(['bursty', 'mixed'])) {
    expect(sums.harmSeconds, kind).toBeLessThanOrEqual(1);
    expect(sums.wastedGiBh / (sums.doneGiBh + sums.wastedGiBh), kind).toBeLessThan(0.04);
    expect(sums.doneGiBh / sums.allocatableGiBh, kind).toBeGreaterThan(0.35);
  }
});

test('an agent that restarts every six hours lends nine tenths of it by its digest', PATIENT, async () => {
  const whole = (await judged(['steady'])).get('steady');
  const restarted = (await judged(['steady'], ['--restart-hours', '6'])).get('steady');
  expect(restarted?.harmSeconds).toBe(0);
  expect(restarted?.doneGiBh).toBeGreaterThan(0.9 * (whole?.doneGiBh ?? Infinity));
});
