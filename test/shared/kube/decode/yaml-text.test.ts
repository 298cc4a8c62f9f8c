import { describe, expect, test } from 'vitest';
import { documentsIn } from '#shared/kube/decode/text-documents.ts';
import { parseYaml } from '#shared/kube/decode/yaml-text.ts';

describe('parseYaml reads as kubectl 1.36.3 does', () => {
  test.each<[string, unknown]>([
    ['01750', 1000],
    ['-010', -8],
    ['0o17', 15],
    ['08', 8],
    ['0x_1f', 31],
    ['-0b11', -3],
    ['1_000', 1000],
    ['_1', '_1'],
    ['1e3', 1000],
    ['1.', 1],
    ['+.5', 0.5],
    ['1e400', '1e400'],
    ['1:30', '1:30'],
    ['190:20:30', '190:20:30'],
    ['no', false],
    ['y', true],
    ['On', true],
    ['oN', 'oN'],
    ['"no"', 'no'],
    ['Null', null],
    ['', null],
    ['2026-11-28', '2026-11-28'],
    ['!!str 5', '5'],
    ['!!int "5"', 5],
    ['!!binary aGk=', 'hi'],
    ['!own x', 'x'],
    ['{y: 1, 010: 2, 1.50: 3}', { true: 1, 8: 2, 1.5: 3 }],
    ['{<<: [{a: 1}, {a: 2, b: 3}], a: 4}', { a: 4, b: 3 }],
    ['{a: 1, <<: {a: 2}}', { a: 2 }],
    ['{a: &x {b: 1}, c: *x}', { a: { b: 1 }, c: { b: 1 } }],
    ['{a: 1, a: 2}', { a: 2 }],
    ['\ufeffa: 1', { a: 1 }],
    ['a:\tb', { a: 'b' }],
    ['a: 1\n...\nb: 2', { a: 1 }],
  ])('%s', (text, value) => {
    expect(parseYaml(text)).toEqual(value);
  });

  test.each([
    ['a: .nan', '.nan is not a number in JSON'],
    ['a: -.inf', '-.inf is not a number in JSON'],
    ['~: 1', 'a key must be a text, a number or a boolean'],
    ['[a]: 1', 'a key must be a text, a number or a boolean'],
    ['a:\n\tb: 1', 'Tabs are not allowed as indentation'],
    ['a: *x', 'Unresolved alias'],
  ])('%s is refused', (text, message) => {
    expect(() => parseYaml(text)).toThrow(message);
  });
});

describe('documentsIn separates as kubectl does', () => {
  const linesAndTexts = (text: string) => [...documentsIn(text)].map((each) => [each.line, each.text.trim()]);

  test.each<[string, readonly (readonly [number, string])[]]>([
    [
      '{"a":1}\n{"b":"}"}{"c":"\\""}',
      [
        [0, '{"a":1}'],
        [0, '{"b":"}"}'],
        [1, '{"c":"\\""}'],
        [1, ''],
      ],
    ],
    [
      '{"a":1}\n---\n{"b":2}\n---\nc: 3\n',
      [
        [0, '{"a":1}'],
        [1, '{"b":2}'],
        [3, 'c: 3'],
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
