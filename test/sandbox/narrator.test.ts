import { expect, test } from 'vitest';
import { createNarrator, mebibytes } from '#sandbox/narrator.ts';

test('every line of the story begins with the aligned time since the start', () => {
  let now = 5_000;
  const lines: string[] = [];
  const narrator = createNarrator(
    () => now,
    (line) => lines.push(line),
  );
  narrator.say('first');
  now += 12_340;
  narrator.say('second');
  narrator.print('beside it');
  expect(lines).toEqual(['   0.0 s  first\n', '  12.3 s  second\n', 'beside it\n']);
});

test('mebibytes rounds to whole ones', () => {
  expect([mebibytes(0), mebibytes(1024 * 1024 * 1.4), mebibytes(2 ** 30)]).toEqual(['0Mi', '1Mi', '1024Mi']);
});
