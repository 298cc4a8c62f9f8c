import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { leakedSince } from './open-resources.ts';

const VITEST = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const CONFIG = fileURLToPath(new URL('fixtures/vitest.config.ts', import.meta.url));

interface Run {
  readonly code: number;
  readonly said: string;
}

function runFixture(name: string): Promise<Run> {
  const parameters = [VITEST, 'run', '--config', CONFIG, name];
  const env = { ...process.env, NO_COLOR: '1' };
  return new Promise((resolve) => {
    execFile(process.execPath, parameters, { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr });
    });
  });
}

describe('a test file that leaves something open', () => {
  let leaking: Run;
  beforeAll(async () => {
    leaking = await runFixture('leaking');
  });

  test.each(['1 listener', '1 child process', 'temporary file forgotten.txt'])('fails for %s', (what) => {
    expect(leaking.code).toBe(1);
    const [line = ''] = /it leaves behind .*/.exec(leaking.said) ?? [];
    expect(line).toContain(what);
  });

  test('passes where everything is closed', async () => {
    expect(await runFixture('clean')).toMatchObject({ code: 0 });
  });
});

test('what was open before the tests is no leak', () => {
  const before = new Map([['socket', 2]]);
  expect(leakedSince(before, new Map([['socket', 2]]))).toEqual([]);
  expect(leakedSince(before, new Map([['socket', 4]]))).toEqual(['2 sockets']);
  expect(leakedSince(new Map(), new Map([['child process', 2]]))).toEqual(['2 child processes']);
});
