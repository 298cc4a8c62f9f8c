import { describe, expect, test } from 'vitest';
import { documentsIn } from '#shared/kube/decode/text-documents.ts';

describe('documentsIn separates as kubectl does', () => {
  const linesAndTexts = (text: string) => [...documentsIn(text)].map((each) => [each.line, each.text.trim()]);

  test.each<[string, readonly (readonly [number, string])[]]>([
    [
      '{"a":1}\n{"b":"}"}{"c":"\\""}',
      [
        [0, '{"a":1}'],
        [1, '{"b":"}"}'],
        [1, '{"c":"\\""}'],
      ],
    ],
    [
      '{"a":1}\n---\n{"b":2}\n---\nc: 3\n',
      [
        [0, '{"a":1}'],
        [2, '{"b":2}'],
        [3, 'c: 3'],
      ],
    ],
    [
      '\n\t{"a":1}\n \t{"b":2}\n\t',
      [
        [1, '{"a":1}'],
        [2, '{"b":2}'],
      ],
    ],
    [
      '{"a":1}\n ---\n{"b":2}',
      [
        [0, '{"a":1}'],
        [0, '---\n{"b":2}'],
      ],
    ],
    [
      '{a: 1}\n---\nb: 2',
      [
        [0, '{a: 1}'],
        [2, 'b: 2'],
      ],
    ],
    [
      '---\na: 1\n--- # next\nb: 2\n---  \r\nc: 3\n',
      [
        [0, '---\na: 1'],
        [3, 'b: 2'],
        [5, 'c: 3'],
      ],
    ],
    [
      'a: x\r\n---\r\nb: y\r\n',
      [
        [0, 'a: x'],
        [2, 'b: y'],
      ],
    ],
    [
      'a: |\n  ---\n---\nb: 1',
      [
        [0, 'a: |\n  ---'],
        [3, 'b: 1'],
      ],
    ],
    ['', [[0, '']]],
  ])('%j', (text, documents) => {
    expect(linesAndTexts(text)).toEqual(documents);
  });

  test('a separator line with more than a comment is refused', () => {
    expect(() => linesAndTexts('a: 1\n--- b\n')).toThrow('line 2: expected only a comment after "---"');
    expect(() => linesAndTexts('a: 1\n----\n')).toThrow('line 2: expected only a comment after "---"');
  });
});
