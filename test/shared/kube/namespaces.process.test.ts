import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { namespaceIn } from '#shared/kube/api-names.ts';

describe('our namespaces', () => {
  test.each([
    ['the usual one where nothing is said', {}, 'plimsoll-system'],
    ['the one that the variable names', { PLIMSOLL_NAMESPACE: 'team-infra' }, 'team-infra'],
    ['not that of another variable', { PLIMSOLL_AGENT_NAMESPACE: 'team-agents' }, 'plimsoll-system'],
  ])('%s', (_, env, expected) => {
    expect(namespaceIn(env, 'PLIMSOLL_NAMESPACE', 'plimsoll-system')).toBe(expected);
  });

  test.each(['', 'Team', '-team', 'team-', 'team.infra', "team']) || true || ('", 'a'.repeat(64), 'team\n'])(
    'are never called %j, which would become part of expressions',
    (name) => {
      const read = () => namespaceIn({ PLIMSOLL_NAMESPACE: name }, 'PLIMSOLL_NAMESPACE', 'plimsoll-system');
      expect(read).toThrow(`cannot use PLIMSOLL_NAMESPACE=${JSON.stringify(name)}: expected the name of a namespace`);
    },
  );
});

describe('a program that cannot use the name of a namespace', { timeout: 60_000 }, () => {
  test.each([
    ['agent', 'PLIMSOLL_NAMESPACE'],
    ['agent', 'PLIMSOLL_AGENT_NAMESPACE'],
    ['webhook', 'PLIMSOLL_NAMESPACE'],
    ['scheduler', 'PLIMSOLL_AGENT_NAMESPACE'],
    ['cli', 'PLIMSOLL_NAMESPACE'],
    ['sandbox', 'PLIMSOLL_NAMESPACE'],
  ])('%s/main.ts with %s says so in one line and exits with 2', (folder, variable) => {
    const env = { PATH: process.env['PATH'], [variable]: 'Team.Infra' };
    const { status, stdout, stderr } = spawnSync(process.execPath, [`${folder}/main.ts`], { env, encoding: 'utf8' });
    expect({ status, stdout, lines: stderr.split('\n') }).toEqual({
      status: 2,
      stdout: '',
      lines: [expect.stringMatching(`^cannot use ${variable}="Team.Infra": expected the name of a namespace: `), ''],
    });
  });
});
