import { describe, expect, test } from 'vitest';
import { compileColumns } from '#cli/output/custom-columns.ts';

const ITEMS = [
  { metadata: { name: 'web-0', labels: { 'app.kubernetes.io/name': 'web' } }, ports: [{ port: 80 }, { port: 443 }] },
  { metadata: { name: 'db' }, size: { cpu: 2 } },
];

function printed(spec: string, headers = true): string {
  const compiled = compileColumns(spec);
  if (!compiled.ok) throw new Error(compiled.message);
  return compiled.print(ITEMS, headers);
}

describe('custom columns', () => {
  test('are those of kubectl: paths with or without dot and braces, lists joined, <none> for what is missing', () => {
    expect(printed('NAME:.metadata.name,PORTS:{.ports[*].port},SIZE:size')).toBe(
      'NAME    PORTS    SIZE\nweb-0   80,443   <none>\ndb      <none>   {"cpu":2}\n',
    );
  });

  test('may have colons and escaped dots in their paths, and no headers', () => {
    expect(printed(String.raw`APP:.metadata.labels.app\.kubernetes\.io/name`, false)).toBe('web\n<none>\n');
  });

  test.each(['', 'NAME', 'NAME:', ':.metadata.name', 'NAME:.metadata.name,', 'NAME:.a[', 'NAME:.a,B'])(
    '"%s" is refused with what is expected',
    (spec) => {
      expect(compileColumns(spec)).toEqual({
        ok: false,
        message: expect.stringContaining(
          'expected HEADER:PATH, separated by commas, such as NAME:.metadata.name',
        ) as string,
      });
    },
  );
});
