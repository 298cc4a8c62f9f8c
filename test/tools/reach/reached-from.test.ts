import { describe, expect, test } from 'vitest';
import { reachedFrom } from '#tools/reach/reached-from.ts';
import { readModule } from '#tools/reach/read-module.ts';

/** What `main.ts` reaches in modules of these texts, by path. */
function reached(texts: Readonly<Record<string, string>>): readonly string[] {
  const code = (file: string) => {
    const text = texts[file];
    return text === undefined ? undefined : readModule(file, text);
  };
  const resolve = (_: string, specifier: string): string | undefined => specifier.replace(/^\.\//, '');
  return [...reachedFrom('main.ts', { code, resolve })].sort();
}

describe('reachedFrom', () => {
  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    [
      'follows calls from declaration to declaration',
      {
        'main.ts': `import { a } from './a.ts'; a();`,
        'a.ts': `import { b, c } from './b.ts'; export function a() { return helper(); } function helper() { return b; } export const d = () => c();`,
        'b.ts': `export const b = 1; export function c() {}`,
      },
      ['a.ts#a', 'a.ts#helper', 'b.ts#b'],
    ],
    [
      'takes no module for reached because it is loaded',
      { 'main.ts': `import { a } from './a.ts'; export function later() { a(); }`, 'a.ts': `export const a = 1;` },
      [],
    ],
    [
      'counts what a loaded module runs by itself',
      {
        'main.ts': `import './a.ts';\nimport { b } from './a.ts'; export type B = typeof b;`,
        'a.ts': `run(); function run() {} export const b = 1;`,
      },
      ['a.ts#run'],
    ],
    [
      'follows a name under which an import is used',
      { 'main.ts': `import { a as b } from './a.ts'; if (true) b();`, 'a.ts': `export function a() {}` },
      ['a.ts#a'],
    ],
    [
      'takes all of a module that is loaded when needed, or under one name',
      {
        'main.ts': `import * as b from './b.ts'; const { a } = await import('./a.ts'); use(); function use() { return [a, b]; }`,
        'a.ts': `export function a() {}`,
        'b.ts': `export const b = 1;`,
      },
      ['a.ts#a', 'b.ts#b', 'main.ts#a', 'main.ts#use'],
    ],
    [
      'leaves types and names of members out',
      {
        'main.ts': `import { type a, b, c } from './a.ts'; import type { d } from './a.ts'; const e = { b: 1 }; console.log(e.c as d, e);`,
        'a.ts': `export const a = 1, b = 2, c = 3, d = 4;`,
      },
      ['main.ts#e'],
    ],
    ['leaves packages alone', { 'main.ts': `import { a } from 'package'; a();` }, []],
  ])('%s', (_, texts, expected) => {
    expect(reached(texts)).toEqual(expected);
  });
});
