import { describe, expect, test } from 'vitest';
import { createProgram, flagsBehind } from '#cli/program.ts';
import { runPlimsoll } from './run-plimsoll.ts';

const MISTAKES: readonly (readonly [readonly string[], string])[] = [
  [['reviw'], "error: unknown command 'reviw'\n(Did you mean review?)\n"],
  [['review', '--ass', 'x'], "error: unknown option '--ass'\n(Did you mean --as?)\n"],
  [['review'], "error: required option '-f, --filename <manifests...>' not specified\n"],
  [['review', '-f', 'x', '--as-group', 'y'], "error: option '--as-group' needs '--as'\n"],
  [['simulate', 'preempt'], "error: one of '--pod' and '--pod-file' is needed\n"],
  [['simulate', 'preempt', '--pod', 'x', '--pod-file', 'y'], "error: '--pod' and '--pod-file' exclude each other\n"],
  [['simulate', 'preempt', '-f', '-', '--pod-file', '-'], 'error: standard input can be read once only\n'],
  [['simulate', 'pressure', '--available', '1'], "error: required option '--node <name>' not specified\n"],
  [
    ['simulate', 'pressure', '--node', 'x', '--available', '1', '-f', '-', '--usage', '-'],
    'error: standard input can be read once only\n',
  ],
  [
    ['completion', 'tcsh'],
    "error: command-argument value 'tcsh' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish, powershell, kubectl.\n",
  ],
  [['mode', 'enforce'], "error: required option '-l, --node-selector <labels>' not specified\n"],
  [
    ['mode', 'enforce', '-l', 'pool=batch', '--dry-run=maybe'],
    "error: option '--dry-run <strategy>' argument 'maybe' is invalid. Allowed choices are none, client, server.\n",
  ],
  [
    ['uninstall'],
    "error: plimsoll does not remove its manifests: '--dry-run=client' lists them, '--clean-up' removes what they leave; " +
      'docs/guides/install.md has the commands\n',
  ],
  [
    ['top', 'nodes', '-o', 'jsonpath={.items[}'],
    "error: option '-o, --output <format>' argument 'jsonpath={.items[}' is invalid. " +
      'cannot read the path ".items["\n',
  ],
  [
    ['explain', 'deploy/web', '-f', '-'],
    'error: expected pod NAME, quota NAME, disruption NAME or TYPE/NAME, got deploy/web\n',
  ],
  [
    ['top', 'nodes', '--sort-by', '{.metadata[}'],
    "error: option '--sort-by <path>' argument '{.metadata[}' is invalid. cannot read the path \"{.metadata[}\"\n",
  ],
  [['top', 'nodes', '-w', '-f', 'x'], "error: '--watch' and '--filename' exclude each other: files do not change\n"],
  [['top', 'nodes', '--as-group', 'x'], "error: option '--as-group' needs '--as'\n"],
  [
    ['top', 'nodes', '-l', 'pool=batch,in (x)'],
    "error: option '-l, --selector <labels>' argument 'pool=batch,in (x)' is invalid. cannot read \"in (x)\": " +
      'expected KEY=VALUE, KEY!=VALUE, KEY in (VALUE,…), KEY notin (VALUE,…), KEY or !KEY\n',
  ],
  [['explain', 'pod'], 'error: expected pod NAME, quota NAME, disruption NAME or TYPE/NAME, got pod\n'],
  [
    ['explain'],
    "error: missing required argument 'type'; usage: plimsoll explain [options] <type> [name]; see plimsoll explain --help\n",
  ],
  [
    ['mode', 'set', 'queue/root'],
    "error: missing required argument 'settings'; " +
      'usage: plimsoll mode set [options] <object> <settings...>; see plimsoll mode set --help\n',
  ],
  [['simulate', 'preempts'], "error: unknown command 'preempts'\n(Did you mean preempt?)\n"],
  [
    ['review', '-f', 'x', '-o', 'xml'],
    "error: option '-o, --output <format>' argument 'xml' is invalid. " +
      'Allowed choices are table, wide, name, json, yaml, jsonpath=, custom-columns=.\n',
  ],
];

const COMMANDS = [
  'check',
  'completion',
  'dashboard',
  'disruptions',
  'evict',
  'explain',
  'init',
  'mode',
  'queue',
  'review',
  'simulate',
  'snapshot',
  'top',
  'uninstall',
  'version',
  'why-not',
];
const NESTED = [
  'mode dry-run',
  'mode enforce',
  'simulate preempt',
  'simulate pressure',
  'simulate rescheduling',
  'simulate spare',
  'top nodes',
  'top pods',
  'top priorities',
  'top queues',
  'top spare',
  'top quotas',
];
const PROGRAM = createProgram('plimsoll', {
  standardInput: process.stdin,
  print: () => undefined,
  tell: () => undefined,
  exit: () => undefined,
  now: () => 0,
});
const HELPED = [...COMMANDS, ...NESTED].map((name) => `${name} --help`);

describe('usage', () => {
  test.each(MISTAKES)('%j is answered with what is wrong, exit code 2', async (args, stderr) => {
    expect(await runPlimsoll(args)).toEqual({ code: 2, stdout: '', stderr });
  });

  test('no command at all is answered with the list of commands', async () => {
    const { code, stdout, stderr } = await runPlimsoll([]);
    const names = stderr
      .split('Commands:\n')[1]
      ?.match(/^ {2}[a-z-]+/gm)
      ?.map((name) => name.trim());
    expect({ code, stdout, names }).toEqual({ code: 2, stdout: '', names: [...COMMANDS, 'help'] });
  });

  test.each([...HELPED, '--help', 'help review'].map((line) => [line]))('%s fits into 80 columns', async (line) => {
    const { code, stdout, stderr } = await runPlimsoll(line.split(' '));
    expect({ code, stderr, isUsage: stdout.startsWith('Usage: plimsoll ') }).toEqual({
      code: 0,
      stderr: '',
      isUsage: true,
    });
    expect(stdout.split('\n').filter((each) => each.length > 80)).toEqual([]);
  });

  test('version', async () => {
    const { code, stdout } = await runPlimsoll(['version']);
    expect({
      code,
      isVersion: /^plimsoll \d+\.\d+\.\d+ \(commit \S+, Node\.js \d+\.\d+\.\d+\)\n$/.test(stdout),
    }).toEqual({
      code: 0,
      isVersion: true,
    });
  });

  test.each([
    ['top nodes', 'top nodes'],
    ['--context a top nodes', 'top nodes --context a'],
    ['-A --kubeconfig=f -o json disruptions', 'disruptions -A --kubeconfig=f -o json'],
    ['--as alice --as-group=dev --no-headers -w top nodes', 'top nodes --as alice --as-group=dev --no-headers -w'],
    ['-l pool=batch --sort-by .state top nodes', 'top nodes -l pool=batch --sort-by .state'],
    ['-n team-a explain pod web -- -x', 'explain -n team-a pod web -- -x'],
    ['--help', '--help'],
    ['--unknown top', '--unknown top'],
    ['--context', '--context'],
    ['top nodes --context a', 'top nodes --context a'],
  ])('flags in front of the command: %s is %s', (given, read) => {
    expect(flagsBehind(PROGRAM, given.split(' '))).toEqual(read.split(' '));
  });

  test.each([
    ['soon', 'Expected a time such as 10s or 2m, or 0.'],
    ['-1s', 'Expected a time such as 10s or 2m, or 0.'],
  ])('--request-timeout=%s is refused', async (time, message) => {
    const { code, stderr } = await runPlimsoll(['top', 'nodes', `--request-timeout=${time}`]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
