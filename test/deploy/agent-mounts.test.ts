import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { at } from '#test/contract/harness.ts';

test('each path of the host that the agent mounts is read-only, with the mounts below it', () => {
  const documents = parseAllDocuments(readFileSync('deploy/base/agent/daemonset.yaml', 'utf8')).map(
    (each) => each.toJS() as object,
  );
  const spec = at(documents[0] ?? {}, 'spec.template.spec');
  const mounts = at(spec, 'containers.0.volumeMounts') as readonly object[];
  expect(mounts).toHaveLength(2);
  // Kubernetes 1.30 ignores the field; a runtime that cannot do it mounts as before.
  for (const mount of mounts) expect(mount).toMatchObject({ readOnly: true, recursiveReadOnly: 'IfPossible' });
});
