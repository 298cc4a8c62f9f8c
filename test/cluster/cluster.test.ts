import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { eventually } from '#test/contract/harness.ts';
import { findBinaries } from './binaries.ts';

const KEEPER = fileURLToPath(new URL('./keeper.ts', import.meta.url));
const RUNNER = `
  const { spawn } = await import('node:child_process');
  const keeper = spawn(process.execPath, [${JSON.stringify(KEEPER)}], { stdio: ['pipe', 'inherit', 'inherit'] });
  process.stderr.write('keeper ' + keeper.pid + '\\n');
  setInterval(() => undefined, 1000);
`;

describe.skipIf(findBinaries(process.env).kind === 'missing')('a control plane of our own', () => {
  test('leaves nothing behind when whoever started it is killed', async () => {
    const runner = spawn(process.execPath, ['--input-type=module', '-e', RUNNER], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [answer, keeper] = await Promise.all([firstLine(runner.stdout), firstLine(runner.stderr)]);
    const { ready } = JSON.parse(answer) as { ready: { kubeconfig: string } };
    const folder = dirname(ready.kubeconfig);
    expect(existsSync(folder)).toBe(true);
    runner.kill('SIGKILL');
    await eventually(() => {
      expect([existsSync(folder), existsSync(`/proc/${keeper.split(' ')[1] ?? ''}`)]).toEqual([false, false]);
      return Promise.resolve();
    });
  });
});

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stream })) return line;
  throw new Error('the process said nothing');
}
