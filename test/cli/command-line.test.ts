import { expect, test } from 'vitest';
import { readPage } from '#test/docs/pages.ts';
import { shownCommands } from '#test/docs/shown-commands.ts';

const GUIDE = 'docs/guides/command-line.md';

test('the guide shows every command that reads a cluster', () => {
  const commands = shownCommands(GUIDE, readPage(GUIDE));
  const shown = new Set(commands.map(({ command }) => command.split(' ').slice(1, 3).join(' ')));
  const expected = [
    'simulate preempt',
    'simulate pressure',
    'why-not -f',
    'explain pod',
    'explain quota',
    'explain disruption',
    'disruptions -f',
    'top nodes',
    'top pods',
    'top priorities',
    'top quotas',
  ];
  expect(expected.filter((each) => !shown.has(each))).toEqual([]);
});
