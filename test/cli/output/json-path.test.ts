import { describe, expect, test } from 'vitest';
import { compileTemplate } from '#cli/output/json-path.ts';

const LIST = {
  kind: 'List',
  items: [
    { metadata: { name: 'a', labels: { 'example.com/x': '1' } }, state: 'Far', size: 3, ready: true },
    { metadata: { name: 'b' }, state: 'Hard', size: 10, tags: ['x', 'y'] },
    { metadata: { name: 'c' }, state: 'Hard', size: 7 },
  ],
};

function printed(template: string): string {
  const compiled = compileTemplate(template);
  return compiled.ok ? compiled.print(LIST) : `refused: ${compiled.message}`;
}

describe('compileTemplate', () => {
  test.each([
    ['{.kind}', 'List'],
    ['{$.kind}', 'List'],
    ['{.items[*].metadata.name}', 'a b c'],
    ['{.items[0].metadata.name}', 'a'],
    ['{.items[-1].metadata.name}', 'c'],
    ['{.items[9].metadata.name}', ''],
    ['{.items[0:2].size}', '3 10'],
    ['{.items[1:].size}', '10 7'],
    [String.raw`{.items[0].metadata.labels.example\.com/x}`, '1'],
    [`{.items[0].metadata.labels['example.com/x']}`, '1'],
    ['{.items[1].tags}', '["x","y"]'],
    ['{.items[0].metadata.labels}', '{"example.com/x":"1"}'],
    ['{.items[?(@.state=="Hard")].metadata.name}', 'b c'],
    ['{.items[?(@.size > 5)].size}', '10 7'],
    ['{.items[?(@.ready==true)].size}', '3'],
    ['{.items[?(@.tags)].size}', '10'],
    ['{..name}', 'a b c'],
    ['{.items[2].*}', '{"name":"c"} Hard 7'],
    ['{.toString}', ''],
    ['text', 'text'],
    ['{range .items[*]}{.metadata.name}:{"\\t"}{.size}{"\\n"}{end}', 'a:\t3\nb:\t10\nc:\t7\n'],
    [`{range .items[*]}[{range .tags[*]}{@}{','}{end}]{end}`, '[][x,y,][]'],
  ])('%s prints %j', (template, text) => {
    expect(printed(template)).toBe(text);
  });

  test.each([
    ['{.items[}', 'cannot read the path ".items["'],
    ['{range .items[}{end}', 'cannot read the path ".items["'],
    ['{items}', 'cannot read the path "items"'],
    ['{}', 'cannot read the path ""'],
    ['{.kind', 'unexpected {: expected pairs of braces'],
    ['{range .items[*]}{.size}', 'a range has no {end}'],
    ['{end}', '{end} without a range'],
  ])('%s is refused: %s', (template, message) => {
    expect(printed(template)).toBe(`refused: ${message}`);
  });
});
