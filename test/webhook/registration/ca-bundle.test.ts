import { expect, test } from 'vitest';
import { failureOf, type Outcome } from '#shared/kube/client/outcome.ts';
import { registerCaBundle } from '#webhook/registration/registration.ts';
import { liveReader } from '#webhook/cluster-state/read-own.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';

const WANTED = Buffer.from('ours').toString('base64');

interface Operation {
  readonly op: string;
  readonly value: unknown;
}

/** Both configurations with one entry each; other writers are faster than the first `races` patches of each. */
function cluster(races: number, theirs = '') {
  const state = new Map(
    ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].map((name) => [
      name,
      { version: 1, caBundle: '', left: races },
    ]),
  );
  const { client, requests } = scriptedClient(({ method, path, body }): Outcome<unknown> => {
    const entry = state.get(path.split('/').at(-2) ?? '');
    if (entry === undefined) return failureOf(404, {});
    if (method === 'PATCH') {
      if (entry.left > 0) {
        entry.left -= 1;
        entry.version += 1;
        entry.caBundle = theirs;
      }
      const [guard, change] = body as readonly Operation[];
      if (guard?.value !== String(entry.version)) return failureOf(422, { reason: 'Invalid' });
      entry.caBundle = String(change?.value);
      entry.version += 1;
    }
    const webhooks = [{ name: 'a', clientConfig: { caBundle: entry.caBundle } }];
    const object = { metadata: { name: 'plimsoll', resourceVersion: String(entry.version) }, webhooks };
    return { kind: 'ok', object, warnings: [] };
  });
  const bundles = (): readonly string[] => [...state.values()].map(({ caBundle }) => caBundle);
  return { client, bundles, patches: () => requests.filter(({ method }) => method === 'PATCH').length };
}

test('a replica that was slower than another reads again, and writes', async () => {
  const { client, bundles, patches } = cluster(2);
  await registerCaBundle(client, 'ours', liveReader(client));
  expect([bundles(), patches()]).toEqual([[WANTED, WANTED], 6]);
});

test('a replica that was slower writes nothing where the other has written the same', async () => {
  const { client, bundles, patches } = cluster(1, WANTED);
  await registerCaBundle(client, 'ours', liveReader(client));
  expect([bundles(), patches()]).toEqual([[WANTED, WANTED], 2]);
});

test('it gives up where others are always faster', async () => {
  const { client, patches } = cluster(100);
  await expect(registerCaBundle(client, 'ours', liveReader(client))).rejects.toThrow('cannot register in');
  expect(patches()).toBeGreaterThanOrEqual(4);
  expect(patches()).toBeLessThanOrEqual(8);
});
