import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { firstLine } from './support/first-line.ts';
import { identityOf } from './support/run/process-identity.ts';
import { leavePlace, takePlace } from './support/run/sole-holder.ts';

const MODULE = fileURLToPath(new URL('./support/run/sole-holder.ts', import.meta.url));
/** Takes the place on request, says who has it then, and stays. */
const CONTENDER = `
  const { takePlace } = await import(${JSON.stringify(MODULE)});
  process.stdin.once('data', () => console.log(takePlace(process.argv[1])?.pid ?? process.pid));
  console.log('ready');
`;
const CONTENDERS = 6;

describe.skipIf(!existsSync('/proc/self/stat'))('a place that one process at a time holds', () => {
  let folder: string;
  let place: string;
  const started: ChildProcess[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
    place = join(folder, 'place');
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map(killed));
    rmSync(folder, { recursive: true });
  });

  /** A process that takes the place when asked; answers who has it. */
  async function contender(): Promise<() => Promise<number>> {
    const child = spawn(process.execPath, ['--input-type=module', '-e', CONTENDER, place], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    started.push(child);
    await firstLine(child.stdout);
    return async () => {
      child.stdin.write('now\n');
      return Number(await firstLine(child.stdout));
    };
  }

  test('is taken, and left without a trace', () => {
    expect(takePlace(place)).toBeUndefined();
    leavePlace(place);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('is refused to all others while the holder lives, which is named', async () => {
    const take = await contender();
    const holder = await take();
    expect(takePlace(place)).toEqual(identityOf(holder));
    leavePlace(place);
    expect(takePlace(place)).toEqual(identityOf(holder));
    expect(readdirSync(folder)).toEqual(['place']);
  });

  test('is free again when the holder was killed', async () => {
    const take = await contender();
    await take();
    await Promise.all(started.map(killed));
    expect(takePlace(place)).toBeUndefined();
  });

  test('goes to exactly one of many, also where a dead one is in the way', async () => {
    mkdirSync(place);
    writeFileSync(join(place, `${process.pid}-1`), '');
    const takes = await Promise.all(Array.from({ length: CONTENDERS }, contender));
    const holders = await Promise.all(takes.map((take) => take()));
    expect(new Set(holders).size).toBe(1);
    expect(started.map(({ pid }) => pid)).toContain(holders[0]);
  });

  test('is not taken from what is not ours', () => {
    mkdirSync(place);
    writeFileSync(join(place, 'precious'), '');
    expect(() => takePlace(place)).toThrow(`cannot take ${place}: it holds "precious", which names no process`);
    expect(readdirSync(place)).toEqual(['precious']);
  });
});

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
