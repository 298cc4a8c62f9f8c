import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { sweepDeadRuns } from '#test/cluster/support/run/end-run.ts';
import { textOf } from '#test/cluster/support/run/process-identity.ts';
import { listRuns, type Run } from '#test/cluster/support/run/run-folder.ts';
import { markedProcesses } from '#test/cluster/support/run/run-processes.ts';
import { findGuestTools, neededTools, whyNoGuest } from '#test/cluster/guest/image/find-guest-tools.ts';
import { runInGuest } from './run-in-guest.ts';
import { isLostToEmulation, MAX_BOOTS } from './start-qemu.ts';
import { eventually } from '#test/build/waiting.ts';

const WITHIN = 60_000;
const TEST = { timeout: 180_000 };
const RUNNER = `
  const { findGuestTools, neededTools } = await import(${JSON.stringify(import.meta.resolve('../image/find-guest-tools.ts'))});
  const { runInGuest } = await import(${JSON.stringify(import.meta.resolve('./run-in-guest.ts'))});
  await runInGuest(neededTools(findGuestTools()), { command: ['sleep', '600'], timeoutMs: 600_000 });
`;

const tools = findGuestTools();
const reason = whyNoGuest(tools);

describe.skipIf(reason !== undefined)(`a guest${reason ?? ''}`, () => {
  test('brings back what a program prints and how it ends, and leaves nothing behind', TEST, async () => {
    const script = 'console.log(process.env.WORD); console.error("aside"); process.exitCode = 3';
    const program = { command: ['node', '-e', script], env: { WORD: "it's" }, timeoutMs: 120_000 };
    const { status, stdout, console } = await runInGuest(neededTools(tools), program);
    expect([status, stdout]).toEqual([3, "it's\n"]);
    expect(console).toContain('aside');
    expect(guestsOf(process.pid)).toEqual([]);
  });

  test(
    'a program that fails is run again where one that it started was lost to the emulation, and its last end counts',
    TEST,
    async () => {
      const told: string[] = [];
      const command = ['sh', '-c', `sh -c 'kill -SEGV $$' 2> /dev/null & wait; exit 3`];
      const { status, console } = await runInGuest(
        neededTools(tools),
        { command, timeoutMs: 120_000 },
        { write: (text) => told.push(text) },
      );
      expect([status, told.length]).toEqual([3, MAX_BOOTS - 1]);
      const said = [console, 'agent did not start (SIGTRAP): ', 'Trace/breakpoint trap', 'GUEST-STATUS 133\n'];
      expect([...said, 'GUEST-STATUS 1\n', 'GUEST-STATUS 13\n'].map(isLostToEmulation)).toEqual([
        ...said.map(() => true),
        ...[false, false],
      ]);
    },
  );

  test('a guest that stands still is booted again while there is time', TEST, async () => {
    const command = ['sh', '-c', 'kill -STOP -1; sleep 600'];
    const program = { command, timeoutMs: 150_000, stillMs: 10_000 };
    const write = (text: string): never => {
      throw new Error(text);
    };
    await expect(runInGuest(neededTools(tools), program, { write })).rejects.toThrow('a guest is started again');
  });

  test('a program that takes too long is ended with its guest', TEST, async () => {
    const run = runInGuest(neededTools(tools), { command: ['sleep', '600'], timeoutMs: 100 });
    await expect(run).rejects.toThrow('the guest did not come to its end');
    expect(guestsOf(process.pid)).toEqual([]);
  });

  test('ends when the process that started it is killed', TEST, async () => {
    const runner = spawn(process.execPath, ['--input-type=module', '-e', RUNNER], { stdio: 'inherit' });
    const folder = await eventually(() => {
      const [run] = guestsOf(runner.pid ?? 0);
      const processes = run === undefined ? [] : markedProcesses(run.folder);
      expect(processes.map((pid) => textOf(`/proc/${pid}/comm`))).toEqual([expect.stringMatching(/^qemu/)]);
      return run?.folder ?? '';
    }, WITHIN);
    runner.kill('SIGKILL');
    await eventually(() => expect(markedProcesses(folder)).toEqual([]), WITHIN);
    await sweepDeadRuns();
    expect(existsSync(folder)).toBe(false);
  });
});

function guestsOf(pid: number): readonly Run[] {
  return listRuns().filter(({ purpose, owner }) => purpose === 'guest' && owner.pid === pid);
}
