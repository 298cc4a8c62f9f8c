import { describe, expect, test } from 'vitest';
import { readAsPflag } from '#cli/pflag.ts';
import { createProgram, flagsBehind } from '#cli/program.ts';
import { runPlimsoll } from './run-plimsoll.ts';

const FLAGS = new Map([
  ...[['-n', '--namespace'], ['-o', '--output'], ['-f']].flatMap((names) => flag(names, true)),
  ...[['-A', '--all-namespaces'], ['-w', '--watch'], ['--no-headers']].flatMap((names) => flag(names, false)),
]);

function flag(names: readonly string[], takesValue: boolean) {
  return names.map((name) => [name, { takesValue, names }] as const);
}

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
    ['-A -A=false', ''],
    ['-A --all-namespaces=0', ''],
    ['--all-namespaces=F -A', '-A'],
    ['-n -A -A=false', '-n -A'],
    ['-n= pod', '-n = pod'],
    ['-A= pod', '-A= pod'],
  ])('%s is %s', (given, read) => {
    expect(readAsPflag(FLAGS, given.split(' ')).join(' ')).toBe(read);
  });

  test('an empty value remains', () => {
    expect(readAsPflag(FLAGS, ['-n', '', 'pod'])).toEqual(['-n', '', 'pod']);
  });
});

test('flags before a command are read so, too', () => {
  const io = { print: () => undefined, tell: () => undefined, exit: () => undefined } as never;
  expect(flagsBehind(createProgram('plimsoll', io), ['-n=team-a', 'why-not'])).toEqual(['why-not', '-n', 'team-a']);
});

test.each([
  ['-n a why-not -n b', 'why-not -n a -n b'],
  ['top -n a quotas', 'top quotas -n a'],
  ['-n a -A=false top --no-headers quotas -n b', 'top quotas -n a --no-headers -n b'],
  ['-n why-not why-not', 'why-not -n why-not'],
  ['why-not pod -n a', 'why-not pod -n a'],
  ['-n a -- why-not', '-n a -- why-not'],
])('%s is %s', (given, read) => {
  const io = { print: () => undefined, tell: () => undefined, exit: () => undefined } as never;
  expect(flagsBehind(createProgram('plimsoll', io), given.split(' ')).join(' ')).toBe(read);
});

const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'team-a' },
  spec: { containers: [] },
  status: { phase: 'Pending' },
};

test.each([['-n', 'team-a', '-n', ''], ['--namespace=']])('an empty namespace is none: %s', async (...flags) => {
  const { code, stdout } = await runPlimsoll(['why-not', ...flags, '-o=name', '-f', '-'], JSON.stringify(POD));
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
});

test.each([['-A'], ['-l=a=b']])(
  'a pod by its name is not looked for among others, as with kubectl: %s',
  async (flag) => {
    const { code, stderr } = await runPlimsoll(['why-not', 'web', flag, '-f', '-'], JSON.stringify(POD));
    const text = "error: the name of a pod excludes '--all-namespaces' and '--selector'\n";
    expect({ code, stderr }).toEqual({ code: 2, stderr: text });
  },
);

test.each([['-n=team-a'], ['-nteam-a'], ['-n', 'team-a'], ['--namespace=team-a'], ['-A=true']])(
  'why-not %s %s finds the pending pod',
  async (...flags) => {
    const { code, stdout } = await runPlimsoll(['why-not', ...flags, '-o=name', '-f', '-'], JSON.stringify(POD));
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'pod/web\n' });
  },
);
