import { spawn } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { processTree, stillAlive } from '#test/build/process-tree.ts';
import { untilAnswer } from '#test/build/waiting.ts';
import { endRuns, filesOf, playOnce, ROOT, start, startMain, untilIntroduced } from './sandbox-runs.ts';

const TIMEOUT_MS = 180_000;

afterAll(endRuns);

// Each has its own sandbox, so they may run at once.
describe.concurrent('npm start -- --once', () => {
  test.each(['systeminformation', 'node-os-utils'])(
    'measured with %s, as where /proc is missing: happens as planned, too',
    { timeout: TIMEOUT_MS },
    async (library) => {
      const { exitCode, result } = await playOnce('--measure-with', library);
      expect(exitCode).toBe(0);
      expect(result.evicted).toHaveLength(1);
    },
  );

  test('fails without the agent: the kernel kills, no pod is evicted', { timeout: TIMEOUT_MS }, async () => {
    const { exitCode, result } = await playOnce('--without', 'agent');
    expect(exitCode).toBe(1);
    expect(result).toMatchObject({ evicted: [], secondsToEvict: null });
  });

  test('fails without the scheduler: the pod that opted out is preempted', { timeout: TIMEOUT_MS }, async () => {
    const { exitCode, result } = await playOnce('--without', 'scheduler', '--without', 'webhook');
    expect(exitCode).toBe(1);
    expect(result.spared).toEqual([]);
    expect(result.preempted).toEqual([expect.objectContaining({ because: '' })]);
  });

  test('fails without the webhook: only the API server itself refuses', { timeout: TIMEOUT_MS }, async () => {
    const { exitCode, result } = await playOnce('--without', 'webhook');
    expect(exitCode).toBe(1);
    expect(result.refused[0]?.reason).not.toContain('admission webhook');
    expect(result.evicted).toHaveLength(1);
  });
});

describe('npm start ends with everything it started', () => {
  /** Waits until none of them is left; the test's own timeout is the deadline. */
  const untilGone = (pids: readonly number[]) =>
    untilAnswer(
      () => Promise.resolve(stillAlive(pids)),
      (left) => left.length === 0,
    );

  test('on Ctrl-C through npm', { timeout: TIMEOUT_MS }, async () => {
    const run = start('npm', 'start', '--', '--port', '0');
    await untilAnswer(
      () => Promise.resolve(run.output()),
      (text) => text.includes('grows by'),
    );
    const pids = processTree(run.pid);
    const url = /dashboard +http:\/\/127\.0\.0\.1:(\d+)/.exec(run.output());
    process.kill(-run.pid, 'SIGINT');
    await untilGone(pids);
    expect(filesOf(run)).toEqual([]);
    expect(await isListening(Number(url?.[1]))).toBe(false);
  });

  test('when npm alone gets the signal', { timeout: TIMEOUT_MS }, async () => {
    const run = start('npm', 'start', '--', '--port', '0', '--no-demo');
    await untilIntroduced(run);
    const pids = processTree(run.pid);
    process.kill(run.pid, 'SIGTERM');
    await untilGone(pids);
    expect(filesOf(run)).toEqual([]);
  });

  test('when the terminal goes away, with exit code 0', { timeout: TIMEOUT_MS }, async () => {
    const run = startMain('--port', '0', '--no-demo');
    await untilIntroduced(run);
    const pids = processTree(run.pid);
    process.kill(run.pid, 'SIGHUP');
    await untilGone(pids);
    expect(await run.exitCode).toBe(0);
    expect(filesOf(run)).toEqual([]);
  });

  test('when its parts hang', { timeout: TIMEOUT_MS }, async () => {
    const run = startMain('--port', '0', '--no-demo');
    await untilIntroduced(run);
    const [main = 0, ...parts] = processTree(run.pid);
    expect(parts.length).toBeGreaterThanOrEqual(2);
    for (const pid of parts) process.kill(pid, 'SIGSTOP');
    process.kill(main, 'SIGTERM');
    await untilGone([main, ...parts]);
    expect(filesOf(run)).toEqual([]);
  });

  test('while it is still starting', { timeout: TIMEOUT_MS }, async () => {
    const run = startMain('--port', '0', '--no-demo');
    const pids = await untilAnswer(
      () => Promise.resolve(processTree(run.pid)),
      ({ length }) => length > 1,
    );
    process.kill(run.pid, 'SIGTERM');
    await untilGone(pids);
    expect(filesOf(run)).toEqual([]);
    expect(run.output()).toBe('');
  });

  test('when it is killed outright, and the next start removes its files', { timeout: TIMEOUT_MS }, async () => {
    const run = startMain('--port', '0');
    await untilAnswer(
      () => Promise.resolve(run.output()),
      (text) => text.includes('grows by'),
    );
    const pids = processTree(run.pid);
    process.kill(run.pid, 'SIGKILL');
    await untilGone(pids);
    expect(filesOf(run)).toHaveLength(1);
    const next = spawn(process.execPath, ['sandbox/main.ts', '--port', '0', '--no-demo'], {
      cwd: ROOT,
      detached: true,
      env: { ...process.env, TMPDIR: run.temporary },
      stdio: 'ignore',
    });
    await untilAnswer(
      () => Promise.resolve(readdirSync(run.temporary)),
      (names) => names.some((name) => name.includes(`-${next.pid ?? 0}-`)),
    );
    expect(filesOf(run)).toHaveLength(1);
    next.kill('SIGTERM');
    await new Promise((resolve) => next.once('close', resolve));
  });
});

describe('npm start refuses in one line', () => {
  test.each([
    ['a flag that it does not know', ['--prot', '1'], 2, 'Unknown flag "--prot": did you mean "--port"\n'],
    [
      'a value that makes no sense',
      ['--seed', 'x'],
      2,
      'Bad value "x" of --seed: expected a whole number from 0 to 4294967295\n',
    ],
  ])('%s', async (_what, args, exitCode, output) => {
    const run = startMain(...args);
    expect(await run.exitCode).toBe(exitCode);
    expect(run.output()).toBe(output);
  });

  test('a port that is in use, and leaves nothing of what it had started', { timeout: TIMEOUT_MS }, async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const run = startMain('--port', String(port));
    expect(await run.exitCode).toBe(1);
    expect(run.output()).toMatch(new RegExp(`^cannot listen on "127\\.0\\.0\\.1:${port}": the port is in use.*\n$`));
    expect(filesOf(run)).toEqual([]);
    server.close();
  });

  test('a directory for temporary files that does not exist', { timeout: TIMEOUT_MS }, async () => {
    const run = startMain();
    rmSync(run.temporary, { recursive: true });
    expect(await run.exitCode).toBe(1);
    expect(run.output()).toMatch(/^cannot make a temporary directory in ".*": .*\n$/);
  });
});

test('npm start -- --help names every flag', async () => {
  const run = startMain('--help');
  expect(await run.exitCode).toBe(0);
  for (const flag of ['--port', '--no-demo', '--once', '--seed', '--without', '--measure-with', '--help'])
    expect(run.output()).toContain(flag);
});

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
