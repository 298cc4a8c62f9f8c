import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AgentApi, agentApi } from './agent-api.ts';
import { wirePod, wireSummary } from './wire-node.ts';
import { eventually } from '#test/build/waiting.ts';

const MAIN = new URL('../../agent/main.ts', import.meta.url).pathname;

let api: AgentApi;
let directory: string;

beforeEach(async () => {
  api = await agentApi();
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

function run(
  args: readonly string[],
  server = api.url,
): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  const env = {
    PATH: process.env['PATH'],
    PLIMSOLL_SERVER: server,
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

describe('node agent/main.ts', { timeout: 60_000 }, () => {
  test('--help lists every setting and exits with 0', async () => {
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
    await started(child);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  });

  test('SIGTERM ends it with 0 while an API server takes every connection and answers nothing', async () => {
    const silent = createServer((socket) => socket.resume());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { child, ended } = run(GOOD, `http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    const [line, asked] = await Promise.all([started(child), once(silent, 'connection')]);
    const [, url = ''] = /"health":"([^"]+)"/.exec(line) ?? [];
    // Without a word from the API server it watches and holds still; the kubelet's address answers nothing either.
    await eventually(
      async () => expect(await (await fetch(`${url}/metrics`)).text()).toContain('plimsoll_source_success{'),
      30_000,
    );
    child.kill('SIGTERM');
    expect({ code: (await ended).code, wasAsked: asked.length > 0 }).toEqual({ code: 0, wasAsked: true });
    await new Promise((resolve) => silent.close(resolve));
  });

  test('a caller that holds every connection of its port keeps neither probes nor monitoring out', async () => {
    const { child, ended } = run(GOOD);
    const [, url = ''] = /"health":"([^"]+)"/.exec(await started(child)) ?? [];
    const held = Array.from({ length: 100 }, () => connect(Number(new URL(url).port), '127.0.0.1'));
    const closed = held.map((socket) => once(socket.on('error', () => undefined).resume(), 'close'));
    await Promise.all(closed.slice(0, -16));
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    expect(held.slice(-15).filter(({ closed: isClosed }) => isClosed)).toEqual([]);
    for (const socket of held) socket.destroy();
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  });

  test('SIGTERM ends it with 0 in the middle of an eviction that is not answered', async () => {
    const kubelet = createHttpServer((_request, response) =>
      response.end(JSON.stringify(wireSummary(100, 1000, { hog: 600 }))),
    );
    await new Promise<void>((resolve) => kubelet.listen(0, '127.0.0.1', resolve));
    api.put('/api/v1/namespaces', { metadata: { name: 'default' } });
    api.put('/api/v1/pods', wirePod({ name: 'hog', requestMiB: 100 }));
    const unanswered = api.hangEvictions();
    const url = `http://127.0.0.1:${(kubelet.address() as AddressInfo).port}`;
    const flags = ['--mode=Enforce', '--warm-up-ms=0', `--kubelet-url=${url}`];
    const { child, ended } = run([...GOOD.filter((flag) => !flag.startsWith('--kubelet-url')), ...flags]);
    await unanswered;
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
    kubelet.closeAllConnections();
    kubelet.close();
  });
});

/** The line that says so. */
function started(child: ChildProcess): Promise<string> {
  return new Promise((resolve) =>
    child.stdout?.on('data', (chunk: Buffer) => chunk.includes('Agent started') && resolve(chunk.toString())),
  );
}
