import { describe, expect, test } from 'vitest';
import { parseYaml } from '#shared/runtime/yaml-text.ts';

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
    ['!!set {a, b}', { a: null, b: null }],
    ['!!omap [a: 1]', [{ a: 1 }]],
    ['{y: 1, 010: 2, 1.50: 3}', { true: 1, 8: 2, 1.5: 3 }],
    ['{<<: [{a: 1}, {a: 2, b: 3}], a: 4}', { a: 4, b: 3 }],
    ['{a: 1, <<: {a: 2}}', { a: 2 }],
    ['{a: &x {b: 1}, c: *x}', { a: { b: 1 }, c: { b: 1 } }],
    ['{a: 1, a: 2}', { a: 2 }],
    ['\ufeffa: 1', { a: 1 }],
    ['a:\tb', { a: 'b' }],
    ['a: 1\n...\nb: 2', { a: 1 }],
    ['a: {\nb: 1\n}\nc: [\n1, # d ]\n"]\n2"\n]\nd: 2', { a: { b: 1 }, c: [1, '] 2'], d: 2 }],
    ['a:\n  b: {c: x\n y,\n# d\n  e: "f"}', { a: { b: { c: 'x y', e: 'f' } } }],
    [
      'a:\n- - "b\n\nc: {\\\nd\\""\n  - \'e\n\tf\'\'\'\n- |\n  "g\n  {\n- h',
      { a: [['b\nc: {d"', "e f'"], '"g\n{\n', 'h'] },
    ],
    ["a: it's {\nb: {'c\n':\n1}", { a: "it's {", b: { 'c ': 1 } }],
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
    ['a: &x {b: [*x]}', 'anchor x contains itself'],
    ['a: &x [*x]\nb: {<<: *x}', 'anchor x contains itself'],
    ['a: {\nb: 1\nc: 2', 'Flow map in block collection must be sufficiently indented and end with a }'],
    ['a: "b\n...\nc"', 'Missing closing "quote'],
    ['a: {\nb: c: d\n}', 'Flow map in block collection must be sufficiently indented'],
  ])('%s is refused', (text, message) => {
    expect(() => parseYaml(text)).toThrow(message);
  });
});
