import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeApiServer, startFakeApiServer } from './fake-api-server.ts';
import { wirePod } from './wire-node.ts';

const MAIN = new URL('../../agent/main.ts', import.meta.url).pathname;

let api: FakeApiServer;
let directory: string;

beforeEach(async () => {
  api = await startFakeApiServer();
  directory = mkdtempSync(join(tmpdir(), 'plimsoll-agent-'));
  writeFileSync(join(directory, 'token'), 'secret');
  writeFileSync(join(directory, 'ca.crt'), '');
});

afterEach(async () => {
  await api.close();
  rmSync(directory, { recursive: true });
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function run(args: readonly string[]): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  const env = {
    PATH: process.env['PATH'],
    PLIMSOLL_SERVER: api.url,
    PLIMSOLL_TOKEN_FILE: join(directory, 'token'),
    PLIMSOLL_CA_FILE: join(directory, 'ca.crt'),
  };
  const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  return { child, ended: new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err }))) };
}

const GOOD = [
  '--node-name=n1',
  '--source=summary',
  '--kubelet-url=http://127.0.0.1:9',
  '--health-host=127.0.0.1',
  '--health-port=0',
];

describe('node agent/main.ts', () => {
  test('--help lists every setting and ends well', async () => {
    const { code, out } = await run(['--help']).ended;
    expect(code).toBe(0);
    expect(out).toContain('--path-procfs');
    expect(out).toContain('--warm-up-ms');
  });

  test('bad configuration names every mistake at once and exits with 2', async () => {
    const { code, err } = await run(['--node-name=n1', '--period-near-ms=0', '--mod=Enforce']).ended;
    expect(code).toBe(2);
    expect(err).toContain('period.nearMs');
    expect(err).toContain('--mod: unknown flag, did you mean --mode?');
    expect(err).not.toContain('    at ');
  });

  test('a node whose cgroups cannot be found is refused with one sentence', async () => {
    const { code, out } = await run(['--node-name=n1', '--path-cgroupfs=/nowhere', '--log-format=text']).ended;
    expect(code).toBe(1);
    expect(out).toContain('cannot use source "kernel": no memory controller below /nowhere');
  });

  test('SIGTERM ends it with 0, with a watch open and a kubelet that does not answer', async () => {
    api.put('/api/v1/pods', wirePod({ name: 'a' }));
    const { child, ended } = run(GOOD);
    await new Promise<void>((resolve) =>
      child.stdout?.on('data', (chunk: Buffer) => chunk.includes('Agent started') && resolve()),
    );
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  });
});
