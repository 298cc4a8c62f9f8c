import { expect, test } from 'vitest';
import { readPage } from '#test/docs/pages.ts';
import { shownCommands } from '#test/docs/shown-commands.ts';

const GUIDE = 'docs/guides/command-line.md';

test('the guide shows or names every command that reads a cluster', () => {
  const page = readPage(GUIDE);
  const named = Array.from(page.matchAll(/`(plimsoll [^`]+)`/g), ([, command = '']) => command);
  const commands = [...named, ...shownCommands(GUIDE, page).map(({ command }) => command)];
  const shown = new Set(commands.map((command) => command.split(' ').slice(1, 3).join(' ')));
  const expected = [
    'simulate preempt',
    'simulate pressure',
    'why-not -f',
    'explain pod',
    'explain quota',
    'explain disruption',
    'disruptions -A',
    'top nodes',
    'top pods',
    'top priorities',
    'top quotas',
  ];
  expect(expected.filter((each) => !shown.has(each))).toEqual([]);
});
