import { describe, expect, test } from 'vitest';
import { readAsPflag } from '#cli/pflag.ts';
import { createProgram, flagsBehind } from '#cli/program.ts';
import { runPlimsoll } from './run-plimsoll.ts';

const FLAGS = new Map([
  ...['-n', '--namespace', '-o', '--output', '-f'].map((flag) => [flag, true] as const),
  ...['-A', '--all-namespaces', '-w', '--watch', '--no-headers'].map((flag) => [flag, false] as const),
]);

describe('readAsPflag', () => {
  test.each([
    ['-n=team-a', '-n team-a'],
    ['-nteam-a', '-n team-a'],
    ['-n team-a', '-n team-a'],
    ['-n=a=b', '-n a=b'],
    ['-o=json', '-o json'],
    ['-ojson', '-o json'],
    ['-Aw', '-A -w'],
    ['-Awn=x', '-A -w -n x'],
    ['-Awn x', '-A -w -n x'],
    ['-wojsonpath={.items[*]}', '-w -o jsonpath={.items[*]}'],
    ['-w=false', ''],
    ['-w=true', '-w'],
    ['-Aw=0', '-A'],
    ['-w=maybe', '-w=maybe'],
    ['--watch=false', ''],
    ['--watch=T', '--watch'],
    ['--watch=maybe', '--watch=maybe'],
    ['--no-headers=false', ''],
    ['--namespace=x --output json', '--namespace=x --output json'],
    ['--namespace -w=false', '--namespace -w=false'],
    ['-n -o=json', '-n -o=json'],
    ['-x=1 -Ax', '-x=1 -Ax'],
    ['-f - pod', '-f - pod'],
    ['a -- -n=x', 'a -- -n=x'],
    ['-namespace x', '-n amespace x'],
  ])('%s is %s', (given, read) => {
    expect(readAsPflag(FLAGS, given.split(' ')).join(' ')).toBe(read);
  });

  test('an empty value remains', () => {
    expect(readAsPflag(FLAGS, ['-n=', 'pod'])).toEqual(['-n', '', 'pod']);
  });
});

test('flags before a command are read so, too', () => {
  const io = { print: () => undefined, tell: () => undefined, exit: () => undefined } as never;
  expect(flagsBehind(createProgram('plimsoll', io), ['-n=team-a', 'why-not'])).toEqual(['why-not', '-n', 'team-a']);
});

const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'team-a' },
  spec: { containers: [] },
  status: { phase: 'Pending' },
};

test.each([['-n=team-a'], ['-nteam-a'], ['-n', 'team-a'], ['--namespace=team-a'], ['-A=true']])(
  'why-not %s %s finds the pending pod',
  async (...flags) => {
    const { code, stdout } = await runPlimsoll(['why-not', ...flags, '-o=name', '-f', '-'], JSON.stringify(POD));
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'pod/web\n' });
  },
);
