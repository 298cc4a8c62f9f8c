import { describe, expect, test } from 'vitest';
import { runPlimsoll } from './run-plimsoll.ts';

const MISTAKES: readonly (readonly [readonly string[], string])[] = [
  [['reviw'], "error: unknown command 'reviw'\n(Did you mean review?)\n"],
  [['review', '--ass', 'x'], "error: unknown option '--ass'\n(Did you mean --as?)\n"],
  [['review'], "error: required option '-f, --filename <manifests...>' not specified\n"],
  [['review', '-f', 'x', '--as-group', 'y'], "error: option '--as-group' needs '--as'\n"],
  [
    ['review', '-f', 'x', '-o', 'xml'],
    "error: option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are table, json, yaml.\n",
  ],
];

describe('usage', () => {
  test.each(MISTAKES)('%j is answered with what is wrong, exit code 2', async (args, stderr) => {
    expect(await runPlimsoll(args)).toEqual({ code: 2, stdout: '', stderr });
  });

  test('no command at all is answered with the list of commands', async () => {
    const { code, stdout, stderr } = await runPlimsoll([]);
    expect({ code, stdout, names: /^ {2}review .*\n {2}version /m.test(stderr) }).toEqual({
      code: 2,
      stdout: '',
      names: true,
    });
  });

  test.each([['--help'], ['review --help'], ['help review']])('%s fits into 80 columns', async (line) => {
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
});
