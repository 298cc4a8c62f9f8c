import { describe, expect, test } from 'vitest';
import type { BomComponent } from '#tools/manifests/image/bill-of-materials.ts';
import { licenseList } from '#tools/manifests/image/license-list.ts';

function component(name: string, license?: string): BomComponent {
  const reference = `${name}@1.0.0`;
  const licenses = license === undefined ? [] : [{ expression: license }];
  return { 'bom-ref': reference, type: 'library', name, version: '1.0.0', purl: `pkg:npm/${reference}`, licenses };
}

describe('licenseList', () => {
  test('groups the packages by license', () => {
    const list = licenseList([component('a', 'MIT'), component('b', 'ISC'), component('c', 'MIT')]);
    expect(list.slice(list.indexOf('## '))).toBe('## ISC\n\n- b 1.0.0\n\n## MIT\n\n- a 1.0.0\n- c 1.0.0\n');
  });

  test.each<[string, string | undefined, string]>([
    ['without a license', undefined, 'license none'],
    ['under a license that is not accepted', 'AGPL-3.0-only', 'license "AGPL-3.0-only"'],
    ['with a text instead of an identifier', 'SEE LICENSE IN FILE', 'license "SEE LICENSE IN FILE"'],
    ['with a choice', '(MIT OR GPL-2.0)', 'license "(MIT OR GPL-2.0)"'],
  ])('refuses a package %s, and names it', (_, license, found) => {
    expect(() => licenseList([component('odd', license)])).toThrow(`cannot ship odd 1.0.0: ${found}, expected one of`);
  });
});
