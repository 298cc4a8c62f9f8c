import { execFile, execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { describe, expect, inject, test } from 'vitest';
import { folderWith, runPlimsoll } from '#test/cli/run-plimsoll.ts';

const folder = folderWith({
  plimsoll: `#!/bin/sh\nexec '${process.execPath}' '${inject('plimsoll')}' "$@"\n`,
  'snapshot one.json': '',
});
chmodSync(`${folder}/plimsoll`, 0o755);

const CHECK_FLAGS = [
  '--pre-install',
  '--wait',
  '-o',
  '--output',
  '-f',
  '--filename',
  '--sort-by',
  '--no-headers',
  '--kubeconfig',
  '--context',
  '--as',
  '--as-group',
  '--request-timeout',
  '-h',
  '--help',
];

/** Completes in a bash that has read the script, as the key does. */
function inBash(words: readonly string[]): Promise<readonly string[]> {
  const line = ['plimsoll', ...words].map((word) => `'${word}'`).join(' ');
  const script = `source <(plimsoll completion bash)
    COMP_WORDS=(${line}) COMP_CWORD=${words.length}
    _plimsoll
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
  return new Promise((resolve, reject) => {
    execFile('bash', ['-c', script], { env, cwd: folder }, (error, stdout, stderr) => {
      if (error !== null || stderr !== '') reject(new Error(`bash: ${stderr}`, { cause: error }));
      else resolve(stdout.split('\n').filter((word) => word !== ''));
    });
  });
}

describe('plimsoll completion', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['commands', ['s'], ['simulate', 'snapshot']],
    ['commands of a command', ['simulate', ''], ['preempt', 'pressure', 'queue', 'rescheduling', 'spare']],
    ['flags', ['simulate', 'pressure', '--si'], ['--signal']],
    ['values of a flag', ['simulate', 'pressure', '--node', 'x', '-o', 'js'], ['json', 'jsonpath=']],
    ['types of objects', ['explain', 'p'], ['pod']],
    ['nothing for a free value', ['simulate', 'pressure', '--node', ''], []],
    ['files, also with a blank in their name', ['top', 'nodes', '-f', 'snap'], ['snapshot one.json']],
    ['flags of a command with commands', ['simulate', '--h'], ['--help']],
    ['a flag after one without a value', ['snapshot', '--redact', '--con'], ['--context']],
    ['a flag after a value that looks like one', ['top', 'nodes', '--context', '-f', '--file'], ['--filename']],
    ['values of an argument', ['completion', 'z'], ['zsh']],
    ['nothing for a free argument', ['why-not', ''], []],
    ['flags where a command takes no word', ['check', ''], CHECK_FLAGS],
  ])('bash: %s', async (_, words, expected) => {
    expect((await inBash(words)).toSorted()).toEqual(expected.toSorted());
  });

  test('the command that scripts ask is not shown, nor offered', async () => {
    const { stdout } = await runPlimsoll(['--help']);
    expect(stdout).not.toContain('__complete');
    expect(await inBash(['_'])).toEqual([]);
  });

  test.each(['bash', 'zsh', 'fish', 'powershell'])('%s asks the command that exists', async (shell) => {
    const { stdout } = await runPlimsoll(['completion', shell]);
    expect(stdout).toContain('plimsoll __complete -- ');
    const { code, stdout: answer } = await runPlimsoll(['__complete', '--', 'version', '-']);
    expect({ code, answer }).toEqual({ code: 0, answer: '-o\n--output\n-h\n--help\n' });
  });

  // The shell chooses those that begin as the word does.
  test.each<[string, readonly string[], RegExp]>([
    ['commands', ['s'], /^check\n[^]*\nsimulate\n[^]*\n:4\n$/],
    ['values of a flag', ['disruptions', '--cause', ''], /^Preemption\n[^]*\n:4\n$/],
    ['files', ['review', '-f', ''], /^:0\n$/],
  ])('kubectl completes %s of the plugin', async (_, words, expected) => {
    const { stdout: script } = await runPlimsoll(['completion', 'kubectl']);
    const plugins = folderWith({
      'kubectl-plimsoll': `#!/bin/sh\nexec '${process.execPath}' '${inject('plimsoll')}' "$@"\n`,
      'kubectl_complete-plimsoll': script,
    });
    for (const name of ['kubectl-plimsoll', 'kubectl_complete-plimsoll']) chmodSync(`${plugins}/${name}`, 0o755);
    const env = { ...process.env, PATH: `${plugins}:${process.env['PATH']}` };
    const answer = execFileSync(`${plugins}/kubectl_complete-plimsoll`, words, { env, encoding: 'utf8' });
    expect(answer).toMatch(expected);
  });
});
