import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

/** Runs the program as `npm run evaluate` does. */
function evaluate(kind: string, input: string) {
  const program = fileURLToPath(new URL('./evaluate.ts', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, kind], { input, encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('evaluate', () => {
  test('answers cases, one a line', () => {
    const { status, stdout } = evaluate('quantity-arith', '{"a":"1","b":"500m","sum":"9"}\n[]\n');
    expect([status, stdout]).toEqual([
      0,
      '{"cmp":1,"sum":"1500m","sub":"500m"}\n{"failed":"cannot read the case: expected an object"}\n',
    ]);
  });

  test('says of a kind what no process runs, and of the others nothing', () => {
    expect(evaluate('episodes', '')).toEqual({
      status: 0,
      stdout: '',
      stderr:
        'note: episodes: no Plimsoll process runs KUBELET_START, diskLayout, kubeletPass; this kind only compares with Kubernetes\n',
    });
    expect(evaluate('priority', '').stderr).toBe(
      'note: priority: no Plimsoll process runs keepPriority; the webhook and the scheduler run the rest\n',
    );
    expect(evaluate('qos', '').stderr).toBe('');
  });

  test('lists the kinds with the processes that decide them', () => {
    const { status, stdout } = evaluate('--help', '');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ {2}qos +webhook, agent, scheduler$/m);
    expect(stdout).toMatch(/^ {2}kubelet-preemption +no process$/m);
  });

  test('an unknown kind is refused with the known ones', () => {
    const { status, stdout, stderr } = evaluate('nope', '');
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/nope.*quantity.*preemption/);
  });
});
