import { expect, test } from 'vitest';
import { changelog, type Commit } from '#tools/release/changelog.ts';

function commit(subject: string, body = ''): Commit {
  return { hash: '0123456789abcdef', subject, body };
}

test('lists what users notice, breaking changes first, by scope', () => {
  const commits = [
    commit('feat(webhook): say why'),
    commit('fix(agent): keep the grace period'),
    commit('feat(agent): count'),
    commit('feat(agent): look'),
    commit('perf: half the memory'),
    commit('fix(api)!: refuse an unknown field'),
    commit('feat(cli): another output', 'Text.\n\nBREAKING CHANGE: columns moved'),
    ...['test: more', 'docs(guides): words', 'Merge branch x', 'refactor(agent): move'].map((each) => commit(each)),
  ];
  expect(changelog('1.2.0', '2026-01-02', commits)).toBe(`# 1.2.0 (2026-01-02)

## Breaking changes

- **api**: refuse an unknown field (01234567)
- **cli**: another output (01234567)

## New

- **agent**: count (01234567)
- **agent**: look (01234567)
- **webhook**: say why (01234567)

## Fixed

- **agent**: keep the grace period (01234567)

## Faster or smaller

- half the memory (01234567)
`);
});

test('says so if there is nothing to notice', () => {
  expect(changelog('1.2.1', '2026-01-03', [commit('docs: words')])).toContain('Nothing that users notice.');
});
