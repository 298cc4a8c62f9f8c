import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';

const MANIFEST = fileURLToPath(new URL('../../deploy/base/webhook/admission-policies.yaml', import.meta.url));
const HEADING =
  '# From shared/kube/admission/admission-policies.ts; made anew by: npx vitest run --project quick test/deploy -u\n';

test('deploy/base/webhook/admission-policies.yaml is what the builder gives', async () => {
  const texts = rulePolicies().map((object) => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 }));
  const formatted = await format(HEADING + texts.join('---\n'), {
    ...(await resolveConfig(MANIFEST)),
    filepath: MANIFEST,
  });
  await expect(formatted).toMatchFileSnapshot(MANIFEST);
});
