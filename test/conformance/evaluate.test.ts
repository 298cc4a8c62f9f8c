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

  test('an unknown kind is refused with the known ones', () => {
    const { status, stdout, stderr } = evaluate('nope', '');
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/nope.*quantity.*preemption/);
  });
});
