import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { answerLines } from './answer-lines.ts';
import type { Answering } from './kinds.ts';
import { withoutAnswer } from './read-vectors.ts';

const echo: Answering = {
  answerFields: ['want'],
  answer: (vector) => {
    if (vector === null) throw new Error('there is nothing');
    return { got: vector };
  },
};

/** The answers to input that arrives in these pieces. */
async function answersTo(...pieces: readonly string[]): Promise<readonly string[]> {
  const answers: string[] = [];
  for await (const text of answerLines(Readable.from(pieces), echo)) answers.push(text);
  return answers;
}

describe('answerLines', () => {
  const cases: Readonly<Record<string, { readonly pieces: readonly string[]; readonly answers: readonly string[] }>> = {
    'one line out for one line in': { pieces: ['1\n2\n'], answers: ['{"got":1}\n{"got":2}\n'] },
    'answers are given as soon as their lines are whole': {
      pieces: ['1\n2', '3\n', '4\n'],
      answers: ['{"got":1}\n', '{"got":23}\n', '{"got":4}\n'],
    },
    'a line may come in many pieces': { pieces: ['"a', 'b', 'c"\n'], answers: ['{"got":"abc"}\n'] },
    'the last line needs no end': { pieces: ['1\n2'], answers: ['{"got":1}\n', '{"got":2}\n'] },
    'answers are taken off the case': { pieces: ['{"in":1,"want":2}\n'], answers: ['{"got":{"in":1}}\n'] },
    'a case that makes the code throw fails alone': {
      pieces: ['null\n1\n'],
      answers: ['{"failed":"there is nothing"}\n{"got":1}\n'],
    },
    'no input gives no answers': { pieces: [], answers: [] },
  };

  test.each(Object.entries(cases))('%s', async (_, { pieces, answers }) => {
    expect(await answersTo(...pieces)).toEqual(answers);
  });

  test('what is no JSON fails on its line, an empty line too', async () => {
    const [text = ''] = await answersTo('{"in":\n\n7\n');
    const [broken, empty, whole] = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect([broken, empty]).toEqual([
      { failed: expect.any(String) as string },
      { failed: expect.any(String) as string },
    ]);
    expect(whole).toEqual({ got: 7 });
  });
});

test('answers inside a list are taken away as well', () => {
  const vector = { config: 1, steps: [{ t: 0, want: { evicted: 'a/b' } }, 'odd'] };
  expect(withoutAnswer(vector, ['steps.want'])).toEqual({ config: 1, steps: [{ t: 0 }, 'odd'] });
});
