import { describe, expect, test } from 'vitest';
import { billOfMaterials } from '#tools/manifests/image/bill-of-materials.ts';

const INTEGRITY = `sha512-${Buffer.from('hash').toString('base64')}`;
const HASHES = [{ alg: 'SHA-512', content: Buffer.from('hash').toString('hex') }];
const LICENSES = [{ expression: 'MIT' }];

function locked(version: string, dev?: boolean) {
  return { version, integrity: INTEGRITY, license: 'MIT', ...(dev !== undefined && { dev }) };
}

describe('billOfMaterials', () => {
  const bill = billOfMaterials(
    {
      packages: {
        '': { version: '0.1.0', license: 'Apache-2.0' },
        'node_modules/@scope/b': locked('1.0.0'),
        'node_modules/a': locked('2.0.0'),
        'node_modules/a/node_modules/@scope/b': locked('3.0.0'),
        'node_modules/c/node_modules/@scope/b': locked('3.0.0'),
        'node_modules/tester': locked('1.0.0', true),
        'node_modules/odd': { version: '1.0.0', integrity: INTEGRITY },
      },
    },
    '24.0.0',
  );

  test('names the product', () => {
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5' });
    expect(bill.metadata.component).toMatchObject({
      'bom-ref': 'plimsoll@0.1.0',
      licenses: [{ expression: 'Apache-2.0' }],
    });
  });

  test('names each package of production once by version, and Node, in order', () => {
    expect(bill.components.map((each) => each['bom-ref'])).toEqual([
      '@scope/b@1.0.0',
      '@scope/b@3.0.0',
      'a@2.0.0',
      'node@24.0.0',
      'odd@1.0.0',
    ]);
  });

  test('says where a package comes from, its hash and its license', () => {
    expect(bill.components[0]).toEqual({
      'bom-ref': '@scope/b@1.0.0',
      type: 'library',
      name: '@scope/b',
      version: '1.0.0',
      purl: 'pkg:npm/%40scope/b@1.0.0',
      hashes: HASHES,
      licenses: LICENSES,
    });
  });

  test('invents no license', () => {
    expect(bill.components.at(-1)?.licenses).toEqual([]);
  });
});
