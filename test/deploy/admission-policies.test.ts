import { readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { expect, test } from 'vitest';
import { policyArtifacts } from '#tools/policies/policy-artifacts.ts';

const ARTIFACTS = policyArtifacts().map(({ path, text }) => [path, text] as const);

test.each(ARTIFACTS)('%s is what its builder gives', async (path, text) => {
  expect(readFileSync(path, 'utf8')).toBe(await format(text, { ...(await resolveConfig(path)), filepath: path }));
});
