import { describe, expect, test } from 'vitest';
import { fingerprintsOf, staleFiles } from '#tools/generate/fingerprints.ts';

const FILE = { path: 'deploy/install.yaml', text: 'kind: List\n' };

describe('staleFiles', () => {
  const recorded = fingerprintsOf([FILE]);

  test.each<[string, string | undefined, readonly string[]]>([
    ['nothing while all is as it was generated', FILE.text, []],
    ['a file that was changed by hand', `${FILE.text}# mine\n`, [FILE.path]],
    ['a file that is missing', undefined, [FILE.path]],
  ])('names %s', (_, text, stale) => {
    expect(staleFiles(recorded, () => text)).toEqual(stale);
  });

  test('names everything when the manifests have changed since', () => {
    expect(staleFiles({ ...recorded, sources: 'of other manifests' }, () => FILE.text)).toEqual([FILE.path]);
  });
});
