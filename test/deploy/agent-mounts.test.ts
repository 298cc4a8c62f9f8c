import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { at } from '#test/contract/harness.ts';

const USER = /runAsUser: (\d+)/g;

test('the agent runs as a user that no other process of ours has, nor the images that call it nonroot (T-104)', () => {
  const users = globSync('deploy/{base,components,overlays}/**/*.yaml').flatMap((path) =>
    Array.from(readFileSync(path, 'utf8').matchAll(USER), ([, user]) => [path, Number(user)] as const),
  );
  const own = users.filter(([path]) => path === 'deploy/base/agent/daemonset.yaml').map(([, user]) => user);
  const others = users.filter(([path]) => path !== 'deploy/base/agent/daemonset.yaml').map(([, user]) => user);
  expect([own, others.length > 3, others.includes(own[0] ?? 0)]).toEqual([[61_013], true, false]);
});

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
